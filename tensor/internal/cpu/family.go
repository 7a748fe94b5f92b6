package cpu

import (
	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// family computes codes of one kind.
type family struct {
	// offers reports whether the family computes c with these dtypes, of which dst is valid.
	offers func(c driver.Code, dst driver.DType, in dtypes) bool
	// check panics unless the operands fit, as the code's comment in package driver states.
	check func(k driver.Kernel, dst driver.View, src []driver.View)
	run   func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View)
	// update returns the update in place that run computes. It is nil for families that compute
	// something else.
	update func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) update
}

// families holds the family of each code, nil for codes that are not offered. The files of
// families fill it in their init functions.
var families [256]*family

// offer registers a family for codes.
func offer(f family, codes ...driver.Code) {
	for _, c := range codes {
		families[c] = &f
	}
}

// dtypes holds the dtypes of a kernel's operands. It is passed by value, so that launches do not
// allocate.
type dtypes struct {
	list  [maxOperands]driver.DType
	count int
}

// maxOperands is the largest number of operands of a kernel that the CPU offers.
const maxOperands = 7

func (d *dtypes) slice() []driver.DType { return d.list[:d.count] }

// familyOf returns the family that computes c with these dtypes, or nil.
func familyOf(c driver.Code, dst driver.DType, src []driver.DType) *family {
	f := families[c]
	if f == nil || dst.Size() == 0 || len(src) > maxOperands {
		return nil
	}
	in := dtypes{count: len(src)}
	copy(in.list[:], src)
	if !f.offers(c, dst, in) {
		return nil
	}
	return f
}

// familyFor returns the family that computes k. It panics if there is none, or if the views do
// not fit.
func familyFor(k driver.Kernel, dst driver.View, src []driver.View) *family {
	var room [maxOperands]driver.DType
	f := familyOf(k.Code, dst.DType, driver.DTypesOf(room[:0], src))
	if f == nil {
		panic(text.Sprintf("cpu: %v: not offered for %v from %v", k.Code, dst.DType, driver.DTypesOf(nil, src)))
	}
	f.check(k, dst, src)
	return f
}

// computable reports whether all dtypes are valid and none is a storage dtype.
func computable(dst driver.DType, src []driver.DType) bool {
	for _, d := range src {
		if d.Size() == 0 || d.IsStorage() {
			return false
		}
	}
	return !dst.IsStorage()
}

// accepts reports whether a result of dtype dst is computed from elements of dtype src: both are
// equal, or dst is the wider dtype that src is computed in.
func accepts(dst, src driver.DType) bool {
	return src == dst || src.Size() < dst.Size() && dst == src.Wide()
}

// sameShapes checks that all operands have the result's shape.
func sameShapes(k driver.Kernel, dst driver.View, src []driver.View) {
	for i, v := range src {
		fits(k, dst, i, v, false)
	}
}

// reducedShapes checks that all operands have the result's shape, except along axes where the
// result has size 1.
func reducedShapes(k driver.Kernel, dst driver.View, src []driver.View) {
	for i, v := range src {
		fits(k, dst, i, v, true)
	}
}

// fits panics unless operand i, which is v, has dst's shape, except, if reduced, along axes where
// dst has size 1.
func fits(k driver.Kernel, dst driver.View, i int, v driver.View, reduced bool) {
	ok := len(v.Shape) == len(dst.Shape)
	for axis := 0; ok && axis < len(v.Shape); axis++ {
		want := dst.Shape[axis]
		ok = v.Shape[axis] == want || reduced && want == 1
	}
	if !ok {
		misfit(k, dst, i, v)
	}
}

func misfit(k driver.Kernel, dst driver.View, i int, v driver.View) {
	panic(text.Sprintf("cpu: %v: operand %d has shape %v, which does not fit the result's %v", k.Code, i, v.Shape, dst.Shape))
}
