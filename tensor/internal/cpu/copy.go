package cpu

import (
	"math"

	"halfnote/tensor/driver"
)

// copyItem is the number of elements of a work item of copies and fills.
const copyItem = 128 * chunk

func init() {
	offer(family{offers: offersFill, check: sameShapes, run: runFill}, driver.Fill)
	offer(family{offers: offersCopy, check: sameShapes, run: runCopy}, driver.Copy)
}

func offersFill(_ driver.Code, _ driver.DType, in dtypes) bool {
	return in.count == 0
}

func offersCopy(_ driver.Code, _ driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 1 && src[0].Size() > 0
}

func runFill(b *Backend, k driver.Kernel, dst driver.View, _ []driver.View) { b.fill(dst, k.Alpha) }

func runCopy(b *Backend, _ driver.Kernel, dst driver.View, src []driver.View) { b.copy(dst, src[0]) }

// fill sets dst to alpha.
func (b *Backend) fill(dst driver.View, alpha float64) {
	switch dst.DType.Wide() {
	case driver.Float64:
		fill(b, dst, alpha)
	case driver.Float32:
		fill(b, dst, float32(alpha))
	default:
		if dst.DType == driver.Bool {
			alpha = truth[float64](alpha != 0)
		}
		fill(b, dst, whole(alpha))
	}
}

func fill[T number](b *Backend, dst driver.View, alpha T) {
	w := write[T](dst)
	w.chooseStreaming(dst, nil)
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		defer w.fence()
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
	from, to := src.DType, dst.DType
	if from == to {
		switch from.Size() {
		case 1:
			move[uint8](b, dst, src)
		case 2:
			move[uint16](b, dst, src)
		case 4:
			move[uint32](b, dst, src)
		default:
			move[uint64](b, dst, src)
		}
		return
	}
	switch wide := to.Wide(); from.Wide() {
	case driver.Float32:
		switch {
		case to == driver.Bool || wide == driver.Float32:
			restate[float32](b, dst, src)
		case wide == driver.Float64:
			convert(b, dst, src, func(x float32) float64 { return float64(x) })
		default:
			convert(b, dst, src, func(x float32) int64 { return whole(float64(x)) })
		}
	case driver.Float64:
		switch {
		case to == driver.Bool:
			restate[float64](b, dst, src)
		case wide == driver.Float32:
			convert(b, dst, src, func(x float64) float32 { return float32(x) })
		default:
			convert(b, dst, src, whole)
		}
	default:
		switch wide {
		case driver.Float32:
			convert(b, dst, src, func(x int64) float32 { return float32(x) })
		case driver.Float64:
			convert(b, dst, src, func(x int64) float64 { return float64(x) })
		default:
			restate[int64](b, dst, src)
		}
	}
}

// whole returns x without its fraction. For NaN and values outside int64 it returns the least int64,
// as amd64 does, on every processor.
func whole(x float64) int64 {
	if x >= -0x1p63 && x < 0x1p63 {
		return int64(x)
	}
	return math.MinInt64
}

// move copies elements without changing their bits.
func move[E any](b *Backend, dst, src driver.View) {
	from, to := elements[E](bufferOf(src.Buffer)), elements[E](bufferOf(dst.Buffer))
	fromLayout, toLayout := layoutOf(src), layoutOf(dst)
	if n := dst.Len(); toLayout.dense() && fromLayout.transposed(src.DType.Size()) && n > 0 {
		copyTransposed(b, to[toLayout.offset:][:n], from, fromLayout)
		return
	}
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

// restate copies elements between dtypes that are computed in T.
func restate[T number](b *Backend, dst, src driver.View) {
	r, w := read[T](src), write[T](dst)
	w.chooseStreaming(dst, []driver.View{src})
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		defer w.fence()
		withScratch(func(s *scratch[T]) {
			for ; lo < hi; lo += chunk {
				n := min(chunk, hi-lo)
				if w.asIs() {
					out := w.room(lo, s.out[:n])
					copy(out, r.at(lo, out))
					w.put(lo, out)
				} else {
					w.put(lo, r.at(lo, s.in[0][:n]))
				}
			}
		})
	})
}

// convert reads elements as S and writes f of them as D.
func convert[D, S number](b *Backend, dst, src driver.View, f func(S) D) {
	r, w := read[S](src), write[D](dst)
	w.chooseStreaming(dst, []driver.View{src})
	b.ranges(dst.Len(), copyItem, func(lo, hi int) {
		defer w.fence()
		withScratch(func(from *scratch[S]) {
			withScratch(func(to *scratch[D]) {
				for ; lo < hi; lo += chunk {
					n := min(chunk, hi-lo)
					x, out := r.at(lo, from.in[0][:n]), w.room(lo, to.out[:n])
					for i, v := range x {
						out[i] = f(v)
					}
					w.put(lo, out)
				}
			})
		})
	})
}
