package nn

import (
	"fmt"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// Alpha is the factor of the mean square in a local response normalisation. It is alpha.
func Alpha(a float64) Option { return Option{"Alpha", func(c *config) { c.alpha = a }} }

// K is the summand of the base in a local response normalisation. It is k.
func K(k float64) Option { return Option{"K", func(c *config) { c.k = k }} }

func responseNorm(options []Option) config {
	return configure("local_response_norm", config{alpha: 1e-4, beta: 0.75, k: 1}, options, "Alpha", "Beta", "K")
}

// LocalResponseNorm returns x (n, c, …) divided by (k + alpha m)^beta, where m is the mean square
// of size neighbouring channels; channels beyond the ends are 0. It takes Alpha, 1e-4 by
// default, Beta, 0.75 by default, and K, 1 by default. It is
// torch.nn.functional.local_response_norm.
func LocalResponseNorm(x *tensor.Tensor, size int, options ...Option) *tensor.Tensor {
	c := responseNorm(options)
	return functional.LocalResponseNorm(x, size, c.alpha, c.beta, c.k)
}

// NewLocalResponseNorm returns LocalResponseNorm as a module. It is torch.nn.LocalResponseNorm.
func NewLocalResponseNorm(size int, options ...Option) *Func {
	c := responseNorm(options)
	text := fmt.Sprintf("LocalResponseNorm(%d, alpha=%s, beta=%s, k=%s)", size, python(c.alpha), python(c.beta), python(c.k))
	return &Func{text, func(x *tensor.Tensor) *tensor.Tensor {
		return functional.LocalResponseNorm(x, size, c.alpha, c.beta, c.k)
	}}
}

// AttnMask is the mask of attention; a floating-point mask is added to the scores. For
// ScaledDotProductAttention it broadcasts to (…, L, S), and a bool mask excludes keys where it is
// false. For Attend it is (L, S) or (batch·heads, L, S), and a bool mask excludes keys where it is
// true, as in torch. It is attn_mask.
func AttnMask(mask *tensor.Tensor) Option {
	return Option{"AttnMask", func(c *config) { c.attention.Mask = mask }}
}

// IsCausal lets query i attend to keys 0 to i. ScaledDotProductAttention takes either this or
// AttnMask. It is is_causal=True.
func IsCausal() Option { return Option{"IsCausal", func(c *config) { c.attention.IsCausal = true }} }

// Scale multiplies the scores of attention; 1/√E by default. It is scale.
func Scale(s float64) Option { return Option{"Scale", func(c *config) { c.attention.Scale = s }} }

// EnableGQA repeats the heads of keys and values, the third dimension from the end, to match the
// queries' heads. It is enable_gqa=True.
func EnableGQA() Option {
	return Option{"EnableGQA", func(c *config) { c.attention.EnableGQA = true }}
}

// ScaledDotProductAttention returns softmax(q kᵀ/√E) v for queries q (…, L, E), keys k
// (…, S, E) and values v (…, S, V), whose leading dimensions broadcast: (…, L, V).
// Scores, weights and sums are float32, and the result is rounded once. A query whose keys are
// all masked gives 0. It takes AttnMask, IsCausal, Scale, DropoutP and EnableGQA. It is
// torch.nn.functional.scaled_dot_product_attention.
func ScaledDotProductAttention(q, k, v *tensor.Tensor, options ...Option) *tensor.Tensor {
	c := configure("scaled_dot_product_attention", config{}, options, "AttnMask", "IsCausal", "Scale", "DropoutP", "EnableGQA")
	c.attention.DropoutP = c.dropout
	return functional.ScaledDotProductAttention(q, k, v, c.attention)
}

// attentionOptions are the options of attention.
type attentionOptions = plumbing.AttentionOptions[*tensor.Tensor]

// lossOptions are the options of a loss.
type lossOptions = plumbing.LossOptions[*tensor.Tensor]
