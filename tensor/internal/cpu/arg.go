package cpu

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{offers: offersArg, check: reducedShapes, run: runArg}, driver.ArgMax, driver.ArgMin)
	offer(family{offers: offersArg, check: sameShapes, run: runArg}, driver.ArgSort)
}

// offersArg reports whether positions, as int64, are computed from the dtype of one operand.
func offersArg(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 1 && dst == driver.Int64 && computable(dst, src)
}

func runArg(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch src[0].DType.Wide() {
	case driver.Float32:
		arg[float32](b, k, dst, src[0])
	case driver.Float64:
		arg[float64](b, k, dst, src[0])
	default:
		arg[int64](b, k, dst, src[0])
	}
}

// arg computes positions with elements in src's compute type.
func arg[T number](b *Backend, k driver.Kernel, dst, src driver.View) {
	if k.Code == driver.ArgSort {
		argsort[T](b, k.Axis, driver.ParamsOf[driver.SortParams](k).Descending, dst, src)
	} else {
		extreme[T](b, k.Code == driver.ArgMax, dst, src)
	}
}

// extreme sets dst to the position of the largest or smallest element of src along the axes where dst
// has size 1. It splits the work as reduce does.
func extreme[T number](b *Backend, largest bool, dst, src driver.View) {
	kept, reduced := axes(dst, src)
	outs, count := dst.Len(), 1
	for _, axis := range reduced {
		count *= src.Shape[axis]
	}
	if outs == 0 {
		return
	}
	before := func(x, y T) bool { return x < y || x != x && y == y }
	if largest {
		before = func(x, y T) bool { return x > y || x != x && y == y }
	}
	r := readLayout[T](src, permuted(src, kept, reduced))
	if count <= 2*lanes && outs >= chunk {
		fewExtremes(b, r, largest, before, dst, permuted(src, kept), permuted(src, reduced), count)
		return
	}
	blocks := (count + block - 1) / block
	values, places := make([]T, outs*blocks), make([]int64, outs*blocks)
	b.ranges(len(values), max(1, copyItem/min(block, count)), func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			for i := lo; i < hi; i++ {
				first := i % blocks * block
				x := r.at(i/blocks*count+first, s.in[0][:min(block, count-first)])
				best := firstExtreme(x, largest, before)
				values[i], places[i] = x[best], int64(first+best)
			}
		})
	})
	w := write[int64](dst)
	b.ranges(outs, copyItem, func(lo, hi int) {
		withScratch(func(s *scratch[int64]) {
			for ; lo < hi; lo += chunk {
				out := w.room(lo, s.out[:min(chunk, hi-lo)])
				for i := range out {
					best := (lo + i) * blocks
					for j := best + 1; j < (lo+i+1)*blocks; j++ {
						if before(values[j], values[best]) {
							best = j
						}
					}
					out[i] = places[best]
				}
				w.put(lo, out)
			}
		})
	})
}

// firstExtreme returns the index of the first extreme element of x.
func firstExtreme[T number](x []T, largest bool, before func(x, y T) bool) int {
	run := selects.FirstLeastRow
	if largest {
		run = selects.FirstMostRow
	}
	best, first := 0, 1
	if f, ok := any(x).([]float32); ok && run != nil && len(x) >= 2*lanes {
		var values, turns [lanes]float32
		first = len(x) / lanes * lanes
		run(&values, &turns, unsafe.Pointer(&f[0]), first)
		for l, turn := range turns {
			at := int(turn)*lanes + l
			if v, most := T(values[l]), x[best]; l == 0 || before(v, most) || !before(most, v) && at < best {
				best = at
			}
		}
	}
	for j := first; j < len(x); j++ {
		if before(x[j], x[best]) {
			best = j
		}
	}
	return best
}

