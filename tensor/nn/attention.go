package nn

import (
	"fmt"
	"math"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// MultiheadAttention is multi-head attention: each head attends on its part of the
// projected features. It is torch.nn.MultiheadAttention.
type MultiheadAttention struct {
	TrainingMode
	InProjWeight *tensor.Tensor // (3 embed, embed): for queries, keys and values; nil if their sizes differ
	QProjWeight  *tensor.Tensor // (embed, embed), or nil
	KProjWeight  *tensor.Tensor // (embed, kdim), or nil
	VProjWeight  *tensor.Tensor // (embed, vdim), or nil
	InProjBias   *tensor.Tensor // (3 embed), or nil
	BiasK, BiasV *tensor.Tensor // (1, 1, embed), or nil
	OutProj      *Linear

	embed, heads int
	c            config
}

// NewMultiheadAttention returns a float32 layer of embed features in the given number of
// heads. Input projections are initialised by Xavier's rule, the output projection as in
// NewLinear; biases are 0. It takes DropoutP (0 by default, on the weights), Bias, AddBiasKV,
// AddZeroAttn, KDim, VDim, BatchFirst and InitFrom. It is torch.nn.MultiheadAttention.
func NewMultiheadAttention(embed, heads int, options ...Option) *MultiheadAttention {
	c := configure("new_multihead_attention", config{bias: true, sequence: sequence{kdim: embed, vdim: embed}}, options,
		"DropoutP", "Bias", "AddBiasKV", "AddZeroAttn", "KDim", "VDim", "BatchFirst", "InitFrom")
	return newMultiheadAttention(embed, heads, c)
}

func newMultiheadAttention(embed, heads int, c config) *MultiheadAttention {
	if embed < 1 || heads < 1 || embed%heads != 0 || c.kdim < 1 || c.vdim < 1 {
		panic(&tensor.Error{Op: "new_multihead_attention", Why: fmt.Sprintf("embed %d, heads %d, kdim %d, vdim %d; want embed divisible by heads, and all at least 1", embed, heads, c.kdim, c.vdim)})
	}
	m := &MultiheadAttention{embed: embed, heads: heads, c: c}
	m.OutProj = newLinear(embed, embed, c)
	if c.kdim == embed && c.vdim == embed {
		m.InProjWeight = c.xavierUniform(3*embed, embed)
	} else {
		m.QProjWeight, m.KProjWeight, m.VProjWeight = c.xavierUniform(embed, embed), c.xavierUniform(embed, c.kdim), c.xavierUniform(embed, c.vdim)
	}
	if c.bias {
		m.InProjBias = tensor.Zeros(3 * embed).RequireGrad()
		tensor.NoGrad(func() { m.OutProj.Bias.Fill(0) })
	}
	if c.biasKV {
		// Xavier's normal rule for (1, 1, embed), where torch uses embed for both fans.
		deviation := math.Sqrt(2 / float64(2*embed))
		m.BiasK, m.BiasV = c.normal(0, deviation, 1, 1, embed).RequireGrad(), c.normal(0, deviation, 1, 1, embed).RequireGrad()
	}
	return m
}

// Attend attends from queries q (L, batch, embed) to keys k (S, batch, kdim) and values v (S,
// batch, vdim), or all without batch. It returns the result (L, batch, embed) and the
// weights (batch, L, S), nil with NeedWeights(false). With BatchFirst the batch comes first. It
// takes KeyPaddingMask, AttnMask, IsCausal, NeedWeights and AverageAttnWeights.
func (m *MultiheadAttention) Attend(q, k, v *tensor.Tensor, options ...Option) (out, weights *tensor.Tensor) {
	c := configure("multi_head_attention_forward", config{masks: masks{weights: true, mean: true}}, options,
		"KeyPaddingMask", "AttnMask", "IsCausal", "NeedWeights", "AverageAttnWeights")
	return m.forward(q, k, v, attending{
		mask: c.attention.Mask, padding: c.masks.padding, causal: c.attention.IsCausal,
		weights: c.masks.weights, mean: c.masks.mean,
	})
}

// forward is Attend with the values of its options.
func (m *MultiheadAttention) forward(q, k, v *tensor.Tensor, o attending) (out, weights *tensor.Tensor) {
	m.check(q, k, v)
	single := q.Dim() == 2
	if single {
		dim := 1
		if m.c.batchFirst {
			dim = 0
		}
		self := q == k && k == v
		q, k, v = q.Unsqueeze(dim), k.Unsqueeze(dim), v.Unsqueeze(dim)
		if self {
			k, v = q, q
		}
		if o.padding != nil {
			o.padding = o.padding.Unsqueeze(0)
		}
	}
	y, weights := m.attend(q, k, v, o)
	out = m.OutProj.Forward(m.joined(y))
	if m.c.batchFirst {
		out = out.Transpose(0, 1)
	}
	if single {
		if out = out.Squeeze(m.batchDim()); weights != nil {
			weights = weights.Squeeze(0)
		}
	}
	return out, weights
}

// Forward returns the self-attention of x.
func (m *MultiheadAttention) Forward(x *tensor.Tensor) *tensor.Tensor {
	out, _ := m.forward(x, x, x, attending{})
	return out
}

func (m *MultiheadAttention) batchDim() int {
	if m.c.batchFirst {
		return 0
	}
	return 1
}

func (m *MultiheadAttention) check(q, k, v *tensor.Tensor) {
	n, last := q.Dim(), q.Dim()-1
	if n < 2 || n > 3 || k.Dim() != n || v.Dim() != n || q.Size(last) != m.embed || k.Size(last) != m.c.kdim || v.Size(last) != m.c.vdim ||
		!slices.Equal(k.Shape()[:last], v.Shape()[:last]) || n == 3 && q.Size(m.batchDim()) != k.Size(m.batchDim()) {
		layout := "(L, batch, %d), (S, batch, %d) and (S, batch, %d)"
		if m.c.batchFirst {
			layout = "(batch, L, %d), (batch, S, %d) and (batch, S, %d)"
		}
		panic(&tensor.Error{Op: "multi_head_attention_forward", Shapes: [][]int{q.Shape(), k.Shape(), v.Shape()},
			Why: fmt.Sprintf("shapes of queries, keys and values do not match; want "+layout+", or all without batch", m.embed, m.c.kdim, m.c.vdim)})
	}
}

// attend returns the results of the heads (batch, heads, L, features) and the weights.
func (m *MultiheadAttention) attend(q, k, v *tensor.Tensor, o attending) (y, weights *tensor.Tensor) {
	q, k, v = m.projected(q, k, v)
	added := 0
	if m.BiasK != nil {
		along, shape := 1-m.batchDim(), k.Shape()
		shape[along] = 1
		k, v = tensor.Cat(along, k, m.BiasK.Expand(shape...)), tensor.Cat(along, v, m.BiasV.Expand(shape...))
		added++
	}
	q, k, v = m.split(q), m.split(k), m.split(v)
	if m.c.zeroAttn {
		shape := k.Shape()
		shape[2] = 1
		zeros := zerosLike(k, shape...)
		k, v = tensor.Cat(2, k, zeros), tensor.Cat(2, v, zeros)
		added++
	}
	p := 0.0
	if m.Training() {
		p = m.c.dropout
	}
	if o.causal && o.mask == nil && o.padding == nil && !o.weights && added == 0 {
		return functional.ScaledDotProductAttention(q, k, v, attentionOptions{IsCausal: true, DropoutP: p}), nil
	}
	mask := m.mask(q, k, o, added)
	if !o.weights {
		return functional.ScaledDotProductAttention(q, k, v, attentionOptions{Mask: mask, DropoutP: p}), nil
	}
	batches := func(t *tensor.Tensor) *tensor.Tensor { return t.Reshape(t.Size(0)*m.heads, t.Size(2), t.Size(3)) }
	shape := []int{q.Size(0), m.heads, q.Size(2), k.Size(2)}
	a, b := batches(q).MulScalar(math.Sqrt(1/float64(m.embed/m.heads))), batches(k).Transpose(1, 2)
	var scores *tensor.Tensor
	if mask != nil {
		scores = batches(mask.Expand(shape...)).BAddBMM(a, b, tensor.AddMMOptions{})
	} else {
		scores = a.BMM(b)
	}
	weights = scores.Softmax(-1)
	if p > 0 {
		weights = tensor.Dropout(weights, p, true)
	}
	y = weights.BMM(batches(v))
	y, weights = y.Reshape(q.Size(0), m.heads, q.Size(2), -1), weights.Reshape(shape...)
	if o.mean {
		weights = weights.Mean(1)
	}
	return y, weights
}

// projected projects queries, keys and values to embed features.
func (m *MultiheadAttention) projected(q, k, v *tensor.Tensor) (_, _, _ *tensor.Tensor) {
	part := func(t *tensor.Tensor, dim, i int) *tensor.Tensor {
		if t == nil {
			return nil
		}
		return t.Slice(dim, i*m.embed, (i+1)*m.embed)
	}
	w := []*tensor.Tensor{m.QProjWeight, m.KProjWeight, m.VProjWeight}
	if m.InProjWeight != nil {
		if q == k && k == v {
			all := tensor.Linear(q, m.InProjWeight, m.InProjBias)
			return part(all, -1, 0), part(all, -1, 1), part(all, -1, 2)
		}
		for i := range w {
			w[i] = part(m.InProjWeight, 0, i)
		}
	}
	return tensor.Linear(q, w[0], part(m.InProjBias, 0, 0)), tensor.Linear(k, w[1], part(m.InProjBias, 0, 1)), tensor.Linear(v, w[2], part(m.InProjBias, 0, 2))
}

// split reshapes t to heads (batch, heads, time, features).
func (m *MultiheadAttention) split(t *tensor.Tensor) *tensor.Tensor {
	t = t.Reshape(t.Size(0), t.Size(1), m.heads, m.embed/m.heads)
	if m.c.batchFirst {
		return t.Permute(0, 2, 1, 3)
	}
	return t.Permute(1, 2, 0, 3)
}

// joined merges heads into (time, batch, embed), with BatchFirst too: dropout draws in
// torch's memory layout.
func (m *MultiheadAttention) joined(t *tensor.Tensor) *tensor.Tensor {
	t = t.Permute(2, 0, 1, 3)
	return t.Reshape(t.Size(0), t.Size(1), m.embed)
}

// mask returns the additive mask of the scores, broadcastable to (batch, heads, L, S), or
// nil. The last added keys are not masked.
func (m *MultiheadAttention) mask(q, k *tensor.Tensor, o attending, added int) *tensor.Tensor {
	const op = "multi_head_attention_forward"
	n, l, s := q.Size(0), q.Size(2), k.Size(2)-added
	var mask *tensor.Tensor
	if p := o.padding; p != nil {
		if !slices.Equal(p.Shape(), []int{n, s}) {
			panic(&tensor.Error{Op: op, Shapes: [][]int{p.Shape()}, Why: fmt.Sprintf("KeyPaddingMask has the wrong shape; want (batch, S) = (%d, %d)", n, s)})
		}
		mask = additive(p).Reshape(n, 1, 1, s)
	}
	if o.mask == nil && o.causal {
		o.mask = causal(l, s).ToDevice(q.Device())
	}
	if a := o.mask; a != nil {
		switch {
		case slices.Equal(a.Shape(), []int{l, s}):
			a = additive(a)
		case slices.Equal(a.Shape(), []int{n * m.heads, l, s}):
			a = additive(a).Reshape(n, m.heads, l, s)
		default:
			panic(&tensor.Error{Op: op, Shapes: [][]int{a.Shape()}, Why: fmt.Sprintf("AttnMask has the wrong shape; want (L, S) = (%d, %d) or (batch·heads, L, S) = (%d, %d, %d)", l, s, n*m.heads, l, s)})
		}
		if mask == nil {
			mask = a
		} else {
			mask = mask.Add(a)
		}
	}
	if mask == nil {
		return nil
	}
	if added > 0 {
		shape := mask.Shape()
		shape[len(shape)-1] = added
		mask = tensor.Cat(-1, mask, zerosLike(mask, shape...))
	}
	return mask.To(q.DType())
}

// additive returns mask as terms to add to the scores: -Inf where a bool mask is true.
func additive(mask *tensor.Tensor) *tensor.Tensor {
	if mask.DType() != tensor.Bool {
		return mask
	}
	d := mask.Device()
	return mask.Where(tensor.Full(math.Inf(-1)).ToDevice(d), tensor.Full(0).ToDevice(d))
}

// causal returns a mask (l, s) that is true where a key comes after its query.
func causal(l, s int) *tensor.Tensor {
	var mask *tensor.Tensor
	tensor.Unobserved(func() { mask = tensor.OnesAs(tensor.Bool, l, s).Triu(1) })
	return mask
}

// String returns what torch prints.
func (m *MultiheadAttention) String() string {
	return fmt.Sprintf("MultiheadAttention(\n  (out_proj): NonDynamically%s\n)", "QuantizableLinear"+m.OutProj.String()[len("Linear"):])
}

// xavierUniform draws a matrix by the rule of X. Glorot and Y. Bengio, "Understanding
// the difficulty of training deep feedforward neural networks", 2010.
func (c config) xavierUniform(out, in int) *tensor.Tensor {
	bound := math.Sqrt(6 / float64(in+out))
	return c.uniform(-bound, bound, out, in).RequireGrad()
}

// normal draws normal numbers from the configured generator.
func (c config) normal(mean, std float64, shape ...int) *tensor.Tensor {
	if c.generator != nil {
		return c.generator.Normal(mean, std, shape...)
	}
	return tensor.Normal(mean, std, shape...)
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
