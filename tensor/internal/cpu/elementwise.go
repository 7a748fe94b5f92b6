package cpu

import (
	"halfnote/tensor/driver"
)

// elementwise computes dst from src, a chunk at a time. cost is that of an
// element, in about nanoseconds.
func elementwise[T real](b *Backend, cost int, f loop[T], k driver.Kernel, dst driver.View, src []driver.View) {
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
