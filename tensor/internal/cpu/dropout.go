package cpu

import (
	"unsafe"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{offers: offersDropout, check: sameShapes, run: runDropout}, driver.Dropout)
}

func offersDropout(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 2 && computable(dst, src) && dst.Wide() == driver.Float32 && src[0] == dst && src[1] == driver.Bool
}

func runDropout(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.dropout(dst, src[0], src[1], float32(k.Alpha))
}

// dropout sets dst to alpha*x where mask is true, else to 0*x.
func (b *Backend) dropout(dst, x, mask driver.View, alpha float32) {
	r, w := read[float32](x), write[float32](dst)
	keep, l := elements[uint8](bufferOf(mask.Buffer)), layoutOf(mask)
	w.chooseStreaming(dst, []driver.View{x})
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		defer w.fence()
		withScratch(func(s *scratch[float32]) {
			var bits [chunk]uint8
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				m := bits[:n]
				if l.dense() && len(l.shape) > 0 {
					m = keep[l.offset+lo:][:n]
				} else {
					gather(m, keep, l, lo)
				}
				out := w.room(lo, s.out[:n])
				dropped(out, r.at(lo, s.in[0][:n]), m, alpha)
				w.put(lo, out)
			}
		})
	})
}

func dropped(dst, x []float32, mask []uint8, alpha float32) {
	n := 0
	if passes.dropped != nil {
		if n = len(x) &^ 7; n > 0 {
			passes.dropped(unsafe.Pointer(&dst[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&mask[0]), n, alpha, 0)
		}
	}
	for i := n; i < len(x); i++ {
		scale := float32(0)
		if mask[i] != 0 {
			scale = alpha
		}
		dst[i] = scale * x[i]
	}
}
