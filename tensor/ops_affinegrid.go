package tensor

import "slices"

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
