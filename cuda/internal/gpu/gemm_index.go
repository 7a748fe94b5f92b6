//go:build cuda && linux && cgo

package gpu

// axis is one of the axes that an index runs along.
type axis struct{ size, stride int }

// index says where the rows of a view lie, its columns, what is summed over or its
// matrices: on axes of which the last runs fastest. Axes of size 1 are left out,
// neighbours joined where they can be.
type index []axis

func indexOf(shape, stride []int) index {
	var x index
	for i, size := range shape {
		x = x.and(axis{size, stride[i]})
	}
	return x
}

// and returns x with an axis more, which runs fastest.
func (x index) and(a axis) index {
	if a.size == 1 {
		return x
	}
	if last := len(x) - 1; last >= 0 && x[last].stride == a.size*a.stride {
		return append(x[:last:last], axis{x[last].size * a.size, a.stride})
	}
	return append(x[:len(x):len(x)], a)
}

// join returns the index whose outer axes are x's and whose inner ones are y's.
func (x index) join(y index) index {
	for _, a := range y {
		x = x.and(a)
	}
	return x
}

// inner returns the axis that runs fastest.
func (x index) inner() axis {
	if len(x) == 0 {
		return axis{1, 0}
	}
	return x[len(x)-1]
}

// run returns how many elements lie side by side, 0 if none do.
func (x index) run() int {
	if a := x.inner(); a.stride == 1 {
		return a.size
	}
	return 0
}

// repeats reports whether all elements are one.
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

// packs reports whether elements come in packs of n that lie side by side.
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

// maxGemmAxes is how many axes a Map has.
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
