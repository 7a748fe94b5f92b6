//go:build cuda && linux && cgo

package gpu

import (
	"math"

	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == driver.Bool && len(src) == 0
		},
		bernoulli,
	}, driver.Bernoulli)
}

func init() {
	offer(family{
		func(_ driver.Code, dst driver.DType, src []driver.DType) bool {
			return dst == driver.Int32 && len(src) == 0
		},
		bernoulli,
	}, driver.BernoulliBits)
}

func bernoulli(b *Backend, k driver.Kernel, dst driver.View, _ []driver.View) {
	n := dst.Len()
	if n == 0 {
		return
	}
	if !dst.Contiguous() || pointer(dst)%4 != 0 {
		panic(text.Sprintf("%s: %v: result has offset %d and strides %v; want a contiguous result at a multiple of 4", b.name, k.Code, dst.Offset, dst.Stride))
	}
	a, p := newArgs(), driver.ParamsOf[driver.BernoulliParams](k)
	a.Ptr(pointer(dst))
	a.I64(int64(n))
	a.I64(int64(math.Ceil(p.P * (1 << 32))))
	a.I32(int32(p.Key[0]))
	a.I32(int32(p.Key[1]))
	if c := b.capture(); c != nil {
		a.Ptr(c.draws())
	} else {
		a.Ptr(0)
	}
	if k.Code == driver.Bernoulli {
		n = (n + 3) / 4 // items per thread
	} else {
		a.I64(int64(p.Row))
		a.I32(int32(dst.Shape[len(dst.Shape)-1]))
	}
	b.launchItems(kernel{"random", k.Code.String()}, n, a)
}
