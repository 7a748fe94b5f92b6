package cpu

import "halfnote/tensor/driver"

// copyItem is the number of elements of an item of copying and filling.
const copyItem = 128 * chunk

// fill sets dst to alpha.
func (b *Backend) fill(dst driver.View, alpha float64) {
	if dst.DType == driver.Float64 {
		fill(b, dst, alpha)
	} else {
		fill(b, dst, float32(alpha))
	}
}

func fill[T real](b *Backend, dst driver.View, alpha T) {
	w := write[T](dst)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				out := w.room(lo, s.out[:min(chunk, hi-lo)])
				for i := range out {
					out[i] = alpha
				}
				w.put(lo, out)
			}
		})
	})
}

// copy sets dst to src, element by element in row-major order, converted.
func (b *Backend) copy(dst, src driver.View) {
	switch from, to := src.DType, dst.DType; {
	case from == to && from.Size() == 2:
		move[uint16](b, dst, src)
	case from == to && from.Size() == 4:
		move[uint32](b, dst, src)
	case from == to:
		move[uint64](b, dst, src)
	case from == driver.Float64:
		convert[float32, float64](b, dst, src)
	case to == driver.Float64:
		convert[float64, float32](b, dst, src)
	default:
		convert[float32, float32](b, dst, src)
	}
}

// move copies bits.
func move[E any](b *Backend, dst, src driver.View) {
	from, to := elements[E](bufferOf(src.Buffer)), elements[E](bufferOf(dst.Buffer))
	fromLayout, toLayout := layoutOf(src), layoutOf(dst)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		if toLayout.dense() {
			gather(to[toLayout.offset+lo:toLayout.offset+hi], from, fromLayout, lo)
			return
		}
		if fromLayout.dense() {
			scatter(to, from[fromLayout.offset+lo:fromLayout.offset+hi], toLayout, lo)
			return
		}
		var room [chunk]E
		for ; lo < hi; lo += chunk {
			part := room[:min(chunk, hi-lo)]
			gather(part, from, fromLayout, lo)
			scatter(to, part, toLayout, lo)
		}
	})
}

// convert copies from a dtype that is read as S to one that is written as D.
func convert[D, S real](b *Backend, dst, src driver.View) {
	r, w := read[S](src), write[D](dst)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		withScratch(func(from *scratch[S]) {
			withScratch(func(to *scratch[D]) {
				for ; lo < hi; lo += chunk {
					n := min(chunk, hi-lo)
					x, out := r.at(lo, from.in[0][:n]), w.room(lo, to.out[:n])
					for i, v := range x {
						out[i] = D(v)
					}
					w.put(lo, out)
				}
			})
		})
	})
}
