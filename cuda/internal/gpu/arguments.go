//go:build cuda && linux && cgo

package gpu

import (
	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// argsOf adds parameters shared by kernels of several families.
type argsOf struct{ *drv.Args }

// scalars adds Scalars of pointwise.cuh.
func (a argsOf) scalars(d driver.DType, k driver.Kernel) {
	if d.Wide() == driver.Float32 {
		a.Bytes(bytesOf(&[2]float32{float32(k.Alpha), float32(k.Beta)}))
	} else if d.IsFloat() {
		a.Bytes(bytesOf(&[2]float64{k.Alpha, k.Beta}))
	} else {
		a.Bytes(bytesOf(&[2]int64{int64(k.Alpha), int64(k.Beta)}))
	}
}

// views adds the pointers of dst and three operands, offset by offset elements if that is not
// nil. Missing operands are added as nil.
func (a argsOf) views(dst driver.View, src []driver.View, offset []int) {
	for i := range maxViews {
		if i > len(src) {
			a.Ptr(0)
			continue
		}
		v := viewAt(dst, src, i)
		if offset != nil {
			v.Offset += offset[i]
		}
		a.Ptr(pointer(v))
	}
}
