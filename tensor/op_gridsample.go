package tensor

import (
	"fmt"
	"slices"

	"halfnote/tensor/driver"
)

// gridSampler samples x (n, c, …) at the positions of grid (n, places…, dims). The first
// coordinate is along x's last dimension, which spans -1 to 1.
type gridSampler struct {
	mode, padding string
	corners       bool
}

func (gridSampler) Info() Info {
	return info("grid_sampler", "torch.nn.functional.grid_sample", SavesOperands)
}
func (g gridSampler) Forward(in []*Tensor) *Tensor {
	sameDType("grid_sampler", in)
	return compose(g.f, in)
}
func (g gridSampler) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := derive(g.f, dy, in)
	if out[1] == nil && in[1].RequiresGrad() {
		out[1] = constant(dy, in[1].dtype, 0).expandTo(in[1].shape) // nearest is constant in the grid
	}
	return out
}

func (g gridSampler) f(in []*Tensor) *Tensor {
	x, grid := in[0], in[1]
	sizes := x.shape[2:]
	dims := len(sizes)
	n, places := x.shape[0], grid.shape[1:len(grid.shape)-1]
	grid = grid.Reshape(n, 1, size(places), dims)
	at := make([]*Tensor, dims) // positions along x's dimensions, (n, 1, places)
	for d, s := range sizes {
		at[d] = g.position(grid.Select(-1, dims-1-d), s)
	}
	flat := x.Reshape(n, x.shape[1], size(sizes))
	var y *Tensor
	add := func(corner, weight []*Tensor) {
		v := g.lookup(flat, corner, sizes)
		for _, w := range weight {
			v = v.Mul(w)
		}
		if y != nil {
			v = y.Add(v)
		}
		y = v
	}
	switch g.mode {
	case "nearest":
		for d, s := range sizes {
			if at[d] = g.pad(at[d], s).Round(); g.padding != "zeros" {
				at[d] = at[d].IsNaN().Where(constant(at[d], at[d].dtype, 0), at[d]) // as in torch
			}
		}
		add(at, nil)
	case "bicubic":
		g.cubic(at, sizes, add)
	default:
		for d, s := range sizes {
			at[d] = g.pad(at[d], s)
		}
		linearCorners(at, add)
	}
	return y.Reshape(append([]int{n, x.shape[1]}, places...)...)
}

// position converts t, from -1 to 1, to a position among size elements.
func (g gridSampler) position(t *Tensor, size int) *Tensor {
	if g.corners {
		return t.AddScalar(1).MulScalar(0.5).MulScalar(float64(size - 1))
	}
	return t.AddScalar(1).MulScalar(float64(size)).AddScalar(-1).MulScalar(0.5)
}

// pad moves outside positions to the border or mirrors them, depending on the padding mode.
func (g gridSampler) pad(t *Tensor, size int) *Tensor {
	switch g.padding {
	case "reflection":
		lo, span := -0.5, float64(size)
		if g.corners {
			lo, span = 0, float64(size-1)
		}
		if span == 0 {
			t = t.MulScalar(0)
			break
		}
		t = t.AddScalar(-lo).Abs()
		turns := t.MulScalar(1 / span).Floor().Detach()
		t = t.Sub(turns.MulScalar(span))
		odd := turns.Sub(turns.MulScalar(0.5).Floor().MulScalar(2))
		t = odd.Where(t.Neg().AddScalar(span), t).AddScalar(lo)
	case "zeros":
		return t
	}
	// As in torch, a position on the border has no gradient.
	p := t.Detach()
	zero, last := constant(p, p.dtype, 0), constant(p, p.dtype, float64(size-1))
	inside := pairwise("", driver.Less, zero, p).Mul(pairwise("", driver.Less, p, last))
	return inside.Where(t, p.Maximum(zero).Minimum(last))
}

// lookup returns the elements of x (n, c, l) at whole positions, (n, c, places), and 0
// for positions outside.
func (g gridSampler) lookup(x *Tensor, at []*Tensor, sizes []int) *Tensor {
	var index, inside *Tensor
	for d, s := range sizes {
		p := at[d].Detach()
		last := constant(p, p.dtype, float64(s-1))
		in := p.Maximum(constant(p, p.dtype, 0)).Minimum(last)
		ok := equalMask(in, p)
		i := in.Long().Maximum(constant(p, Int64, 0)) // NaN becomes position 0
		if index == nil {
			index, inside = i, ok
			continue
		}
		index, inside = index.MulScalar(float64(s)).Add(i), inside.Mul(ok)
	}
	shape := []int{x.shape[0], x.shape[1], index.shape[2]}
	v := x.Gather(2, index.expandTo(shape))
	return inside.expandTo(shape).Where(v, constant(v, v.dtype, 0))
}

// linearCorners calls add for the corners around each position. The weights are the products
// of 1 - distance.
func linearCorners(at []*Tensor, add func(corner, weight []*Tensor)) {
	dims := len(at)
	for bits := range 1 << dims {
		corner, weight := make([]*Tensor, dims), make([]*Tensor, dims)
		for d, p := range at {
			below := p.Detach().Floor()
			if bits>>(dims-1-d)&1 == 1 {
				corner[d], weight[d] = below.AddScalar(1), p.Sub(below)
			} else {
				corner[d], weight[d] = below, below.AddScalar(1).Sub(p)
			}
		}
		slices.Reverse(weight) // torch multiplies x's last dimension first
		add(corner, weight)
	}
}

