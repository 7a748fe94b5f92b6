//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	offers := func(to driver.DType) func(driver.Code, driver.DType, []driver.DType) bool {
		return func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == to && driver.AllDTypes(src, 1, driver.Float32)
		}
	}
	offer(family{offers(driver.Float64), runAdvance}, driver.Advance)
	offer(family{offers(driver.Float32), runUpdateScale}, driver.UpdateScale)
}

func runAdvance(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	n, p := dst.Len()/4, driver.ParamsOf[driver.AdvanceParams](k)
	a := argsOf{newArgs()}
	a.Ptr(pointer(dst))
	a.I32(int32(n))
	a.F64(p.Rate)
	a.F64(p.Beta1)
	a.F64(p.Beta2)
	a.vector(src[0])
	b.launch(kernel{"guard", "advance"}, [3]uint32{uint32(max(1, (n+threads-1)/threads)), 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
}

func runUpdateScale(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	a, p := argsOf{newArgs()}, driver.ParamsOf[driver.ScaleParams](k)
	a.Ptr(pointer(dst))
	a.F64(p.Growth)
	a.F64(p.Backoff)
	a.F32(float32(p.Interval))
	a.F32(float32(p.Hysteresis))
	a.F32(p.Min)
	a.F32(p.Max)
	a.vector(src[0])
	b.launch(kernel{"guard", "update_scale"}, [3]uint32{1, 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
}

// vector adds a vector's address, length and stride.
func (a argsOf) vector(v driver.View) {
	a.Ptr(pointer(v))
	a.I32(int32(v.Len()))
	a.I64(int64(v.Stride[0]))
}
