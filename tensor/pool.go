package tensor

import (
	"slices"

	"halfnote/internal/plumbing"
)

// poolOptions are the options of pooling.
type poolOptions = plumbing.PoolOptions

// avgPool is nn's AvgPool1d, AvgPool2d and AvgPool3d.
func (t *Tensor) avgPool(dims int, size []int, o poolOptions) *Tensor {
	op := "avg_pool" + nd(dims)
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

// adaptiveAvgPool is nn's AdaptiveAvgPool1d, AdaptiveAvgPool2d and AdaptiveAvgPool3d.
func (t *Tensor) adaptiveAvgPool(dims int, places []int) *Tensor {
	places, sizes := adaptivePlaces("adaptive_avg_pool"+nd(dims), dims, t, places)
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

// maxPool is nn's MaxPool1d, MaxPool2d and MaxPool3d.
func (t *Tensor) maxPool(dims int, size []int, o poolOptions) *Tensor {
	return apply(maxPool{dims}, t, t.maxPoolIndices(dims, size, o))
}

// maxPoolIndices returns the positions in the plane of the elements that maxPool returns, in
// row-major order, as int64.
func (t *Tensor) maxPoolIndices(dims int, size []int, o poolOptions) *Tensor {
	op := "max_pool" + nd(dims)
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

// adaptiveMaxPool is nn's AdaptiveMaxPool1d, AdaptiveMaxPool2d and AdaptiveMaxPool3d.
func (t *Tensor) adaptiveMaxPool(dims int, places []int) *Tensor {
	places, _ = adaptivePlaces("adaptive_max_pool"+nd(dims), dims, t, places)
	t = offered(Info{Name: "adaptive_max_pool" + nd(dims)}, t)[0]
	return apply(maxPool{dims}, t, apply(maxPoolIndices{dims: dims, places: places}, t))
}

// maxUnpool2d returns zeros (…, height, width) with t's elements at the positions in index,
// which come from maxPoolIndices.
func (t *Tensor) maxUnpool2d(index *Tensor, height, width int) *Tensor {
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
