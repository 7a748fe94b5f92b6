package cpu

import "halfnote/tensor/driver"

// viewOffsets holds the offset of an element in each of up to five views.
type viewOffsets [5]int

// multiIter iterates over up to five views of one shape together. [layout] is the same for one
// view.
type multiIter struct {
	offset viewOffsets
	shape  []int // without axes of size 1, adjacent axes merged where possible
	stride []viewOffsets
}

// iterOf returns an iterator over views of one shape, without axis.
func iterOf(shape []int, axis int, views ...driver.View) multiIter {
	var n multiIter
	for v, view := range views {
		n.offset[v] = view.Offset
	}
	for i, size := range shape {
		if i == axis {
			continue
		}
		var stride viewOffsets
		for v, view := range views {
			stride[v] = view.Stride[i]
		}
		n.push(size, stride)
	}
	return n
}

// push adds an innermost axis.
func (n *multiIter) push(size int, stride viewOffsets) {
	if size == 1 {
		return
	}
	if last := len(n.shape) - 1; last >= 0 {
		joined := true
		for v, s := range stride {
			joined = joined && n.stride[last][v] == size*s
		}
		if joined {
			n.shape[last] *= size
			n.stride[last] = stride
			return
		}
	}
	n.shape = append(n.shape, size)
	n.stride = append(n.stride, stride)
}

// len returns the number of elements.
func (n *multiIter) len() int {
	count := 1
	for _, s := range n.shape {
		count *= s
	}
	return count
}

// inner returns the strides of the innermost axis, outer those of the next.
func (n *multiIter) inner() (stride viewOffsets) {
	if last := len(n.stride) - 1; last >= 0 {
		stride = n.stride[last]
	}
	return stride
}

func (n *multiIter) outer() (stride viewOffsets) {
	if last := len(n.stride) - 1; last > 0 {
		stride = n.stride[last-1]
	}
	return stride
}

// tiles calls visit for the elements lo … hi-1 in row-major order, as many rows along the innermost
// axis at a time as possible, with the offset of the first element in each view, the number of rows
// and their length.
func (n *multiIter) tiles(lo, hi int, visit func(at viewOffsets, rows, count int)) {
	last := len(n.shape) - 1
	for lo < hi {
		size, outer := 1, 1
		if last >= 0 {
			size = n.shape[last]
		}
		if last > 0 {
			outer = n.shape[last-1]
		}
		rows, count := 1, min(hi-lo, size-lo%size)
		if count == size {
			rows = min((hi-lo)/size, outer-lo/size%outer)
		}
		visit(n.at(lo), rows, count)
		lo += rows * count
	}
}

// at returns the offset of element i in each view.
func (n *multiIter) at(i int) viewOffsets {
	at := n.offset
	for axis := len(n.shape) - 1; axis >= 0 && i > 0; axis-- {
		k := i % n.shape[axis]
		i /= n.shape[axis]
		for v := range at {
			at[v] += k * n.stride[axis][v]
		}
	}
	return at
}

// runs is tiles row by row.
func (n *multiIter) runs(lo, hi int, visit func(at viewOffsets, count int)) {
	step := n.outer()
	n.tiles(lo, hi, func(at viewOffsets, rows, count int) {
		for range rows {
			visit(at, count)
			for v := range at {
				at[v] += step[v]
			}
		}
	})
}
