package nn

import (
	"math"

	"halfnote/tensor"
)

// ClipGradNorm scales the gradients of params in place so that together they have
// at most the Euclidean norm maxNorm, and returns the norm that they had: of what is
// unscaled, if a scaler is in use. It is torch.nn.utils.clip_grad_norm_.
//
// Each gradient is multiplied by maxNorm/(norm + 1e-6), at most 1. An infinite
// norm makes gradients 0 or NaN, as in torch.
func ClipGradNorm(params []*tensor.Tensor, maxNorm float64) float64 {
	// Norms are float32, however narrow the gradient: torch's float16 norms of
	// float16 gradients overflow too soon to clip by.
	norm := 0.0
	for _, p := range params {
		if g := p.Grad(); g != nil {
			tensor.NoGrad(func() { norm = math.Hypot(norm, g.Detach().Float().Norm().Item()) })
		}
	}
	coefficient := maxNorm / (norm + 1e-6)
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

// ClipGradValue limits each element of the gradients of params, in place, to ±limit.
// It is torch.nn.utils.clip_grad_value_.
func ClipGradValue(params []*tensor.Tensor, limit float64) {
	for _, p := range params {
		if g := p.Grad(); g != nil {
			tensor.NoGrad(func() {
				hi := tensor.OnesLike(g).Scale(limit)
				g.Assign(g.Minimum(hi).Maximum(hi.Neg()))
			})
		}
	}
}
