//go:build cuda && linux && cgo

package gpu

import (
	"slices"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return !dst.IsStorage() && (driver.AllDTypes(src, 1, dst) || driver.AllDTypes(src, 2, dst))
		}, scan}, driver.Recurrence)
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == driver.Int64 && len(src) == 1 && src[0].Size() > 0 && !src[0].IsStorage()
		}, scan}, driver.CumArgMax, driver.CumArgMin)
}

// lines is Lines of scan.cu.
type lines struct {
	count, n   int64
	along      [3]int64
	side, each uint32
	turned     uint32
	_          uint32
	others     axes
}

// scan scans the lines along an axis.
func scan(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	views := append([]driver.View{dst}, src...)
	if len(src) == 1 {
		views = append(views, src[0]) // stands for the factors, which are not read
	}
	if dst.Len() == 0 {
		return
	}
	var l lines
	l.n = 1
	if len(dst.Shape) > 0 {
		l.n = int64(dst.Shape[k.Axis])
		for i := range views {
			l.along[i] = int64(views[i].Stride[k.Axis])
			views[i] = without(views[i], k.Axis)
		}
	}
	w := walkOf(views...)
	w.parts(func(axes *axes, n int, offset []int) {
		p := l
		p.count, p.others = int64(n), *axes
		if last := axes.rank - 1; abs(int(axes.stride[1][last])) < abs(int(l.along[1])) {
			p.turned = 1
		}
		p.side = uint32(pow2(min(n, 32)))
		const tile = 1024
		for p.side > 1 && tile/int64(p.side) < p.n && n/int(p.side) < b.device.Multiprocessors() {
			p.side /= 2 // longer parts of fewer lines
		}
		p.each = uint32(min(tile/int(p.side), pow2(int(p.n))))
		a := argsOf{newArgs()}
		name := "recurrence_"
		if k.Code != driver.Recurrence {
			name = "leading_"
			a.I32(int32(k.Code))
		}
		for i := range views {
			v := views[i]
			v.Offset += offset[i]
			switch {
			case i <= len(src):
				a.Ptr(pointer(v))
			case k.Code == driver.Recurrence:
				a.Ptr(0)
			}
		}
		a.Bytes(bytesOf(&p))
		b.launch(kernel{"scan", name + src[0].DType.String()}, [3]uint32{(uint32(n) + p.side - 1) / p.side, 1, 1}, [3]uint32{threads, 1, 1}, 0, a.Args)
	})
}

// without returns v at index 0 of an axis.
func without(v driver.View, axis int) driver.View {
	v.Shape = slices.Delete(slices.Clone(v.Shape), axis, axis+1)
	v.Stride = slices.Delete(slices.Clone(v.Stride), axis, axis+1)
	return v
}
