package cpu

import (
	"halfnote/tensor/driver"
)

// pointwise computes dst from src, in what src[0] or, for Where, src[1] is computed
// in.
func (b *Backend) pointwise(k driver.Kernel, dst driver.View, src []driver.View) {
	p := pointwises[k.Code]
	switch src[len(src)-1].DType.Wide() {
	case driver.Float32:
		elementwise(b, p.cost, p.f32, k, dst, src)
	case driver.Float64:
		elementwise(b, p.cost, p.f64, k, dst, src)
	default:
		elementwise(b, p.cost, p.i64, k, dst, src)
	}
}

// elementwise computes dst from src, a chunk at a time. cost is that of an
// element, in about nanoseconds.
func elementwise[T number](b *Backend, cost int, f loop[T], k driver.Kernel, dst driver.View, src []driver.View) {
	alpha, beta := T(k.Alpha), T(k.Beta)
	w := write[T](dst)
	var readers [3]reader[T]
	for i, v := range src {
		readers[i] = read[T](v)
	}
	operands := len(src)
	b.ranges(dst.Len(), max(copyItem/cost, chunk), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				var in [3][]T
				for i := range operands {
					in[i] = readers[i].at(lo, s.in[i][:n])
				}
				out := w.room(lo, s.out[:n])
				f(out, in[0], in[1], in[2], alpha, beta)
				w.put(lo, out)
			}
		})
	})
}
