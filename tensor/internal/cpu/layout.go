package cpu

import "halfnote/tensor/driver"

// layout says where the elements of a view lie, by their index in row-major
// order.
type layout struct {
	offset        int
	n             int   // of elements that lie one after the other, not 0: then there are no axes
	shape, stride []int // axes of size 1 left out, neighbours joined where they can be
}

func layoutOf(v driver.View) layout {
	if v.Contiguous() {
		return layout{offset: v.Offset, n: v.Len()}
	}
	l := layout{offset: v.Offset}
	for i, n := range v.Shape {
		l.push(n, v.Stride[i])
	}
	return l
}

// push adds an axis that runs fastest.
func (l *layout) push(n, stride int) {
	if n == 1 {
		return
	}
	if last := len(l.shape) - 1; last >= 0 && l.stride[last] == n*stride {
		l.shape[last] *= n
		l.stride[last] = stride
		return
	}
	l.shape = append(l.shape, n)
	l.stride = append(l.stride, stride)
}

// len returns the number of elements.
func (l layout) len() int {
	n := max(l.n, 1)
	for _, size := range l.shape {
		n *= size
	}
	return n
}

// dense reports whether the elements lie one after the other.
func (l layout) dense() bool {
	return len(l.shape) == 0 || len(l.shape) == 1 && l.stride[0] == 1
}

// run returns how many elements lie side by side.
func (l layout) run() int {
	if last := len(l.shape) - 1; last >= 0 && l.stride[last] == 1 {
		return l.shape[last]
	}
	return 1
}

// index returns where element i lies.
func (l layout) index(i int) int {
	if l.n > 0 {
		return l.offset + i
	}
	at := l.offset
	for axis := len(l.shape) - 1; axis >= 0; axis-- {
		at += i % l.shape[axis] * l.stride[axis]
		i /= l.shape[axis]
	}
	return at
}

// runs calls visit for the elements lo … lo+n-1, in order, a stretch of constant
// stride at a time: count elements from element pos on (counted from lo) lie at
// at, at+stride, ….
func (l layout) runs(lo, n int, visit func(pos, at, stride, count int)) {
	if n == 0 {
		return
	}
	if len(l.shape) == 0 {
		visit(0, l.index(lo), min(l.n, 1), n)
		return
	}
	last := len(l.shape) - 1
	var room [8]int
	index := room[:0]
	if len(l.shape) > len(room) {
		index = make([]int, 0, len(l.shape))
	}
	index = index[:len(l.shape)]
	at, rest := l.offset, lo
	for i := last; i >= 0; i-- {
		index[i] = rest % l.shape[i]
		rest /= l.shape[i]
		at += index[i] * l.stride[i]
	}
	for pos := 0; pos < n; {
		count := min(n-pos, l.shape[last]-index[last])
		visit(pos, at, l.stride[last], count)
		pos += count
		index[last] += count
		at += count * l.stride[last]
		for i := last; i > 0 && index[i] == l.shape[i]; i-- {
			at += l.stride[i-1] - l.shape[i]*l.stride[i]
			index[i] = 0
			index[i-1]++
		}
	}
}

// gather sets dst to the elements of mem from lo on.
func gather[E any](dst, mem []E, l layout, lo int) {
	l.runs(lo, len(dst), func(pos, at, stride, count int) {
		pick(dst[pos:pos+count], mem, at, stride)
	})
}

// pick sets dst to the elements of mem at at, at+stride, ….
func pick[E any](dst, mem []E, at, stride int) {
	if stride == 1 {
		copy(dst, mem[at:])
		return
	}
	for i := range dst {
		dst[i] = mem[at]
		at += stride
	}
}

// scatter sets the elements of mem from lo on to src.
func scatter[E any](mem, src []E, l layout, lo int) {
	l.runs(lo, len(src), func(pos, at, stride, count int) {
		from := src[pos : pos+count]
		if stride == 1 {
			copy(mem[at:at+count], from)
			return
		}
		for _, x := range from {
			mem[at] = x
			at += stride
		}
	})
}
