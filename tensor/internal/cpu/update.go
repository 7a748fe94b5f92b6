package cpu

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{offers: offersUnscale, check: checkUnscale, run: runUpdate, update: updateOf}, driver.Unscale)
	offer(family{offers: offersSGD, check: sameShapes, run: runUpdate, update: updateOf}, driver.SGD)
	offer(family{offers: offersAdam, check: sameShapes, run: runUpdate, update: updateOf}, driver.Adam)
}

func offersUnscale(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return dst.IsFloat() && !dst.IsStorage() && driver.AllDTypes(src, 1, driver.Float32)
}

func offersSGD(_ driver.Code, dst driver.DType, in dtypes) bool {
	src, _ := splitCopy(dst, in.slice(), func(d driver.DType) driver.DType { return d })
	return dst.IsFloat() && !dst.IsStorage() && (len(src) == 1 || len(src) == 2) && driver.AllDTypes(src, len(src), dst)
}

func offersAdam(_ driver.Code, dst driver.DType, in dtypes) bool {
	src, _ := splitCopy(dst, in.slice(), func(d driver.DType) driver.DType { return d })
	return dst.IsFloat() && dst.Size() > 2 && driver.AllDTypes(src, 3, dst)
}

// splitCopy returns the operands of a step on a tensor of dtype dst, and apart from them the copy of
// the tensor in half precision, if the last operand is one.
func splitCopy[V any](dst driver.DType, src []V, dtype func(V) driver.DType) (operands, half []V) {
	last := len(src) - 1
	if last > 0 && dst == driver.Float32 && (dtype(src[last]) == driver.Float16 || dtype(src[last]) == driver.BFloat16) {
		return src[:last], src[last:]
	}
	return src, nil
}

// copyWriter returns the function that sets elements lo … of the copy of dst to x, and the operands
// before the copy. Without a copy the function does nothing.
func copyWriter[T real](dst driver.View, src []driver.View) (put func(lo int, x []T), operands []driver.View) {
	operands, half := splitCopy(dst.DType, src, func(v driver.View) driver.DType { return v.DType })
	if half == nil {
		return func(int, []T) {}, operands
	}
	w := write[T](half[0])
	return func(lo int, x []T) { w.put(lo, x) }, operands
}

// checkUnscale checks that the flag has one element.
func checkUnscale(k driver.Kernel, dst driver.View, src []driver.View) {
	if src[0].Len() != 1 {
		misfit(k, dst, 0, src[0])
	}
}

func runUpdate(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.update(updateOf(b, k, dst, src))
}

// update is a kernel that changes tensors in place, element by element.
type update struct {
	n    int
	body func(lo, hi int)
	done func() // called at the end, unless nil
}

// updateItem is the approximate number of elements of a work item of updates.
const updateItem = copyItem / 4

// RunAll runs the kernels that change tensors in place in one pass over all their elements, and the
// others one by one. It implements [driver.Batcher].
func (b *Backend) RunAll(list []driver.Launch) {
	var updates []update
	for _, l := range list {
		f := familyFor(l.Kernel, l.Dst, l.Src)
		if f.update != nil {
			updates = append(updates, f.update(b, l.Kernel, l.Dst, l.Src))
		} else {
			f.run(b, l.Kernel, l.Dst, l.Src)
		}
	}
	b.update(updates...)
	runtime.KeepAlive(list)
}

// update runs updates in items of about one size, across tensors.
func (b *Backend) update(list ...update) {
	type part struct{ update, lo, hi int }
	var parts []part
	var items []int // index of each item's first part
	room := 0
	for i, u := range list {
		for lo := 0; lo < u.n; lo += updateItem {
			if room <= 0 {
				items, room = append(items, len(parts)), updateItem
			}
			hi := min(u.n, lo+updateItem)
			parts = append(parts, part{i, lo, hi})
			room -= hi - lo
		}
	}
	items = append(items, len(parts))
	b.each(len(items)-1, func(i int) {
		for _, p := range parts[items[i]:items[i+1]] {
			list[p.update].body(p.lo, p.hi)
		}
	})
	for _, u := range list {
		if u.done != nil {
			u.done()
		}
	}
}

// updateOf returns the update that a kernel computes.
func updateOf(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) update {
	if dst.DType == driver.Float64 {
		return updateAs[float64](b, k, dst, src)
	}
	return updateAs[float32](b, k, dst, src)
}

func updateAs[T real](b *Backend, k driver.Kernel, dst driver.View, src []driver.View) update {
	switch k.Code {
	case driver.Unscale:
		return unscale(b, dst, src[0], T(k.Alpha))
	case driver.SGD:
		return sgd[T](k, dst, src)
	default:
		return adam[T](k, dst, src)
	}
}

