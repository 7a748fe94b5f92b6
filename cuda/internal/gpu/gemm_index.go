//go:build cuda && linux && cgo

package gpu

// axis is one axis of an index.
type axis struct{ size, stride int }

// index maps the rows, columns, summed elements or matrices of a view to memory, by axes of which
// the last varies fastest. Axes of size 1 are dropped and adjacent axes merged where possible.
type index []axis

func indexOf(shape, stride []int) index {
	var x index
	for i, size := range shape {
		x = x.and(axis{size, stride[i]})
	}
	return x
}

// and returns x with one more axis, which varies fastest.
func (x index) and(a axis) index {
	if a.size == 1 {
		return x
	}
	if last := len(x) - 1; last >= 0 && x[last].stride == a.size*a.stride {
		return append(x[:last:last], axis{x[last].size * a.size, a.stride})
	}
	return append(x[:len(x):len(x)], a)
}

// join returns the index with x's axes outside and y's axes inside.
func (x index) join(y index) index {
	for _, a := range y {
		x = x.and(a)
	}
	return x
}

// inner returns the axis that varies fastest.
func (x index) inner() axis {
	if len(x) == 0 {
		return axis{1, 0}
	}
	return x[len(x)-1]
}

// run returns the number of adjacent elements, 0 if there are none.
func (x index) run() int {
	if a := x.inner(); a.stride == 1 {
		return a.size
	}
	return 0
}

// repeats reports whether all elements are the same one.
func (x index) repeats() bool { return len(x) == 1 && x[0].stride == 0 }

// multiple reports whether all strides are multiples of n.
func (x index) multiple(n int) bool {
	for _, a := range x {
		if a.stride%n != 0 {
			return false
		}
	}
	return true
}

// packs reports whether elements come in packs of n adjacent ones.
func (x index) packs(n int) bool {
	return x.run() > 0 && x.run()%n == 0 && x[:len(x)-1].multiple(n)
}

// near reports whether all elements are less than 2^31 apart.
func (x index) near() bool {
	far := 0
	for _, a := range x {
		far += (a.size - 1) * max(a.stride, -a.stride)
	}
	return far < 1<<31
}

// maxGemmAxes is the number of axes of a Map.
const maxGemmAxes = 4

// mapping is Map of gemm.cuh.
type mapping struct {
	rank   uint32
	size   [maxGemmAxes]divider
	stride [maxGemmAxes]int64
}

func (x index) mapping() mapping {
	m := mapping{rank: uint32(max(1, len(x)))}
	m.size[0] = dividerOf(1)
	for i, a := range x {
		m.size[i], m.stride[i] = dividerOf(max(1, a.size)), int64(a.stride)
	}
	return m
}
