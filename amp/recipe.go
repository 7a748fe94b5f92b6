package amp

import (
	"math/bits"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// recipe is how a policy rounds the operands of linear layers, in the forward pass and in both products of the backward pass. Each product sums over
// the dimension along which the blocks of its operands run: a weight and its transpose are rounded separately.
type recipe struct {
	name                    string
	input, weight, gradient quant.Scheme
	transform               bool // a random Hadamard transform for the gradient of the weight
	stochastic              bool // gradient is NVFP4 with stochastic rounding, with a new seed for each tensor
	straight                bool // only the forward pass has rounded operands; gradients pass through the rounding
}

// MXFP8 returns BFloat16 with the products of linear layers, and of their gradients, in MXFP8: blocks of 32 in E4M3 with powers of two, rounded up
// so that nothing saturates. Both operands of a product are quantised, it is summed in float32, and the result is rounded to bfloat16. Weights
// are quantised as they are, inputs and gradients after rounding to bfloat16. The numbers are those of the hardware; it takes longer than
// BFloat16. WithIn keeps a layer in bfloat16: amp.MXFP8().WithIn("2", "linear", amp.LowerPrecision). It is
// transformer_engine.common.recipe.MXFP8BlockScaling.
func MXFP8() Policy {
	mx := quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}
	return BFloat16.withRecipe(recipe{name: "MXFP8", input: mx, weight: mx, gradient: mx})
}

// NVFP4 is [MXFP8] in NVFP4: blocks of 16 for inputs and gradients, of 16 x 16 for weights. Gradients are rounded stochastically, with seeds from
// tensor.DefaultGenerator, and for the gradient of a weight both operands pass through a random Hadamard transform with fixed signs. It
// is transformer_engine.common.recipe.NVFP4BlockScaling; "Pretraining Large Language Models with NVFP4", arXiv 2509.25149, also keeps some layers in bfloat16.
func NVFP4() Policy {
	return BFloat16.withRecipe(recipe{
		name: "NVFP4", input: quant.NVFP4{}, weight: quant.NVFP4{TwoDimensional: true}, gradient: quant.NVFP4{}, transform: true, stochastic: true,
	})
}

// BlockFP8 is [MXFP8] in E4M3 with float32 scales: of 1 x 128 numbers for inputs and gradients, of 128 x 128 for weights. It is section 3.3 of
// "DeepSeek-V3 Technical Report", arXiv 2412.19437.
func BlockFP8() Policy {
	line := quant.Float8{Granularity: quant.Per1x128}
	return BFloat16.withRecipe(recipe{name: "BlockFP8", input: line, weight: quant.Float8{Granularity: quant.Per128x128}, gradient: line})
}

// QAT returns p with quantisation-aware training: linear layers see inputs and weights that [quant.FakeQuantize] has rounded, so that a network learns
// to bear what storage in few bits will do to it. A nil scheme leaves an operand as it is. The products and their gradients are p's. For torchao's
// Int8DynActInt4WeightQATQuantizer give quant.Int{Bits: 8, Asymmetric: true} and quant.Int{Bits: 4, Group: 32}.
func (p Policy) QAT(input, weight quant.Scheme) Policy {
	return p.withRecipe(recipe{name: "QAT", input: input, weight: weight, straight: true})
}

func (p Policy) withRecipe(r recipe) Policy {
	p.recipe = r
	return p
}

// recipeRegion is an open region of a policy with a recipe. It quantises linear layers and leaves other operations to the caster.
type recipeRegion struct {
	*caster
	quantised bool // whether the running operation's operands are
}

// Autocast returns the region that r extends.
func (r *recipeRegion) Autocast() operandCaster { return r.caster }

// Renew implements plumbing.Renewer.
func (r *recipeRegion) Renew() operandCaster { return open(r.caster.Renew().(*caster)) }

// open returns c with the recipe of its policy, if there is one.
func open(c *caster) operandCaster {
	if c.policy.on && c.policy.recipe.name != "" {
		return &recipeRegion{caster: c}
	}
	return c
}

// Cast implements plumbing.Caster.
func (r *recipeRegion) Cast(op tensor.Info, in []*tensor.Tensor) []*tensor.Tensor {
	chosen := op.Name == "linear" && eligible(in[0]) && eligible(in[1]) && !r.policy.moved(op.Name)
	r.quantised = chosen && !r.policy.recipe.straight
	switch {
	case !chosen:
		return r.caster.Cast(op, in)
	case !r.quantised:
		return r.caster.Cast(op, r.policy.recipe.rounded(in))
	}
	out := slices.Clone(in)
	r.apart(func() {
		out[0] = quant.FakeQuantize(in[0].To(r.policy.lower).Float(), r.policy.recipe.input)
		out[1] = quant.FakeQuantize(in[1].Float(), r.policy.recipe.weight)
		if len(in) > 2 {
			out[2] = tensor.ZerosAs(tensor.Float32, in[2].Shape()...).ToDevice(in[2].Device()) // added to the result
		}
	})
	return out
}

