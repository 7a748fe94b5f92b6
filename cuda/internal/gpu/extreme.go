//go:build cuda && linux && cgo

package gpu

import "halfnote/tensor/driver"

func init() {
	offers := func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
		return dst == driver.Int64 && len(src) == 1 && src[0].Size() > 0 && !src[0].IsStorage()
	}
	offer(family{offers, extreme}, driver.ArgMax, driver.ArgMin)
}

// extreme sets dst to the position of the largest or smallest element of src along the axes where
// dst has size 1.
func extreme(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	wide := src[0].DType.Wide()
	r := reduction{module: "extreme", name: src[0].DType.String(), joints: "joints_" + wide.String(), room: wide.Size() + 8}
	if wide != driver.Float32 {
		r.module, r.most = "extreme64", 2
	}
	r.run(b, k.Code, dst, src[0])
}