// eachChunk returns a body that calls f for chunks of n elements from lo on.
func eachChunk[T number](f func(s *scratch[T], lo, n int)) func(lo, hi int) {
	return func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				f(s, lo, min(chunk, hi-lo))
			}
		})
	}
}

// unscale multiplies dst by alpha in place and sets found, a float32, to 1 if an
// element was not finite before.
func unscale[T real](b *Backend, dst, found driver.View, alpha T) update {
	r, w := read[T](dst), write[T](dst)
	bad := new(atomic.Bool)
	body := eachChunk(func(s *scratch[T], lo, n int) {
		if alpha == 1 && r.halves != nil && r.layout.dense() && n%2 == 0 && loops.Largest16 != nil {
			if !finiteHalves(r.halves[r.layout.offset+lo:][:n], r.dtype) {
				bad.Store(true)
			}
			return
		}
		x := r.at(lo, s.in[0][:n])
		if !finite(x) {
			bad.Store(true)
		}
		if alpha != 1 {
			out := w.room(lo, s.out[:n])
			affine(out, x, nil, nil, alpha, 0)
			w.put(lo, out)
		}
	})
	return update{dst.Len(), body, func() {
		if bad.Load() {
			fill(b, found, float32(1))
		}
	}}
}

// finiteHalves reports whether all elements of x, an even number of them, are finite.
func finiteHalves(x []uint16, d driver.DType) bool {
	inf := uint32(0x7c00)
	if d == driver.BFloat16 {
		inf = 0x7f80
	}
	return loops.Largest16(unsafe.Pointer(&x[0]), len(x)) < inf
}

// sgd is a step of stochastic gradient descent on dst, in place.
func sgd[T real](k driver.Kernel, dst driver.View, src []driver.View) update {
	p := driver.ParamsOf[driver.SGDParams](k)
	rate, momentum, decay, share := T(p.Rate), T(p.Momentum), T(p.Decay), T(1-p.Dampening)
	putCopy, src := copyWriter[T](dst, src)
	x, g, out := read[T](dst), read[T](src[0]), write[T](dst)
	var v writer[T]
	if len(src) == 2 {
		v = write[T](src[1])
	}
	return update{n: dst.Len(), body: eachChunk(func(s *scratch[T], lo, n int) {
		now, h := x.at(lo, s.in[2][:n]), g.at(lo, s.in[0][:n])
		if decay != 0 {
			to := s.in[0][:n]
			addScaled(to, h, now, nil, decay, 0)
			h = out.rounded(to)
		}
		step := h
		if len(src) == 2 {
			to := v.room(lo, s.out[:n])
			if p.First {
				copy(to, h)
			} else {
				affine(to, v.at(lo, s.in[1][:n]), nil, nil, momentum, 0)
				addScaled(to, v.rounded(to), h, nil, share, 0)
			}
			v.put(lo, to)
			step = v.at(lo, s.in[1][:n])
		}
		if p.Nesterov {
			to := s.in[0][:n]
			addScaled(to, h, step, nil, momentum, 0)
			step = out.rounded(to)
		}
		to := out.room(lo, s.out[:n])
		addScaled(to, now, step, nil, -rate, 0)
		out.put(lo, to)
		putCopy(lo, to)
	})}
}

// rounded rounds x to w's dtype, in place, and returns it.
func (w *writer[T]) rounded(x []T) []T {
	if w.halves != nil {
		var bits [chunk]uint16
		narrow(bits[:len(x)], x, w.dtype)
		widen(x, bits[:len(x)], w.dtype)
	}
	return x
}

// adam is a step of Adam on dst, in place.
func adam[T real](k driver.Kernel, dst driver.View, src []driver.View) update {
	p := driver.ParamsOf[driver.AdamParams](k)
	c := &[7]T{T(1 - p.Beta1), T(p.Beta2), T(1 - p.Beta2), T(1 - p.Decay), T(p.Scale), T(p.Rate), T(p.Eps)}
	putCopy, src := copyWriter[T](dst, src)
	out, g, first, second := write[T](dst), read[T](src[0]), write[T](src[1]), write[T](src[2])
	return update{n: dst.Len(), body: eachChunk(func(s *scratch[T], lo, n int) {
		x, g := out.at(lo, s.out[:n]), g.at(lo, s.in[0][:n])
		m, v := first.at(lo, s.in[1][:n]), second.at(lo, s.in[2][:n])
		adamStep(x, g, m, v, c)
		out.put(lo, x)
		putCopy(lo, x)
		first.put(lo, m)
		second.put(lo, v)
	})}
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
