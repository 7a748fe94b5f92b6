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

// inner returns the length and the strides of the axis that runs fastest.
func (n *nest) inner() (size int, stride places) {
	last := len(n.shape) - 1
	if last < 0 {
		return 1, stride
	}
	return n.shape[last], n.stride[last]
}

// runs calls visit for the elements lo … hi-1 in row-major order, a stretch along
// the fastest axis at a time: where its first element lies in each view, and its
// length.
func (n *nest) runs(lo, hi int, visit func(at places, count int)) {
	if lo >= hi {
		return
	}
	if len(n.shape) == 0 {
		visit(n.offset, 1)
		return
	}
	last := len(n.shape) - 1
	index := make([]int, len(n.shape))
	at, rest := n.offset, lo
	for i := last; i >= 0; i-- {
		index[i] = rest % n.shape[i]
		rest /= n.shape[i]
		n.move(&at, i, index[i])
	}
	for lo < hi {
		count := min(hi-lo, n.shape[last]-index[last])
		visit(at, count)
		lo += count
		index[last] += count
		n.move(&at, last, count)
		for i := last; i > 0 && index[i] == n.shape[i]; i-- {
			n.move(&at, i, -n.shape[i])
			n.move(&at, i-1, 1)
			index[i] = 0
			index[i-1]++
		}
	}
}

// move goes steps along an axis.
func (n *nest) move(at *places, axis, steps int) {
	for v := range at {
		at[v] += steps * n.stride[axis][v]
	}
}