// cubic calls add for the four by four neighbours of each position, each of them padded.
func (g gridSampler) cubic(at []*Tensor, sizes []int, add func(corner, weight []*Tensor)) {
	below, weights := make([]*Tensor, 2), make([][4]*Tensor, 2)
	for d, p := range at {
		below[d] = p.Detach().Floor()
		part := p.Sub(below[d])
		for i := range 4 {
			weights[d][i] = cubicWeight(part.AddScalar(float64(1-i)).Abs(), i == 0 || i == 3)
		}
	}
	for i := range 4 {
		for j := range 4 {
			corner := []*Tensor{
				g.pad(below[0].AddScalar(float64(i-1)), sizes[0]),
				g.pad(below[1].AddScalar(float64(j-1)), sizes[1]),
			}
			add(corner, []*Tensor{weights[1][j], weights[0][i]})
		}
	}
}

// cubicWeight is cubic(-0.75, x) for x from 1 to 2 if outer is set, and for x from 0 to 1
// otherwise.
func cubicWeight(x *Tensor, outer bool) *Tensor {
	const a = -0.75
	if outer {
		return x.AddScalar(-5).Mul(x).AddScalar(8).Mul(x).AddScalar(-4).MulScalar(a)
	}
	return x.MulScalar(a + 2).AddScalar(-a - 3).Mul(x).Mul(x).AddScalar(1)
}

// GridSampleOptions are the options of GridSample.
type GridSampleOptions struct {
	Mode         string // "bilinear", "nearest" or, in two dimensions, "bicubic"; "" is "bilinear"
	PaddingMode  string // "zeros", "border" or "reflection"; "" is "zeros"
	AlignCorners bool   // -1 and 1 are the centres of the corner elements, not their outer edges
}

// GridSample returns t (n, c, h, w) sampled at the positions of grid (n, h', w', 2), (x, y)
// from -1 to 1: (n, c, h', w'). For t (n, c, d, h, w) the grid is (n, d', h', w', 3). It
// interpolates between elements in float32 and rounds once. Both operands have the same dtype.
// It is torch.nn.functional.grid_sample.
func (t *Tensor) GridSample(grid *Tensor, o GridSampleOptions) *Tensor {
	const op = "grid_sampler"
	in := []*Tensor{t, grid}
	given(op, in...)
	dims := len(t.shape) - 2
	if dims != 2 && dims != 3 || len(grid.shape) != len(t.shape) || grid.shape[0] != t.shape[0] || grid.shape[dims+1] != dims {
		fail(op, in, "input and grid do not match; want (n, c, h, w) and (n, …, 2), or (n, c, d, h, w) and (n, …, 3)")
	}
	if slices.Contains(t.shape[2:], 0) {
		fail(op, in, "the input has no elements; want sizes of at least 1")
	}
	g := gridSampler{o.Mode, o.PaddingMode, o.AlignCorners}
	if g.mode == "" {
		g.mode = "bilinear"
	}
	if g.padding == "" {
		g.padding = "zeros"
	}
	if !slices.Contains([]string{"bilinear", "nearest", "bicubic"}, g.mode) || !slices.Contains([]string{"zeros", "border", "reflection"}, g.padding) || g.mode == "bicubic" && dims == 3 {
		panic(named(&Error{Op: op, Why: fmt.Sprintf("mode %q, padding mode %q, %d dimensions; want mode bilinear, nearest or (2 dimensions) bicubic, and padding mode zeros, border or reflection", g.mode, g.padding, dims)}))
	}
	return apply(g, t, grid)
}

// affineGrid applies affine maps to the positions of a tensor's elements.
type affineGrid struct {
	sizes   []int // (n, c, places…)
	corners bool
}

func (affineGrid) Info() Info {
	return info("affine_grid_generator", "torch.nn.functional.affine_grid", SavesOperands)
}
func (a affineGrid) Forward(in []*Tensor) *Tensor              { return compose(a.f, in) }
func (a affineGrid) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(a.f, dy, in) }
func (a affineGrid) f(in []*Tensor) *Tensor {
	places, dims := a.sizes[2:], len(a.sizes)-2
	y := a.positions(in[0]).Reshape(1, size(places), dims+1).MatMul(in[0].Transpose(1, 2))
	return y.Reshape(slices.Concat(a.sizes[:1], places, []int{dims})...)
}

// positions returns (places…, dims+1): for each element its position along each dimension,
// the last dimension first, and 1.
func (a affineGrid) positions(t *Tensor) *Tensor {
	places := a.sizes[2:]
	dims := len(places)
	base := newTensor(t.mem.backend, t.dtype, append(slices.Clone(places), dims+1))
	base.Select(-1, dims).Fill(1)
	for d, n := range places {
		line := hostSlice[float64]("affine_grid", n)
		for j := range line {
			switch {
			case a.corners && n > 1:
				line[j] = -1 + 2*float64(j)/float64(n-1)
			case !a.corners:
				line[j] = (2*float64(j)+1)/float64(n) - 1
			}
		}
		base.Select(-1, dims-1-d).Assign(along(t, t.dtype, line, places, d))
	}
	return base
}

// AffineGrid returns sampling positions for GridSample: (n, h, w, 2) for a tensor of sizes
// (n, c, h, w) and affine maps t (n, 2, 3), or (n, d, h, w, 3) for sizes (n, c, d, h, w) and
// maps (n, 3, 4). It is torch.nn.functional.affine_grid.
func (t *Tensor) AffineGrid(sizes []int, alignCorners bool) *Tensor {
	dims := len(sizes) - 2
	if dims != 2 && dims != 3 || !slices.Equal(t.shape, []int{sizes[0], dims, dims + 1}) {
		fail("affine_grid_generator", []*Tensor{t}, "sizes are %v; want maps (n, 2, 3) and sizes (n, c, h, w), or maps (n, 3, 4) and sizes (n, c, d, h, w)", sizes)
	}
	return apply(affineGrid{checkShape("affine_grid_generator", sizes), alignCorners}, t)
}
