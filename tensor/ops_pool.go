package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// avgPool is the sum of each window divided by its number of elements. Its gradient is
// avgPoolGrad, whose gradient is avgPool.
type avgPool struct {
	dims int
	window
	places  []int
	exclude bool // exclude padding from the count
	divisor int  // divisor instead of the count; 0 for the count
	sizes   []int
}

func (a avgPool) Info() Info {
	return info("avg_pool"+nd(a.dims), "torch.nn.functional.avg_pool"+nd(a.dims), SavesNothing)
}

func (a avgPool) Forward(in []*Tensor) *Tensor {
	w := wide(in[0])
	x := a.pad(w, 0)
	lead := in[0].shape[:len(in[0].shape)-a.dims]
	y := newTensor(x.mem.backend, x.dtype, append(slices.Clone(lead), a.places...))
	a.each(func(_ int, at []int) {
		run(driver.Kernel{Code: driver.Add}, y, y, a.tap(x, at, a.places))
	})
	runBroadcast(driver.Kernel{Code: driver.Div}, y, y, a.counts(y))
	dropTemporaries(in[0], w, x)
	return narrow(y, in[0].dtype)
}

func (a avgPool) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(avgPoolGrad{a}, dy)}
}

// dropTemporaries frees the tensors of list that do not share x's memory.
func dropTemporaries(x *Tensor, list ...*Tensor) {
	for _, t := range list {
		if t.mem != x.mem {
			release(t)
		}
	}
}

// counts returns the divisors of the sums, in y's dtype: (places…), or a scalar if all are
// equal.
func (a avgPool) counts(y *Tensor) *Tensor {
	if a.divisor != 0 {
		return constant(y, y.dtype, float64(a.divisor))
	}
	n := hostSlice[float64]("avg_pool", size(a.places))
	along := make([][]float64, a.dims)
	for d, places := range a.places {
		first, last := 0, a.sizes[d]
		if !a.exclude {
			first, last = -a.lo[d], a.sizes[d]+a.lo[d]
		}
		for p := range places {
			from := p*a.stride[d] - a.lo[d]
			along[d] = append(along[d], float64(min(from+a.kernel[d], last)-max(from, first)))
		}
	}
	for i := range n {
		n[i] = 1
		rest := i
		for d := a.dims - 1; d >= 0; d-- {
			n[i] *= along[d][rest%a.places[d]]
			rest /= a.places[d]
		}
	}
	if len(n) > 0 && slices.Min(n) == slices.Max(n) {
		return constant(y, y.dtype, n[0])
	}
	c := newTensor(y.mem.backend, y.dtype, a.places)
	return c.setFloat64s(n)
}

// avgPoolGrad is the adjoint of avgPool.
type avgPoolGrad struct{ avgPool }

func (a avgPoolGrad) Info() Info {
	return info("avg_pool_backward"+nd(a.dims), "torch.ops.aten.avg_pool"+nd(a.dims)+"_backward", SavesNothing)
}

func (a avgPoolGrad) Forward(in []*Tensor) *Tensor {
	dy := wide(in[0])
	g := elementwise("", driver.Kernel{Code: driver.Div}, dy, a.counts(dy))
	full := slices.Clone(in[0].shape[:len(in[0].shape)-a.dims])
	for d, n := range a.sizes {
		full = append(full, n+a.lo[d]+a.hi[d])
	}
	x := newTensor(g.mem.backend, g.dtype, full)
	a.each(func(_ int, at []int) {
		to := a.tap(x, at, a.places)
		run(driver.Kernel{Code: driver.Add}, to, to, g)
	})
	y := a.unpad(x)
	dropTemporaries(in[0], dy, g)
	dropTemporaries(y, x)
	return narrow(y, in[0].dtype)
}

func (a avgPoolGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(a.avgPool, d)}
}

// adaptiveAvgPool returns the means of equal parts of a tensor's last dimensions, places of
// them; part i of n elements is from ⌊i n/places⌋ to ⌈(i+1) n/places⌉.
type adaptiveAvgPool struct {
	dims          int
	places, sizes []int
}

func (a adaptiveAvgPool) Info() Info {
	return info("adaptive_avg_pool"+nd(a.dims), "torch.nn.functional.adaptive_avg_pool"+nd(a.dims), SavesNothing)
}

func (a adaptiveAvgPool) Forward(in []*Tensor) *Tensor {
	x := in[0]
	y := unsetTensor(x.mem.backend, x.dtype, append(slices.Clone(x.shape[:len(x.shape)-a.dims]), a.places...))
	eachPart(a.places, a.sizes, y, x, func(to, from *Tensor) {
		run(driver.Kernel{Code: driver.Mean}, to, from)
	})
	return y
}

func (a adaptiveAvgPool) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(adaptiveAvgPoolGrad{a}, dy)}
}

// eachPart calls body with each element of y's last dimensions and its part of x.
func eachPart(places, sizes []int, y, x *Tensor, body func(to, from *Tensor)) {
	lead := len(x.shape) - len(places)
	window{kernel: places}.each(func(_ int, at []int) {
		to, from := y, x
		for d, p := range at {
			to = sliced(to, slice{lead + d, p, p + 1})
			n := sizes[d]
			from = sliced(from, slice{lead + d, p * n / places[d], ((p+1)*n + places[d] - 1) / places[d]})
		}
		body(to, from)
	})
}

// adaptiveAvgPoolGrad is the adjoint of adaptiveAvgPool.
type adaptiveAvgPoolGrad struct{ adaptiveAvgPool }

func (a adaptiveAvgPoolGrad) Info() Info {
	return info("adaptive_avg_pool_backward"+nd(a.dims), "torch.ops.aten._adaptive_avg_pool"+nd(a.dims)+"_backward", SavesNothing)
}

func (a adaptiveAvgPoolGrad) Forward(in []*Tensor) *Tensor {
	dy := wide(in[0])
	x := newTensor(dy.mem.backend, dy.dtype, append(slices.Clone(dy.shape[:len(dy.shape)-a.dims]), a.sizes...))
	lead := len(x.shape) - a.dims
	eachPart(a.places, a.sizes, dy, x, func(from, to *Tensor) {
		g := affineOf(from, 1/float64(size(to.shape[lead:])), 0)
		runBroadcast(driver.Kernel{Code: driver.Add}, to, to, g)
		release(g)
	})
	dropTemporaries(in[0], dy)
	return narrow(x, in[0].dtype)
}

func (a adaptiveAvgPoolGrad) VJP(d, _ *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(a.adaptiveAvgPool, d)}
}
