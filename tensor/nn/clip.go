package nn

import (
	"fmt"
	"math"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// NormType is the order p of the norm that ClipGradNorm limits: the p-th root of the sum of
// p-th powers of magnitudes, or the largest magnitude for +Inf; 2 by default. It is norm_type.
func NormType(p float64) Option { return Option{"NormType", func(c *config) { c.clip.p = p }} }

// ErrorIfNonFinite lets ClipGradNorm panic if the norm is infinite or NaN; otherwise the
// gradients become 0 or NaN. It is error_if_nonfinite=True.
func ErrorIfNonFinite() Option {
	return Option{"ErrorIfNonFinite", func(c *config) { c.clip.finite = true }}
}

// clipping holds the options of ClipGradNorm.
type clipping struct {
	p      float64
	finite bool // whether to panic if the norm is not finite
}

// ClipGradNorm scales the gradients of params in place so that their total norm, Euclidean by
// default, is at most maxNorm, and returns the norm before clipping: that of the unscaled
// gradients, if a scaler is in use. It takes NormType and ErrorIfNonFinite. It is
// torch.nn.utils.clip_grad_norm_.
//
// Each gradient is multiplied by min(1, maxNorm/(norm + 1e-6)). An infinite norm makes
// gradients 0 or NaN, as in torch.
func ClipGradNorm(params []*tensor.Tensor, maxNorm float64, options ...Option) float64 {
	o := configure("clip_grad_norm", config{clip: clipping{p: 2}}, options, "NormType", "ErrorIfNonFinite").clip
	if !(o.p > 0) {
		panic(&tensor.Error{Op: "clip_grad_norm", Why: fmt.Sprintf("the order of the norm is %v; want a number above 0, or +Inf", o.p)})
	}
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "clip_grad_norm_", Tensors: params, Number: maxNorm})
	var norm float64
	tensor.InModule("clip_grad_norm_", func() { norm = clipGradNorm(params, maxNorm, o) })
	return norm
}

func clipGradNorm(params []*tensor.Tensor, maxNorm float64, o clipping) float64 {
	norm := TotalNorm(params, o.p)
	if o.finite && (math.IsInf(norm, 0) || math.IsNaN(norm)) {
		panic(&tensor.Error{Op: "clip_grad_norm", Why: fmt.Sprintf("the gradients' norm of order %v is %v; want a finite norm: look for overflow, or leave out ErrorIfNonFinite", o.p, norm)})
	}
	coefficient := float64(float32(maxNorm) / (float32(norm) + 1e-6))
	if coefficient > 1 {
		coefficient = 1
	}
	for _, p := range params {
		if g := gradients.Peek(p); g != nil {
			tensor.NoGrad(func() { g.MulScalarAssign(coefficient) })
		}
	}
	return norm
}

// TotalNorm returns the norm of order p of the gradients of params, taken as one vector,
// or 0 if there are none. It synchronises with the device once. It is
// torch.nn.utils.get_total_norm of the gradients.
func TotalNorm(params []*tensor.Tensor, p float64) (norm float64) {
	var norms []*tensor.Tensor
	tensor.NoGrad(func() {
		for _, t := range params {
			if g := gradients.Peek(t); g != nil && g.Numel() > 0 {
				// Norms are float32 however narrow the gradient: torch's float16 norms of
				// float16 gradients overflow too early for clipping.
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

// pNorm returns the norm of order p of x, which is not empty.
func pNorm(x *tensor.Tensor, p float64) *tensor.Tensor {
	switch {
	case p == 2:
		return x.Norm()
	case math.IsInf(p, 1):
		return x.Abs().Amax()
	}
	return x.Abs().Pow(p).Sum().Pow(1 / p)
}

// ClipGradValue clamps each element of the gradients of params to ±clipValue, in place.
// It is torch.nn.utils.clip_grad_value_.
func ClipGradValue(params []*tensor.Tensor, clipValue float64) {
	calls.Note(plumbing.Call[*tensor.Tensor]{Name: "clip_grad_value_", Tensors: params, Number: clipValue})
	for _, p := range params {
		if g := gradients.Peek(p); g != nil {
			tensor.NoGrad(func() {
				hi := tensor.OnesLike(g).MulScalar(clipValue)
				g.Assign(g.Minimum(hi).Maximum(hi.Neg()))
			})
		}
	}
}
