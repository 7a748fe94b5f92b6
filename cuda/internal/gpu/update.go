//go:build cuda && linux && cgo

package gpu

import (
	"cmp"
	"slices"

	"halfnote/tensor/driver"
)

var updateCodes = []driver.Code{driver.Unscale, driver.SGD, driver.Adam, driver.GuardedSGD, driver.GuardedAdam}

func init() { offer(family{offersUpdate, runUpdate}, updateCodes...) }

func offersUpdate(c driver.Code, dst driver.DType, src []driver.DType) bool {
	if !dst.IsFloat() || dst.IsStorage() {
		return false
	}
	switch c {
	case driver.Unscale:
		return (len(src) == 1 || len(src) == 2) && driver.AllDTypes(src, len(src), driver.Float32)
	case driver.GuardedSGD, driver.GuardedAdam:
		if len(src) == 0 || src[0] != driver.Float64 {
			return false
		}
		src = src[1:]
	}
	if last := len(src) - 1; dst == driver.Float32 && last > 0 && src[last].Size() == 2 {
		src = src[:last]
	}
	if c == driver.Adam || c == driver.GuardedAdam {
		return dst.Size() >= 4 && driver.AllDTypes(src, 3, dst)
	}
	return (len(src) == 1 || len(src) == 2) && driver.AllDTypes(src, len(src), dst)
}

// update holds the properties shared by the tensors that one launch of a kernel of update.cu
// changes.
type update struct {
	kernel driver.Kernel
	dtype  driver.DType
	views  int          // number of views of the tensor's size
	half   driver.DType // dtype of half-precision copies, or Invalid
}

// change is an update of one tensor.
type change struct {
	update
	data   []driver.View // views of the tensor's size, the changed one first
	behind [2]driver.View
}

// changeOf classifies the operands of an update.
func changeOf(k driver.Kernel, dst driver.View, src []driver.View) change {
	c := change{update: update{kernel: k, dtype: dst.DType}}
	switch k.Code {
	case driver.Unscale:
		copy(c.behind[:], src)
		src = nil
	case driver.GuardedSGD, driver.GuardedAdam:
		c.behind[0] = src[0]
		src = src[1:]
	}
	if last := len(src) - 1; last > 0 && src[last].DType != dst.DType {
		c.behind[1], c.half = src[last], src[last].DType
		src = src[:last]
	}
	c.data = append([]driver.View{dst}, src...)
	c.views = len(c.data)
	return c
}

// gapless reports whether all views are contiguous for some common order of axes.
func (c change) gapless() bool {
	views := c.data
	if c.half != driver.Invalid {
		views = append(slices.Clone(views), c.behind[1])
	}
	gaps := func(v driver.View) bool { return !v.Contiguous() }
	if !slices.ContainsFunc(views, gaps) {
		return true
	}
	axes := make([]int, len(views[0].Shape))
	for i := range axes {
		axes[i] = i
	}
	slices.SortStableFunc(axes, func(i, j int) int { return cmp.Compare(views[0].Stride[j], views[0].Stride[i]) })
	return !slices.ContainsFunc(views, func(v driver.View) bool {
		shape, stride := make([]int, len(axes)), make([]int, len(axes))
		for to, from := range axes {
			shape[to], stride[to] = v.Shape[from], v.Stride[from]
		}
		v.Shape, v.Stride = shape, stride
		return gaps(v)
	})
}

// factors are Factors of update.cu.
type factors[T float32 | float64] struct {
	c               [7]T
	nesterov, first uint32
}

func factorsOf[T float32 | float64](k driver.Kernel) (f factors[T]) {
	switch k.Code {
	case driver.SGD, driver.GuardedSGD:
		p := driver.ParamsOf[driver.SGDParams](k)
		f.c = [7]T{T(p.Rate), T(p.Momentum), T(p.Decay), T(1 - p.Dampening)}
		f.nesterov, f.first = truth(p.Nesterov), truth(p.First)
	case driver.Adam, driver.GuardedAdam:
		p := driver.ParamsOf[driver.AdamParams](k)
		f.c = [7]T{T(1 - p.Beta1), T(p.Beta2), T(1 - p.Beta2), T(1 - p.Decay), T(p.Scale), T(p.Rate), T(p.Eps)}
	default:
		f.c[0] = T(k.Alpha)
	}
	return f
}

func truth(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

func (u update) name() string {
	name := ""
	switch u.kernel.Code {
	case driver.Unscale:
		name = "unscale_"
	case driver.Adam, driver.GuardedAdam:
		name = "adam_"
	default:
		name = []string{"sgd_", "momentum_"}[u.views-2]
	}
	return name + u.dtype.String()
}

// args returns the first parameters of a launch.
func (u update) args() argsOf {
	a := argsOf{newArgs()}
	if u.dtype == driver.Float64 {
		f := factorsOf[float64](u.kernel)
		a.Bytes(bytesOf(&f))
	} else {
		f := factorsOf[float32](u.kernel)
		a.Bytes(bytesOf(&f))
	}
	return a
}

// optional adds the pointer of an optional view.
func (a argsOf) optional(v driver.View) {
	if v.Buffer == nil {
		a.Ptr(0)
		return
	}
	a.Ptr(pointer(v))
}

func runUpdate(b *Backend, k driver.Kernel, dst driver.View, src []driver.View) {
	c := changeOf(k, dst, src)
	if c.gapless() {
		t := newTable(c.update)
		b.enter(t, c)
		b.flush(t)
		return
	}
	copied := c.behind[1]
	if c.half != driver.Invalid {
		c.behind[1] = driver.View{}
	}
	walkOf(c.data...).parts(func(axes *axes, n int, offset []int) {
		a := c.args()
		a.I32(int32(n))
		for i := range maxViews {
			v := driver.View{}
			if i < len(c.data) {
				v = c.data[i]
				v.Offset += offset[i]
			}
			a.optional(v)
		}
		for _, v := range c.behind {
			a.optional(v)
		}
		a.Bytes(bytesOf(axes))
		b.launchItems(kernel{"update", c.name() + "_strided"}, n, a.Args)
	})
	if c.half != driver.Invalid {
		b.Run(driver.Kernel{Code: driver.Copy}, copied, dst)
	}
}
