package cpu

import (
	"unsafe"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{offers: offersMove, check: checkPositions, run: runGather}, driver.Gather)
	offer(family{offers: offersMove, check: checkPositions, run: runScatter}, driver.Scatter)
	offer(family{offers: offersScatterInto, check: checkPositions, run: runScatterInto},
		driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin)
}

// offersMove reports whether elements are moved by an index: any dtype.
func offersMove(_ driver.Code, dst driver.DType, in dtypes) bool {
	src := in.slice()
	return len(src) == 2 && src[0] == dst && src[1] == driver.Int64
}

func offersScatterInto(c driver.Code, dst driver.DType, in dtypes) bool {
	return offersMove(c, dst, in) && (dst == dst.Wide() || c == driver.ScatterAdd && (dst == driver.Float16 || dst == driver.BFloat16))
}

func runGather(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.gatherAt(k.Axis, dst, src[0], src[1])
}

func runScatter(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	b.scatterAt(k.Axis, dst, src[0], src[1])
}

func runScatterInto(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	switch dst.DType {
	case driver.Float32:
		scatterAt(b, k.Axis, dst, src[0], src[1], scatterOpOf[float32](k.Code))
	case driver.Float64:
		scatterAt(b, k.Axis, dst, src[0], src[1], scatterOpOf[float64](k.Code))
	case driver.Float16, driver.BFloat16:
		b.scatterAddHalves(k.Axis, dst, src[0], src[1])
	default:
		scatterAt(b, k.Axis, dst, src[0], src[1], scatterOpOf[int64](k.Code))
	}
}

// checkPositions panics unless the shapes match as package driver requires.
func checkPositions(k driver.Kernel, dst driver.View, src []driver.View) {
	x, index := src[0], src[1]
	for i, v := range src {
		if len(v.Shape) != len(dst.Shape) {
			misfit(k, dst, i, v)
		}
	}
	whole, part := x, dst // part has the index's shape; whole is indexed
	if k.Code != driver.Gather {
		whole, part = dst, x
	}
	ok := k.Axis >= 0 && k.Axis < len(dst.Shape)
	for i := range dst.Shape {
		ok = ok && part.Shape[i] == index.Shape[i] && (i == k.Axis || part.Shape[i] <= whole.Shape[i])
	}
	if !ok {
		panic(text.Sprintf("cpu: %v: index has shape %v, which does not fit the result's %v and the operand's %v along axis %d", k.Code, index.Shape, dst.Shape, x.Shape, k.Axis))
	}
}

// gatherAt sets dst to elements of x at the positions in index along axis.
func (b *Backend) gatherAt(axis int, dst, x, index driver.View) {
	switch dst.DType.Size() {
	case 1:
		gatherAt[uint8](b, axis, dst, x, index)
	case 2:
		gatherAt[uint16](b, axis, dst, x, index)
	case 4:
		gatherAt[uint32](b, axis, dst, x, index)
	default:
		gatherAt[uint64](b, axis, dst, x, index)
	}
}

func gatherAt[E any](b *Backend, axis int, dst, x, index driver.View) {
	to, from, positions := elements[E](bufferOf(dst.Buffer)), elements[E](bufferOf(x.Buffer)), elements[int64](bufferOf(index.Buffer))
	step := x.Stride[axis]
	x.Stride = append([]int(nil), x.Stride...)
	x.Stride[axis] = 0
	n := iterOf(dst.Shape, -1, dst, x, index)
	inner := n.inner()
	b.ranges(n.len(), copyItem, func(lo, hi int) {
		if inner[0] == 1 && inner[1] == 1 && inner[2] == 0 && selects.GatherRows != nil && lo < hi {
			n.tiles(lo, hi, func(at viewOffsets, rows, count int) {
				size, next := int(unsafe.Sizeof(to[0])), n.outer()
				if rows > 1 && (next[0] != count || next[1] != 0) {
					for range rows {
						copy(to[at[0]:][:count], from[at[1]+int(positions[at[2]])*step:])
						for v := range at {
							at[v] += next[v]
						}
					}
					return
				}
				selects.GatherRows(unsafe.Pointer(&to[at[0]]), unsafe.Pointer(&from[at[1]]), unsafe.Pointer(&positions[at[2]]), rows, count*size, step*size, 8*next[2])
			})
			return
		}
		n.runs(lo, hi, func(at viewOffsets, count int) {
			d, s, p := at[0], at[1], at[2]
			if inner[2] == 0 { // one position for the whole run
				s += int(positions[p]) * step
				if inner[0] == 1 && inner[1] == 1 {
					copy(to[d:d+count], from[s:])
					return
				}
				for range count {
					to[d] = from[s]
					d, s = d+inner[0], s+inner[1]
				}
				return
			}
			for range count {
				to[d] = from[s+int(positions[p])*step]
				d, s, p = d+inner[0], s+inner[1], p+inner[2]
			}
		})
	})
}

