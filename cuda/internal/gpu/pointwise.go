//go:build cuda && linux && cgo

package gpu

import (
	"halfnote/tensor/driver"
)

// pointwise is a family of elementwise codes whose kernels are defined by the macro POINTWISE:
// two per operand dtype, for contiguous and for arbitrary views; the dtype is the suffix of the
// name. If typed is set, the kernels come from the macro TYPED and take the dtypes of operands
// and result as parameters.
type pointwise struct {
	module, name string
	operands     int
	typed        bool
}

func (p pointwise) run(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	n := dst.Len()
	if n == 0 {
		return
	}
	d := src[len(src)-1].DType
	name := p.name
	if !p.typed {
		name += "_" + d.String()
	}
	w := walkOf(append([]driver.View{dst}, src...)...)
	steps, flat := w.flat(func(i int) bool { return pointer(viewAt(dst, src, i))%16 == 0 })
	begin := func() (a argsOf) {
		a = argsOf{newArgs()}
		a.I32(int32(k.Code))
		if p.typed {
			a.I32(int32(d))
			a.I32(int32(dst.DType))
		}
		return a
	}
	if flat {
		a := begin()
		a.I64(int64(n))
		a.scalars(d, k)
		a.views(dst, src, nil)
		for i := 1; i <= 3; i++ {
			a.I32(int32(steps[i]))
		}
		b.launchItems(kernel{p.module, name}, (n+perPack(d)-1)/perPack(d), a.Args)
		return
	}
	w.parts(func(axes *axes, n int, offset []int) {
		a := begin()
		a.I32(int32(n))
		a.scalars(d, k)
		a.views(dst, src, offset)
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{p.module, name + "_strided"}, n, a.Args)
	})
}

// flat reports whether the elements of each view are evenly spaced and packs can be loaded where
// aligned allows it, and returns the steps. The first view is a result.
func (w walk) flat(aligned func(i int) bool) (steps [maxViews]int, ok bool) {
	for i := range w.stride {
		step, ok := w.step(i)
		if !ok || step != 0 && step != 1 || step == 0 && i == 0 || step == 1 && !aligned(i) {
			return steps, false
		}
		steps[i] = step
	}
	return steps, true
}

// perPack returns the number of elements of d in 16 bytes.
func perPack(d driver.DType) int { return 16 / d.Size() }

// viewAt returns dst for i = 0, otherwise operand i-1.
func viewAt(dst driver.View, src []driver.View, i int) driver.View {
	if i == 0 {
		return dst
	}
	return src[i-1]
}
