package tensor

import (
	"math"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// poolOptions are the options of pooling.
type poolOptions = plumbing.PoolOptions

// AvgPool is nn's AvgPool1d, AvgPool2d and AvgPool3d.
func (functional) AvgPool(t *Tensor, dims int, size []int, o poolOptions) *Tensor {
	op := "avg_pool" + nd(dims)
	defer precisely(op)
	w, places := newPool(op, dims, t, size, o)
	if len(o.Dilation) > 0 || o.Divisor < 0 {
		fail(op, []*Tensor{t}, "Dilation is %v and Divisor is %d; want no Dilation and a positive Divisor", o.Dilation, o.Divisor)
	}
	sizes := slices.Clone(t.shape[len(t.shape)-dims:])
	return apply(avgPool{dims, w, places, o.ExcludePadding, o.Divisor, sizes}, t)
}

// newPool returns a pooling window and its number of places in t.
func newPool(op string, dims int, t *Tensor, size []int, o poolOptions) (w window, places []int) {
	given(op, t)
	if len(t.shape) <= dims {
		fail(op, []*Tensor{t}, "input is %d-dimensional; want %d or %d dimensions", len(t.shape), dims+1, dims+2)
	}
	if len(size) == 0 {
		fail(op, []*Tensor{t}, "the window size is empty; want length 1 or %d", dims)
	}
	w = window{
		kernel:   perDimension(op, "window", size, dims, 1, 1),
		dilation: perDimension(op, "dilation", o.Dilation, dims, 1, 1),
		lo:       perDimension(op, "padding", o.Padding, dims, 0, 0),
	}
	w.stride = w.kernel
	if len(o.Stride) > 0 {
		w.stride = perDimension(op, "stride", o.Stride, dims, 1, 1)
	}
	w.hi = make([]int, dims)
	places = make([]int, dims)
	for i, n := range t.shape[len(t.shape)-dims:] {
		if 2*w.lo[i] > w.reach(i) {
			fail(op, []*Tensor{t}, "padding is %v; want at most half of the window size %v", w.lo, w.kernel)
		}
		room := n + 2*w.lo[i] - w.reach(i)
		if o.CeilMode {
			room += w.stride[i] - 1
		}
		if room < 0 {
			fail(op, []*Tensor{t}, "the window spans %d elements, but the input has only %d with padding; use a smaller window or more padding", w.reach(i), n+2*w.lo[i])
		}
		places[i] = room/w.stride[i] + 1
		if o.CeilMode && (places[i]-1)*w.stride[i] >= n+w.lo[i] {
			places[i]-- // every window begins inside
		}
		w.hi[i] = max(0, (places[i]-1)*w.stride[i]+w.reach(i)-n-w.lo[i])
	}
	return w, places
}

// AdaptiveAvgPool is nn's AdaptiveAvgPool1d, AdaptiveAvgPool2d and AdaptiveAvgPool3d.
func (functional) AdaptiveAvgPool(t *Tensor, dims int, places []int) *Tensor {
	op := "adaptive_avg_pool" + nd(dims)
	defer precisely(op)
	places, sizes := adaptivePlaces(op, dims, t, places)
	return apply(adaptiveAvgPool{dims, places, sizes}, t)
}

func adaptivePlaces(op string, dims int, t *Tensor, list []int) (places, sizes []int) {
	given(op, t)
	if len(t.shape) <= dims {
		fail(op, []*Tensor{t}, "input is %d-dimensional; want %d or %d dimensions", len(t.shape), dims+1, dims+2)
	}
	sizes = slices.Clone(t.shape[len(t.shape)-dims:])
	if slices.Contains(sizes, 0) || len(list) == 0 {
		fail(op, []*Tensor{t}, "input sizes are %v and output sizes %v; want non-zero input sizes and 1 or %d output sizes", sizes, list, dims)
	}
	places = perDimension(op, "output size", list, dims, 0, 0)
	for i, p := range places {
		if p == 0 {
			places[i] = sizes[i]
		}
	}
	return places, sizes
}

// MaxPool is nn's MaxPool1d, MaxPool2d and MaxPool3d.
func (functional) MaxPool(t *Tensor, dims int, size []int, o poolOptions) *Tensor {
	defer precisely("max_pool" + nd(dims))
	return apply(maxPool{dims}, t, functional{}.MaxPoolIndices(t, dims, size, o))
}

// MaxPoolIndices returns the positions in the plane of the elements that MaxPool returns, in
// row-major order, as int64.
func (functional) MaxPoolIndices(t *Tensor, dims int, size []int, o poolOptions) *Tensor {
	op := "max_pool" + nd(dims)
	defer precisely(op)
	if o.ExcludePadding || o.Divisor != 0 {
		fail(op, []*Tensor{t}, "Divisor is %d and ExcludePadding is %v; both apply to average pooling only", o.Divisor, o.ExcludePadding)
	}
	w, places := newPool(op, dims, t, size, o)
	for d, n := range t.shape[len(t.shape)-dims:] {
		for p := range places[d] {
			// The first element of the window that is not padding.
			first := p*w.stride[d] - w.lo[d]
			for first < 0 {
				first += w.dilation[d]
			}
			if first >= n {
				fail(op, []*Tensor{t}, "a window of %v with dilation %v covers only padding in dimension %d of size %d; use less padding or dilation", w.kernel, w.dilation, len(t.shape)-dims+d, n)
			}
		}
	}
	return apply(maxPoolIndices{dims, w, places}, t)
}

// AdaptiveMaxPool is nn's AdaptiveMaxPool1d, AdaptiveMaxPool2d and AdaptiveMaxPool3d.
func (functional) AdaptiveMaxPool(t *Tensor, dims int, places []int) *Tensor {
	op := "adaptive_max_pool" + nd(dims)
	defer precisely(op)
	places, _ = adaptivePlaces(op, dims, t, places)
	t = offered(Info{Name: op}, t)[0]
	return apply(maxPool{dims}, t, apply(maxPoolIndices{dims: dims, places: places}, t))
}

// MaxUnpool returns zeros (…, height, width) with t's elements at the positions in index,
// which come from MaxPoolIndices.
func (functional) MaxUnpool(t, index *Tensor, height, width int) *Tensor {
	t.given("max_unpool2d")
	if len(t.shape) < 3 || !slices.Equal(t.shape, index.shape) || height < 1 || width < 1 {
		fail("max_unpool2d", []*Tensor{t, index}, "cannot unpool to (%d, %d); want an input (…, h, w) and an index of the same shape", height, width)
	}
	t = offered(Info{Name: "max_unpool2d"}, t)[0]
	lead := t.shape[:len(t.shape)-2]
	zeros := constant(t, t.dtype, 0).expandTo(append(slices.Clone(lead), height*width))
	y := zeros.Scatter(-1, index.Flatten(len(lead)), t.Flatten(len(lead)))
	return y.Reshape(append(slices.Clone(lead), height, width)...)
}

// LPPool is nn's LPPool1d, LPPool2d and LPPool3d.
func (functional) LPPool(t *Tensor, dims int, p float64, sizes []int, o poolOptions) *Tensor {
	op := "lp_pool" + nd(dims)
	defer precisely(op)
	switch {
	case p == 0 || p != p:
		fail(op, []*Tensor{t}, "p is %v; want a nonzero number or ±Inf", p)
	case o.Divisor != 0 || o.ExcludePadding || len(o.Dilation) > 0:
		fail(op, []*Tensor{t}, "Divisor is %d, ExcludePadding is %v, Dilation is %v; LP pooling supports none of them", o.Divisor, o.ExcludePadding, o.Dilation)
	case math.IsInf(p, 1):
		return functional{}.MaxPool(t.Abs(), dims, sizes, o)
	case math.IsInf(p, -1):
		return functional{}.MaxPool(t.Abs().Neg(), dims, sizes, o).Neg()
	}
	whole := size(perDimension(op, "window", sizes, dims, 1, 1))
	mean := functional{}.AvgPool(t.Pow(p), dims, sizes, o)
	return mean.Sign().Mul(mean.Abs().ReLU()).MulScalar(float64(whole)).Pow(1 / p)
}

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

// Max pooling is two operations: one finds the positions of the maxima, the other takes the
// elements there.

// maxPoolIndices is the position, in row-major order over the last dims dimensions, of the
// largest element in each window. Of equal elements it is the first, and NaN counts as
// largest.
type maxPoolIndices struct {
	dims   int
	window // window at each place; without a kernel, the parts of adaptive pooling
	places []int
}

func (m maxPoolIndices) Info() Info {
	return info("max_pool"+nd(m.dims)+"_with_indices", "torch.nn.functional.max_pool"+nd(m.dims), NoDerivative)
}
func (maxPoolIndices) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

func (m maxPoolIndices) Forward(in []*Tensor) *Tensor {
	x := in[0]
	lead := len(x.shape) - m.dims
	y := newTensor(x.mem.backend, Int64, append(slices.Clone(x.shape[:lead]), m.places...))
	if y.Numel() == 0 {
		return y
	}
	if m.kernel == nil {
		m.adaptive(compact(x), y)
		return y
	}
	least := math.Inf(-1)
	switch {
	case x.dtype == Bool:
		least = 0
	case !x.dtype.IsFloat():
		least = float64(IInfo(x.dtype).Min)
	}
	padded := m.pad(x, least)
	v := m.view(padded, m.places)
	found := unsetTensor(x.mem.backend, Int64, append(slices.Clone(y.shape), keepDims(m.kernel, seq(m.dims))...))
	run(driver.Kernel{Code: driver.ArgMax}, found, v)
	dropTemporaries(x, padded)
	m.locate(y, shaped(found, y.shape), x.shape[lead:])
	release(found)
	return y
}

// locate sets y to the positions in the plane that correspond to found, the kernel elements
// found at each place. Padding is found only where all other elements are the least number; then the first
// element is the maximum.
func (m maxPoolIndices) locate(y, found *Tensor, sizes []int) {
	lead := len(y.shape) - m.dims
	coordinate := unsetTensor(y.mem.backend, Int64, y.shape)
	zero := constant(y, Int64, 0)
	step := 1
	for d, n := range slices.Backward(sizes) {
		offsets := hostSlice[int]("max_pool", m.taps())
		inner := size(m.kernel[d+1:])
		for k := range offsets {
			offsets[k] = k / inner % m.kernel[d] * m.dilation[d]
		}
		// The table is repeated to found's rank and indexed along the last axis.
		table := along(y, Int64, offsets, append(slices.Repeat([]int{1}, len(y.shape)-1), len(offsets)), len(y.shape)-1)
		run(driver.Kernel{Code: driver.Gather, Axis: len(y.shape) - 1}, coordinate, table.alias(0, append(slices.Clone(y.shape[:len(y.shape)-1]), len(offsets)), table.stride), found)
		starts := hostSlice[int]("max_pool", m.places[d])
		for p := range starts {
			starts[p] = p*m.stride[d] - m.lo[d]
		}
		run(driver.Kernel{Code: driver.Add}, coordinate, coordinate, along(y, Int64, starts, y.shape, lead+d))
		runBroadcast(driver.Kernel{Code: driver.Max}, coordinate, coordinate, zero)
		run(driver.Kernel{Code: driver.Affine, Alpha: float64(step)}, coordinate, coordinate)
		run(driver.Kernel{Code: driver.Add}, y, y, coordinate)
		step *= n
	}
	release(coordinate)
}

// adaptive sets y to the positions of the largest elements of each part of x, one part at a
// time.
func (m maxPoolIndices) adaptive(x, y *Tensor) {
	lead := len(x.shape) - m.dims
	sizes := x.shape[lead:]
	eachPart(m.places, sizes, y, x, func(to, from *Tensor) {
		part := maxPoolIndices{dims: m.dims, places: slices.Repeat([]int{1}, m.dims), window: window{
			kernel: from.shape[lead:], stride: slices.Repeat([]int{1}, m.dims), dilation: slices.Repeat([]int{1}, m.dims), lo: make([]int, m.dims),
		}}
		found := unsetTensor(x.mem.backend, Int64, to.shape)
		run(driver.Kernel{Code: driver.ArgMax}, found, from)
		at := from.offset - x.offset
		for d := range part.lo {
			part.lo[d] = -(at / x.stride[lead+d])
			at %= x.stride[lead+d]
		}
		part.locate(to, found, sizes)
		release(found)
	})
}

// maxPool takes the elements at the given positions from each plane of x.
type maxPool struct{ dims int }

func (m maxPool) Info() Info {
	return info("max_pool"+nd(m.dims), "torch.nn.functional.max_pool"+nd(m.dims), SavesOperands)
}
func (m maxPool) Forward(in []*Tensor) *Tensor {
	x, index := compact(in[0]), compact(in[1])
	y := unsetTensor(x.mem.backend, x.dtype, index.shape)
	flat := func(t *Tensor) *Tensor { return shaped(t, m.flat(t)) }
	run(driver.Kernel{Code: driver.Gather, Axis: len(x.shape) - m.dims}, flat(y), flat(x), flat(index))
	return y
}
func (m maxPool) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	// The positions come from the forward operation and are not checked: a check would
	// wait for the device.
	zeros, index := constant(dy, dy.dtype, 0).expandTo(m.flat(in[0])), m.flat(in[1])
	dx := apply(scatterAdd{len(index) - 1}, zeros, dy.Reshape(index...), in[1].Reshape(index...))
	return []*Tensor{dx.Reshape(in[0].shape...), nil}
}

// flat returns t's shape with the dimensions of a plane joined into one.
func (m maxPool) flat(t *Tensor) []int {
	lead := len(t.shape) - m.dims
	return append(slices.Clone(t.shape[:lead]), size(t.shape[lead:]))
}
