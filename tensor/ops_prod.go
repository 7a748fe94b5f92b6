package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type prod struct {
	over
	given bool // dtype chosen by the caller, so neither autocast nor Forward chooses it
}

func (p prod) Info() Info { return info("prod", "torch.prod", SavesOperands).given(p.given) }
func (p prod) Forward(in []*Tensor) *Tensor {
	if in[0].dtype != Float32 {
		return p.total(driver.Prod, in[0], p.given)
	}
	x := convert(in[0], Float64)
	y := reduce(driver.Prod, x, p.dims, Float64)
	release(x)
	return p.finish(narrow(y, Float32))
}

// VJP multiplies the products before and after each element, which is correct for zeros.
func (p prod) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x := in[0]
	return widely(dy, x, func(dy, x *Tensor) *Tensor {
		order := make([]int, 0, len(x.shape))
		for i := range x.shape {
			if !slices.Contains(p.dims, i) {
				order = append(order, i)
			}
		}
		order = append(order, p.dims...)
		moved := x.Permute(order...)
		rows := moved.Reshape(p.rows(x), p.count(x))
		rest := running{1, false}.others(rows).Mul(running{1, true}.others(rows))
		return p.spread(dy, x).Mul(rest.Reshape(moved.shape...).Permute(undone(order)...))
	})
}

// rows returns the number of results.
func (o over) rows(x *Tensor) int {
	n := 1
	for i, s := range x.shape {
		if !slices.Contains(o.dims, i) {
			n *= s
		}
	}
	return n
}

// Prod returns the product over dims, which are removed, or over all dimensions if none is
// given. It multiplies halves in float32 and float32 in float64, and rounds once. Integers and
// bool give int64. It is torch.prod.
func (t *Tensor) Prod(dims ...int) *Tensor {
	return apply(prod{over: overDims("prod", t, dims)}, t)
}

// ProdAs returns the Prod of t, computed and returned in dtype d, also under autocast. Integers
// wrap around. It is torch.prod with dtype.
func (t *Tensor) ProdAs(d DType, dims ...int) *Tensor {
	return apply(prod{overDims("prod", t, dims), true}, t.To(d))
}
