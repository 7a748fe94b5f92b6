//go:build cuda && linux && cgo

package gpu

import (
	"fmt"

	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return !dst.IsStorage() && len(src) == 3 && (src[0] == driver.Bool || src[0] == dst) && driver.AllDTypes(src[1:], 2, dst)
		},
		func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
			mask := ^int64(0) // bits that make a condition true
			if c := src[0].DType; c.IsFloat() {
				mask = 1<<(8*c.Size()-1) - 1
			}
			name := fmt.Sprintf("where_%d_%d", 8*dst.DType.Size(), 8*src[0].DType.Size())
			b.choose(kernel{"where", name}, dst, src, func(a argsOf) { a.I64(mask) })
		}}, driver.Where)
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return !dst.IsStorage() && dst.Wide() == driver.Float32 && len(src) == 2 && src[0] == dst && src[1] == driver.Bool
		},
		func(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
			b.choose(kernel{"where", "dropout_" + dst.DType.String()}, dst, []driver.View{src[1], src[0]}, func(a argsOf) { a.F32(float32(k.Alpha)) })
		}}, driver.Dropout)
}

// choose runs a kernel of module where on a condition and operands of dst's dtype; scalar adds
// its parameter.
func (b *Backend) choose(k kernel, dst driver.View, src []driver.View, scalar func(a argsOf)) {
	n := dst.Len()
	if n == 0 {
		return
	}
	views := append([]driver.View{dst}, src...)
	w, per := walkOf(views...), perPack(dst.DType)
	steps, flat := w.flat(func(i int) bool { return int(pointer(views[i]))%(per*views[i].DType.Size()) == 0 })
	if flat {
		a := argsOf{newArgs()}
		a.I64(int64(n))
		scalar(a)
		for _, v := range views {
			a.Ptr(pointer(v))
		}
		for i := range src {
			a.I32(int32(steps[i+1]))
		}
		b.launchItems(k, (n+per-1)/per, a.Args)
		return
	}
	k.name += "_strided"
	w.parts(func(axes *axes, n int, offset []int) {
		a := argsOf{newArgs()}
		a.I32(int32(n))
		scalar(a)
		for i, v := range views {
			v.Offset += offset[i]
			a.Ptr(pointer(v))
		}
		a.Bytes(bytesOf(axes))
		b.launchItems(k, n, a.Args)
	})
}
