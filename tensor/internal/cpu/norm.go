package cpu

import (
	"math"
	"unsafe"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// norms are what normalisations do in assembly on this processor.
var norms = normsOf(asm.Best())

func normsOf(t *asm.Tier) asm.Norms {
	if t == nil {
		return asm.Norms{}
	}
	return t.Norms
}

func norm[T real](b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch k.Code {
	case driver.Moments:
		moments[T](b, dst, src[0], src[1])
	case driver.Normalize:
		normalize[T](b, dst, src)
	case driver.NormalizeGrad:
		normGrad[T](b, dst, src)
	default:
		normSums(b, dst, src, T(k.Alpha))
	}
}

// offersNorm is [Backend.Offers] for the codes of normalisations.
func offersNorm(c driver.Code, dst driver.DType, src []driver.DType) bool {
	if len(src) == 0 || !src[len(src)-1].IsFloat() || !dst.IsFloat() {
		return false
	}
	wide := dst.Wide()
	var given []driver.DType // of the operands that are no statistics, whose wider dtype is theirs
	switch {
	case c == driver.Moments && len(src) == 2:
		given, src = src[:1], []driver.DType{dst, src[1]}
	case c == driver.Normalize && (len(src) == 3 || len(src) == 5):
		given, src = src[:1], src[1:]
		if given[0] != dst {
			return false
		}
	case c == driver.NormalizeGrad && (len(src) == 6 || len(src) == 7):
		given, src = src[:2], src[2:]
		if given[0] != dst {
			return false
		}
	case c == driver.NormalizeSums && (len(src) == 5 || len(src) == 6):
		given = src[1:3]
		src = append([]driver.DType{dst, src[0]}, src[3:]...)
	default:
		return false
	}
	for _, d := range given {
		if d.Size() == 0 || d.Wide() != wide {
			return false
		}
	}
	for _, d := range src {
		if d != wide {
			return false
		}
	}
	return true
}

// factors are operands of a normalisation that repeat: statistics and weights.
type factors[T real] struct {
	nest
	memory [5][]T
}

// factorsOf returns views as factors, walked in the order of axes. A view without a
// buffer stands for value everywhere.
func factorsOf[T real](shape []int, axes []int, value []T, views ...driver.View) factors[T] {
	var f factors[T]
	for i, v := range views {
		f.offset[i] = v.Offset
		if v.Buffer == nil {
			f.memory[i] = value[i : i+1]
		} else {
			f.memory[i] = elements[T](bufferOf(v.Buffer))
		}
	}
	for _, axis := range axes {
		var stride places
		for i, v := range views {
			if v.Buffer != nil {
				stride[i] = v.Stride[axis]
			}
		}
		f.push(shape[axis], stride)
	}
	return f
}

// seqTo returns 0, 1, … n-1.
func seqTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// none is a view of a number that is not given.
var none driver.View

// normalize sets dst to ((x - mean)*scale)*w + b, a chunk of elements at a time, in
// which stretches have the same factors, or rows of them.
func normalize[T real](b *Backend, dst driver.View, src []driver.View) {
	x, w := read[T](src[0]), write[T](dst)
	views := append([]driver.View{none, none}, src[1:3]...) // w and b come first
	if len(src) == 5 {
		views[0], views[1] = src[3], src[4]
	}
	f := factorsOf(dst.Shape, seqTo(len(dst.Shape)), []T{1, T(math.Copysign(0, -1))}, views...)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				in, out := x.at(lo, s.in[0][:n]), w.room(lo, s.out[:n])
				f.normalize(out, in, lo)
				w.put(lo, out)
			}
		})
	})
}

// normalize sets out to in, elements lo and on, normalized with weights, biases, means
// and scales.
func (f *factors[T]) normalize(out, in []T, lo int) {
	_, step := f.nest.inner()
	f.runs(lo, lo+len(in), func(at places, count int) {
		x, y := in[:count], out[:count]
		in, out = in[count:], out[count:]
		w, b, mean, scale := f.memory[0], f.memory[1], f.memory[2], f.memory[3]
		if step[2]|step[3] == 0 && normalizeFast(y, x, w[at[0]:], b[at[1]:], step[0], step[1], mean[at[2]], scale[at[3]]) {
			return
		}
		for i, v := range x {
			z := (v - mean[at[2]+i*step[2]]) * scale[at[3]+i*step[3]]
			y[i] = T(z*w[at[0]+i*step[0]]) + b[at[1]+i*step[1]]
		}
	})
}

func normalizeFast[T real](dst, x, w, b []T, stepW, stepB int, mean, scale T) bool {
	y, ok := any(dst).([]float32)
	if !ok || norms.Normalize == nil || len(x) < fast || stepW != stepB || stepW&^1 != 0 {
		return false
	}
	run := norms.Normalize
	if stepW == 1 {
		run = norms.NormalizeRow
	}
	run(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), unsafe.Pointer(&b[0]), len(x), &[2]float32{float32(mean), float32(scale)})
	return true
}

// normGrad sets dst to ((dy*w - first) - ((x-mean)*scale)*second)*scale.
func normGrad[T real](b *Backend, dst driver.View, src []driver.View) {
	dy, x, to := read[T](src[0]), read[T](src[1]), write[T](dst)
	views := append([]driver.View{none}, src[2:6]...)
	if len(src) == 7 {
		views[0] = src[6]
	}
	f := factorsOf(dst.Shape, seqTo(len(dst.Shape)), []T{1}, views...)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				out := to.room(lo, s.out[:n])
				f.grad(out, dy.at(lo, s.in[0][:n]), x.at(lo, s.in[1][:n]), lo)
				to.put(lo, out)
			}
		})
	})
}

func (f *factors[T]) grad(out, dy, x []T, lo int) {
	_, step := f.nest.inner()
	f.runs(lo, lo+len(out), func(at places, count int) {
		y, g, v := out[:count], dy[:count], x[:count]
		out, dy, x = out[count:], dy[count:], x[count:]
		m := &f.memory
		if step[1]|step[2]|step[3]|step[4] == 0 && gradFast(y, g, v, m[0][at[0]:], step[0], &[4]T{m[1][at[1]], m[2][at[2]], m[3][at[3]], m[4][at[4]]}) {
			return
		}
		for i := range y {
			scale := m[2][at[2]+i*step[2]]
			z := (v[i] - m[1][at[1]+i*step[1]]) * scale
			y[i] = (T(g[i]*m[0][at[0]+i*step[0]]) - m[3][at[3]+i*step[3]] - T(z*m[4][at[4]+i*step[4]])) * scale
		}
	})
}

func gradFast[T real](dst, dy, x, w []T, step int, c *[4]T) bool {
	f, ok := any(c).(*[4]float32)
	if !ok || norms.Grad == nil || len(x) < fast || step&^1 != 0 {
		return false
	}
	run := norms.Grad
	if step == 1 {
		run = norms.GradRow
	}
	run(unsafe.Pointer(&dst[0]), unsafe.Pointer(&dy[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&w[0]), len(x), f)
	return true
}