// rounded returns the operands of a linear layer, rounded for quantisation-aware training.
func (r recipe) rounded(in []*tensor.Tensor) []*tensor.Tensor {
	out := slices.Clone(in)
	casting.With(nil, func() {
		for i, s := range []quant.Scheme{r.input, r.weight} {
			if s != nil {
				out[i] = quant.FakeQuantize(in[i], s)
			}
		}
	})
	return out
}

// Result implements plumbing.ResultCaster.
func (r *recipeRegion) Result(op tensor.Info, in []*tensor.Tensor, y *tensor.Tensor) *tensor.Tensor {
	if !r.quantised {
		return y
	}
	r.quantised = false
	product := y
	casting.With(nil, func() { y = tensor.Apply(&linear{r.policy.recipe, r.policy.lower, product}, in...) })
	return y
}

// apart runs body without casts and without recording.
func (r *recipeRegion) apart(body func()) {
	casting.With(nil, func() { tensor.NoGrad(body) })
}

var _ plumbing.ResultCaster[tensor.Info, *tensor.Tensor] = (*recipeRegion)(nil)

// linear completes a linear layer of x (n, in), w (out, in) and perhaps b (out): it adds b to the product, rounds, and has the derivatives of the recipe.
type linear struct {
	recipe
	lower   tensor.DType
	product *tensor.Tensor // nil after the forward pass
}

func (l *linear) Info() tensor.Info {
	return tensor.Info{Name: "quantized_linear", Torch: "transformer_engine.pytorch.Linear", Saved: tensor.SavesOperands}
}

func (l *linear) Forward(in []*tensor.Tensor) *tensor.Tensor {
	y := l.product
	l.product = nil
	if y == nil { // an observer computes it again with other operands, for example in float64
		if y = in[0].MatMul(in[1].T()); len(in) > 2 {
			y = y.Add(in[2])
		}
		return y
	}
	if len(in) > 2 {
		y = y.Add(in[2].To(l.lower).Float())
	}
	return y.To(l.lower)
}

func (l *linear) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	dy = dy.Float()
	if in[0].RequiresGrad() {
		// The sum is over the outputs.
		w := quant.FakeQuantize(in[1].Float().T().Contiguous(), l.weight)
		out[0] = quant.FakeQuantize(dy, l.drawn()).MatMul(w.T()).To(in[0].DType())
	}
	if in[1].RequiresGrad() {
		// The sum is over the rows.
		x := quant.FakeQuantize(l.turned(in[0].To(l.lower).Float()), l.input)
		out[1] = quant.FakeQuantize(l.turned(dy), l.drawn()).MatMul(x.T()).To(in[1].DType())
	}
	if len(in) > 2 && in[2].RequiresGrad() {
		out[2] = dy.Sum(0).To(in[2].DType())
	}
	return out
}

// drawn returns the scheme of a gradient.
func (r recipe) drawn() quant.Scheme {
	if r.stochastic {
		return quant.NVFP4{Rounding: quant.Stochastic(uint64(tensor.DefaultGenerator().Int63()))}
	}
	return r.gradient
}

// turned returns the transpose of t (rows, n), after the recipe's transform along the rows and rounded as that is.
func (l *linear) turned(t *tensor.Tensor) *tensor.Tensor {
	t = t.T().Contiguous()
	if !l.transform {
		return t
	}
	n, rows := t.Shape()[0], t.Shape()[1]
	const size = 16
	if rest := -rows & (size - 1); rest > 0 {
		t = t.Pad([]int{0, rest}, tensor.PadOptions{}) // with zeros, which the sum does not see
	}
	return t.Reshape(-1, size).MatMul(transform().ToDevice(t.Device())).To(l.lower).Float().Reshape(n, -1)
}

// transform returns the random Hadamard transform of NVFP4's recipe, diag(signs) H / 4 (16, 16), with Sylvester's H and the signs of Transformer Engine.
func transform() *tensor.Tensor {
	signs := [16]float64{1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1}
	data := make([]float64, 0, 256)
	for i, sign := range signs {
		for j := range 16 {
			if bits.OnesCount(uint(i&j))%2 == 1 {
				data = append(data, -sign/4)
			} else {
				data = append(data, sign/4)
			}
		}
	}
	return tensor.New(data, 16, 16)
}
