//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	offers := func(to driver.DType) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == to && all(src, 1, driver.Float32)
		}
	}
	offer(family{offers(driver.Float64), runAdvance}, driver.Advance)
	offer(family{offers(driver.Float32), runUpdateScale}, driver.UpdateScale)
}

func runAdvance(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	n := dst.Len() / 4
	a := argsOf{newArgs()}
	a.Ptr(pointer(dst))
	a.I32(int32(n))
	a.F64(k.Alpha)
	a.F64(k.Beta)
	a.F64(k.More[0])
	a.vector(src[0])
	b.launch(kernel{"guard", "advance"}, [3]uint32{uint32(max(1, (n+threads-1)/threads)), 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
}

func runUpdateScale(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	a := argsOf{newArgs()}
	a.Ptr(pointer(dst))
	a.F64(k.Alpha)
	a.F64(k.Beta)
	for _, x := range k.More[:4] {
		a.F32(float32(x))
	}
	a.vector(src[0])
	b.launch(kernel{"guard", "update_scale"}, [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
}

// vector adds a vector's address, length and stride.
func (a argsOf) vector(v driver.View) {
	a.Ptr(pointer(v))
	a.I32(int32(v.Len()))
	a.I64(int64(v.Stride[0]))
}
