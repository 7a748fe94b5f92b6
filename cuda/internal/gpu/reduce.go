//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	offers := func(c driver.Code, dst driver.DType, src []driver.DType) bool {
		return len(src) == 1 && !src[0].IsStorage() && (src[0] == dst || dst == src[0].Wide() && !dst.IsStorage()) && (c != driver.Mean || dst.IsFloat())
	}
	offer(family{offers, reduce}, driver.Sum, driver.Mean, driver.SumSquares, driver.ReduceMax, driver.ReduceMin, driver.Prod)
}

// reduce sets dst to src reduced along the axes where dst has size 1.
func reduce(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	wide := src[0].DType.Wide()
	r := reduction{module: "reduce", name: src[0].DType.String(), joints: "joints_" + wide.String(), room: wide.Size()}
	if wide != driver.Float32 {
		r.module = "reduce64"
	}
	r.run(b, k.Code, dst, src[0])
}
