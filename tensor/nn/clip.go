package nn

import (
	"cmp"
	"fmt"
	"math"

	"halfnote/tensor"
)

// ClipOptions are what ClipGradNormWith may be told. The zero value is the default.
type ClipOptions struct {
	// P is the norm's: the p-th root of the sum of p-th powers of magnitudes, and
	// for +Inf the largest magnitude; 2 by default.
	P float64
	// ErrorIfNonFinite panics if the norm is infinite or NaN, where gradients
	// would become 0 or NaN.
	ErrorIfNonFinite bool
}

// ClipGradNorm scales the gradients of params in place so that together they have
// at most the Euclidean norm maxNorm, and returns the norm that they had: of what is
// unscaled, if a scaler is in use. It is torch.nn.utils.clip_grad_norm_.
//
// Each gradient is multiplied by maxNorm/(norm + 1e-6), at most 1. An infinite
// norm makes gradients 0 or NaN, as in torch.
func ClipGradNorm(params []*tensor.Tensor, maxNorm float64) float64 {
	return ClipGradNormWith(params, maxNorm, ClipOptions{})
}

// ClipGradNormWith is ClipGradNorm with options.
func ClipGradNormWith(params []*tensor.Tensor, maxNorm float64, o ClipOptions) float64 {
	p := cmp.Or(o.P, 2)
	if !(p > 0) {
		panic(&tensor.Error{Op: "clip_grad_norm", Why: fmt.Sprintf("the norm is of order %v; expected a number above 0, or +Inf", p)})
	}
	tensor.Note(tensor.Mark{Name: "clip_grad_norm_", Tensors: params, Number: maxNorm})
	var norm float64
	tensor.InModule("clip_grad_norm_", func() { norm = clipGradNorm(params, maxNorm, p, o) })
	return norm
}

func clipGradNorm(params []*tensor.Tensor, maxNorm, p float64, o ClipOptions) float64 {
	norm := TotalNorm(params, p)
	if o.ErrorIfNonFinite && (math.IsInf(norm, 0) || math.IsNaN(norm)) {
		panic(&tensor.Error{Op: "clip_grad_norm", Why: fmt.Sprintf("the norm of order %v of the gradients is %v; expected a finite one: look for overflow, or leave out ErrorIfNonFinite", p, norm)})
	}
	coefficient := float64(float32(maxNorm) / (float32(norm) + 1e-6))
	if coefficient > 1 {
		coefficient = 1
	}
	for _, p := range params {
		if g := p.Grad(); g != nil {
			tensor.NoGrad(func() { g.ScaleAssign(coefficient) })
		}
	}
	return norm
}

// TotalNorm returns the norm of order p of the gradients of params as one vector: 0
// if there are none. It waits for the device once. It is torch.nn.utils.get_total_norm of
// their gradients.
func TotalNorm(params []*tensor.Tensor, p float64) (norm float64) {
	var norms []*tensor.Tensor
	tensor.NoGrad(func() {
		for _, t := range params {
			if g := t.Grad(); g != nil && g.Numel() > 0 {
				// Norms are float32, however narrow the gradient: torch's float16
				// norms of float16 gradients overflow too soon to clip by.
				n := pNorm(g.Float(), p)
				if len(norms) > 0 {
					n = n.ToDevice(norms[0].Device())
				}
				norms = append(norms, n)
			}
		}
		if len(norms) > 0 {
			var all *tensor.Tensor
			tensor.Unobserved(func() { all = tensor.Stack(0, norms...) })
			norm = pNorm(all, p).Item()
		}
	})
	return norm
}

// pNorm returns the norm of order p of x, which has elements.
func pNorm(x *tensor.Tensor, p float64) *tensor.Tensor {
	switch {
	case p == 2:
		return x.Norm()
	case math.IsInf(p, 1):
		return x.Abs().Amax()
	}
	return x.Abs().Pow(p).Sum().Pow(1 / p)
}

// ClipGradValue limits each element of the gradients of params, in place, to ±limit.
// It is torch.nn.utils.clip_grad_value_.
func ClipGradValue(params []*tensor.Tensor, limit float64) {
	tensor.Note(tensor.Mark{Name: "clip_grad_value_", Tensors: params, Number: limit})
	for _, p := range params {
		if g := p.Grad(); g != nil {
			tensor.NoGrad(func() {
				hi := tensor.OnesLike(g).Scale(limit)
				g.Assign(g.Minimum(hi).Maximum(hi.Neg()))
			})
		}
	}
}
