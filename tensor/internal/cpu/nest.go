package cpu

import "halfnote/tensor/driver"

// places are where an element lies in each of up to five views.
type places [5]int

// nest is views of one shape that are walked together.
type nest struct {
	offset places
	shape  []int // axes of size 1 left out, neighbours joined where they can be
	stride []places
}

// nestOf returns views as a nest of their common shape, without axis.
func nestOf(shape []int, axis int, views ...driver.View) nest {
	var n nest
	for v, view := range views {
		n.offset[v] = view.Offset
	}
	for i, size := range shape {
		if i == axis {
			continue
		}
		var stride places
		for v, view := range views {
			stride[v] = view.Stride[i]
		}
		n.push(size, stride)
	}
	return n
}

// push adds an axis that runs fastest.
func (n *nest) push(size int, stride places) {
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
func (n *nest) len() int {
	count := 1
	for _, s := range n.shape {
		count *= s
	}
	return count
}

// inner returns the strides of the axis that runs fastest, outer those of the next.
func (n *nest) inner() (stride places) {
	if last := len(n.stride) - 1; last >= 0 {
		stride = n.stride[last]
	}
	return stride
}

func (n *nest) outer() (stride places) {
	if last := len(n.stride) - 1; last > 0 {
		stride = n.stride[last-1]
	}
	return stride
}

// tiles calls visit for the elements lo … hi-1 in row-major order, as many rows along the
// fastest axis at a time as there are: where the first element lies in each view, the
// number of rows, and their length.
func (n *nest) tiles(lo, hi int, visit func(at places, rows, count int)) {
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

// at returns where element i lies in each view.
func (n *nest) at(i int) places {
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
func (n *nest) runs(lo, hi int, visit func(at places, count int)) {
	step := n.outer()
	n.tiles(lo, hi, func(at places, rows, count int) {
		for range rows {
			visit(at, count)
			for v := range at {
				at[v] += step[v]
			}
		}
	})
}