// fewExtremes is extreme for few elements per result. For each element of a result, with the layout
// reduced, it loops over many results, with the layout kept.
func fewExtremes[T number](b *Backend, r reader[T], largest bool, before func(x, y T) bool, dst driver.View, kept, reduced layout, count int) {
	run := selects.FirstLeast
	if largest {
		run = selects.FirstMost
	}
	w := write[int64](dst)
	b.ranges(dst.Len(), copyItem/4/count/chunk*chunk+chunk, func(lo, hi int) {
		withScratch(func(s *scratch[T]) {
			withScratch(func(to *scratch[int64]) {
				r := r
				for ; lo < hi; lo += chunk {
					n := min(chunk, hi-lo)
					best, places := s.out[:n], s.in[1][:n]
					clear(places)
					for i := range count {
						r.layout = kept
						r.layout.offset += reduced.index(i) - reduced.offset
						x := r.at(lo, s.in[0][:n])
						if i == 0 {
							copy(best, x)
							continue
						}
						if f, ok := any(x).([]float32); ok && run != nil && n >= fast {
							run(unsafe.Pointer(&best[0]), unsafe.Pointer(&places[0]), unsafe.Pointer(&f[0]), n, float32(i))
							continue
						}
						for j, v := range x {
							if before(v, best[j]) {
								best[j], places[j] = v, T(i)
							}
						}
					}
					out := w.room(lo, to.out[:n])
					for j, p := range places {
						out[j] = int64(p)
					}
					w.put(lo, out)
				}
			})
		})
	})
}

// ranked is an element as a number with the same order, and the element's position.
type ranked struct {
	key   uint64
	place int64
}

func (r ranked) compare(o ranked) int {
	if c := cmp.Compare(r.key, o.key); c != 0 {
		return c
	}
	return cmp.Compare(r.place, o.place)
}

// orderKey returns a number with the same order as x. Zeros are equal, and NaN is above all numbers.
func orderKey[T number](x T) uint64 {
	if _, whole := any(x).(int64); whole {
		return uint64(x) ^ 1<<63
	}
	switch bits := math.Float64bits(float64(x)); {
	case x != x:
		return math.MaxUint64
	case x == 0:
		return 1 << 63
	case x < 0:
		return ^bits
	default:
		return bits | 1<<63
	}
}

// argsort sets dst to the order of src along axis.
func argsort[T number](b *Backend, axis int, descending bool, dst, src driver.View) {
	n := src.Shape[axis]
	if src.Len() == 0 {
		return
	}
	var flip uint64
	if descending {
		flip = math.MaxUint64
	}
	others := make([]int, 0, len(src.Shape))
	for i := range src.Shape {
		if i != axis {
			others = append(others, i)
		}
	}
	from, to := permuted(src, others, []int{axis}), permuted(dst, others, []int{axis})
	r, w := readLayout[T](src, from), writer[int64]{reader: readLayout[int64](dst, to)}
	load := func(row, lo int, list []ranked) {
		withScratch(func(s *scratch[T]) {
			for i := 0; i < len(list); i += chunk {
				for j, v := range r.at(row*n+lo+i, s.in[0][:min(chunk, len(list)-i)]) {
					list[i+j] = ranked{orderKey(v) ^ flip, int64(lo + i + j)}
				}
			}
		})
	}
	store := func(row int, list []ranked) {
		withScratch(func(s *scratch[int64]) {
			for i := 0; i < n; i += chunk {
				out := w.room(row*n+i, s.out[:min(chunk, n-i)])
				for j := range out {
					out[j] = list[i+j].place
				}
				w.put(row*n+i, out)
			}
		})
	}
	const part = 16 * chunk // number of elements that an item sorts
	rows := src.Len() / n
	if n <= part {
		b.ranges(rows, max(1, part/n), func(lo, hi int) {
			list := make([]ranked, n)
			for row := lo; row < hi; row++ {
				load(row, 0, list)
				slices.SortFunc(list, ranked.compare)
				store(row, list)
			}
		})
		return
	}
	list, room := make([]ranked, n), make([]ranked, n)
	for row := range rows {
		b.ranges(n, part, func(lo, hi int) {
			load(row, lo, list[lo:hi])
			slices.SortFunc(list[lo:hi], ranked.compare)
		})
		for width := part; width < n; width *= 2 {
			for lo := 0; lo < n; lo += 2 * width {
				merge(room[lo:min(lo+2*width, n)], list[lo:min(lo+width, n)], list[min(lo+width, n):min(lo+2*width, n)])
			}
			list, room = room, list
		}
		store(row, list)
	}
}

// merge merges two sorted lists into dst.
func merge(dst, x, y []ranked) {
	for i := range dst {
		if i%copyItem == 0 {
			driver.Poll()
		}
		if len(y) == 0 || len(x) > 0 && x[0].compare(y[0]) <= 0 {
			dst[i], x = x[0], x[1:]
		} else {
			dst[i], y = y[0], y[1:]
		}
	}
}
