package cpu

import (
	"math"
	"sync/atomic"
	"unsafe"

	"halfnote/tensor/driver"
)

// unscale multiplies dst by alpha in place and sets found, a float32, to 1 if an
// element was not finite before.
func unscale[T real](b *Backend, dst, found driver.View, alpha T) {
	r, w := read[T](dst), write[T](dst)
	var bad atomic.Bool
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				x := r.at(lo, s.in[0][:n])
				if !finite(x) {
					bad.Store(true)
				}
				if alpha != 1 {
					out := w.room(lo, s.out[:n])
					affine(out, x, nil, nil, alpha, 0)
					w.put(lo, out)
				}
			}
		})
	})
	if bad.Load() {
		fill(b, found, float32(1))
	}
}

// sgd is a step of stochastic gradient descent on dst, in place.
func (b *Backend) sgd(k driver.Kernel, dst driver.View, src []driver.View) {
	if dst.DType == driver.Float64 {
		sgd(b, dst, src, k.Alpha, k.Beta)
	} else {
		sgd(b, dst, src, float32(k.Alpha), float32(k.Beta))
	}
}

func sgd[T real](b *Backend, dst driver.View, src []driver.View, rate, momentum T) {
	x, g, out := read[T](dst), read[T](src[0]), write[T](dst)
	var v writer[T]
	if len(src) == 2 {
		v = write[T](src[1])
	}
	b.ranges(dst.Len(), copyItem/4, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				step := g.at(lo, s.in[0][:n])
				if len(src) == 2 {
					step = velocity(&v, lo, step, momentum, s)
				}
				to := out.room(lo, s.out[:n])
				addScaled(to, x.at(lo, s.in[2][:n]), step, nil, -rate, 0)
				out.put(lo, to)
			}
		})
	})
}

// velocity sets the elements of v from lo on to momentum*v + g and returns them,
// as rounded to v's dtype. It uses s.in[1] and s.out.
func velocity[T real](v *writer[T], lo int, g []T, momentum T, s *scratch[T]) []T {
	n := len(g)
	old := v.at(lo, s.in[1][:n])
	to := v.room(lo, s.out[:n])
	affine(to, old, nil, nil, momentum, 0)
	if v.halves != nil { // the product is rounded too
		v.put(lo, to)
		old = v.at(lo, s.in[1][:n])
	} else {
		old = to
	}
	add(to, old, g, nil, 0, 0)
	v.put(lo, to)
	return v.at(lo, s.in[1][:n])
}

// adam is a step of Adam on dst, in place.
func adam[T real](b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	c := &[7]T{T(k.More[0]), T(k.More[1]), T(k.More[2]), T(k.More[3]), T(k.More[4]), T(k.Alpha), T(k.Beta)}
	out, g, first, second := write[T](dst), read[T](src[0]), write[T](src[1]), write[T](src[2])
	b.ranges(dst.Len(), copyItem/4, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				x, g := out.at(lo, s.out[:n]), g.at(lo, s.in[0][:n])
				m, v := first.at(lo, s.in[1][:n]), second.at(lo, s.in[2][:n])
				adamStep(x, g, m, v, c)
				out.put(lo, x)
				first.put(lo, m)
				second.put(lo, v)
			}
		})
	})
}

// adamStep is adam for a chunk of elements, with the scalars of [asm.Loops]. Conversions
// keep products and sums from being fused.
func adamStep[T real](x, g, m, v []T, c *[7]T) {
	if f, ok := any(c).(*[7]float32); ok && loops.Adam != nil && len(g) >= fast {
		loops.Adam(unsafe.Pointer(&x[0]), unsafe.Pointer(&g[0]), unsafe.Pointer(&m[0]), unsafe.Pointer(&v[0]), len(g), f)
		return
	}
	share1, keep2, share2, decay, scale, rate, eps := c[0], c[1], c[2], c[3], c[4], c[5], c[6]
	for i, g := range g {
		mean := m[i] + T(share1*(g-m[i]))
		square := T(keep2*v[i]) + T(share2*T(g*g))
		divisor := T(scale*T(math.Sqrt(float64(square)))) + eps
		x[i] = T(decay*x[i]) - T(rate*(mean/divisor))
		m[i], v[i] = mean, square
	}
}