// scatterAt puts the elements of x at the positions in index along axis of dst.
func (b *Backend) scatterAt(axis int, dst, x, index driver.View) {
	switch dst.DType.Size() {
	case 1:
		scatterAt(b, axis, dst, x, index, replace[uint8]())
	case 2:
		scatterAt(b, axis, dst, x, index, replace[uint16]())
	case 4:
		scatterAt(b, axis, dst, x, index, replace[uint32]())
	default:
		scatterAt(b, axis, dst, x, index, replace[uint64]())
	}
}

// scatterOp combines an element with one that is scattered to its position.
type scatterOp[E any] struct {
	pair func(a, x E) E
	join func(dst, x []E) // dst[i] = pair(dst[i], x[i])
}

func replace[E any]() scatterOp[E] {
	return scatterOp[E]{func(_, x E) E { return x }, func(dst, x []E) { copy(dst, x) }}
}

func scatterOpOf[T number](code driver.Code) scatterOp[T] {
	switch code {
	case driver.ScatterMul:
		return scatterOp[T]{func(a, x T) T { return a * x }, func(dst, x []T) { mul(dst, dst, x, nil, 0, 0) }}
	case driver.ScatterMax:
		m := method[T](driver.ReduceMax)
		return scatterOp[T]{m.pair, m.join}
	case driver.ScatterMin:
		m := method[T](driver.ReduceMin)
		return scatterOp[T]{m.pair, m.join}
	}
	m := method[T](driver.Sum)
	return scatterOp[T]{m.pair, m.join}
}

// scatterAt combines elements of dst with those of x. Workers divide the lanes, which are the
// positions on all axes but axis, and process each lane in order, so the result does not depend on
// their number or timing.
func scatterAt[E any](b *Backend, axis int, dst, x, index driver.View, m scatterOp[E]) {
	to, from, positions := elements[E](bufferOf(dst.Buffer)), elements[E](bufferOf(x.Buffer)), elements[int64](bufferOf(index.Buffer))
	step := dst.Stride[axis]
	lanes := iterOf(x.Shape, axis, dst, x, index)
	inner, size := lanes.inner(), 1
	if last := len(lanes.shape) - 1; last >= 0 {
		size = lanes.shape[last]
	}
	width := max(64, (lanes.len()+15)/16)
	rows := max(1, copyItem/width)
	for first := 0; first < x.Shape[axis]; first += rows {
		end := min(first+rows, x.Shape[axis])
		b.ranges(lanes.len(), width, func(lo, hi int) {
			if size < 8 || inner[2] != 0 {
				// Lane by lane: each has its own positions.
				lanes.runs(lo, hi, func(at viewOffsets, count int) {
					for range count {
						s, p := at[1]+first*x.Stride[axis], at[2]+first*index.Stride[axis]
						for range end - first {
							d := at[0] + int(positions[p])*step
							to[d] = m.pair(to[d], from[s])
							s, p = s+x.Stride[axis], p+index.Stride[axis]
						}
						for v := range at {
							at[v] += inner[v]
						}
					}
				})
				return
			}
			if len(lanes.shape) == 1 && inner[0] == 1 && inner[1] == 1 {
				for i := first; i < end; i++ {
					d := lanes.offset[0] + int(positions[lanes.offset[2]+i*index.Stride[axis]])*step
					s := lanes.offset[1] + i*x.Stride[axis]
					m.join(to[d+lo:d+hi], from[s+lo:s+hi])
				}
				return
			}
			for i := first; i < end; i++ {
				lanes.runs(lo, hi, func(at viewOffsets, count int) {
					d := at[0] + int(positions[at[2]+i*index.Stride[axis]])*step
					s := at[1] + i*x.Stride[axis]
					if inner[0] == 1 && inner[1] == 1 {
						m.join(to[d:d+count], from[s:s+count])
						return
					}
					for range count {
						to[d] = m.pair(to[d], from[s])
						d, s = d+inner[0], s+inner[1]
					}
				})
			}
		})
	}
}
