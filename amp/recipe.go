package amp

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
	"halfnote/tensor/quant"
)

// recipe is how a policy rounds the operands of linear layers, in the forward pass and in both products of the backward pass. Each product sums over
// the dimension along which the blocks of its operands run: a weight and its transpose are rounded separately.
type recipe struct {
	name                    string
	input, weight, gradient quant.Scheme
	transform               bool         // a random Hadamard transform for the gradient of the weight
	stochastic              bool         // gradient is NVFP4 with stochastic rounding, with a new seed for each tensor
	straight                bool         // only the forward pass has rounded operands; gradients pass through the rounding
	sum                     Accumulation // of the products; its DType is 0 for a product of the backend
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
func NVFP4() Policy { return NVFP4With(NVFP4Options{}) }

// NVFP4Options switch parts of NVFP4's recipe off. The names are Transformer Engine's.
type NVFP4Options struct {
	DisableRHT                bool // no random Hadamard transform for the gradients of weights
	DisableStochasticRounding bool // gradients are rounded to nearest
	Disable2DQuantization     bool // blocks of 16 for weights
}

// NVFP4With is [NVFP4] without the parts that o switches off.
func NVFP4With(o NVFP4Options) Policy {
	name := "NVFP4"
	if o != (NVFP4Options{}) {
		var parts []string
		for _, p := range []struct {
			off  bool
			name string
		}{{o.DisableRHT, "DisableRHT"}, {o.DisableStochasticRounding, "DisableStochasticRounding"}, {o.Disable2DQuantization, "Disable2DQuantization"}} {
			if p.off {
				parts = append(parts, p.name+": true")
			}
		}
		name = "NVFP4With(amp.NVFP4Options{" + strings.Join(parts, ", ") + "})"
	}
	return BFloat16.withRecipe(recipe{
		name: name, input: quant.NVFP4{}, weight: quant.NVFP4{TwoDimensional: !o.Disable2DQuantization}, gradient: quant.NVFP4{},
		transform: !o.DisableRHT, stochastic: !o.DisableStochasticRounding,
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
	if p.recipe.sum.DType != 0 {
		panic(&Error{Code: "sums", Call: "QAT", Why: fmt.Sprintf("%v sums products in its own way", p), Cure: "leave out Accumulate"})
	}
	return p.withRecipe(recipe{name: "QAT", input: input, weight: weight, straight: true})
}

func (p Policy) withRecipe(r recipe) Policy {
	p.recipe = r
	return p
}

// recipeRegion is an open region of a policy with a recipe. It quantises linear layers and leaves other operations to the caster.
type recipeRegion struct {
	*caster
	quantised bool             // whether the running operation's operands are
	operands  []*tensor.Tensor // of the running operation, as it gets them
}

// Autocast returns the region that r extends.
func (r *recipeRegion) Autocast() operandCaster { return r.caster }

// Renew implements plumbing.Renewer.
func (r *recipeRegion) Renew() operandCaster { return open(r.caster.Renew().(*caster)) }

// open returns c with the recipe of its policy, if there is one.
func open(c *caster) operandCaster {
	if c.policy.on && c.policy.recipe.name != "" || c.policy.recipe.sum.DType != 0 {
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
		of := r.policy.recipe
		out[0] = fake(rounded(in[0], r.policy.lower), of.input)
		if of.weight != nil {
			out[1] = quant.FakeQuantize(in[1].Float(), of.weight)
		} else {
			out[1] = rounded(in[1], r.policy.lower)
		}
		if len(in) > 2 {
			out[2] = tensor.ZerosAs(tensor.Float32, in[2].Shape()...).ToDevice(in[2].Device()) // added to the result
		}
	})
	r.operands = out
	return out
}

// rounded returns t rounded to d, if that is a dtype, as float32.
func rounded(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if d != 0 {
		t = t.To(d)
	}
	return t.Float()
}

// fake is FakeQuantize, which a nil scheme leaves out.
func fake(t *tensor.Tensor, s quant.Scheme) *tensor.Tensor {
	if s == nil {
		return t
	}
	return quant.FakeQuantize(t, s)
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
	product, operands := y, r.operands
	r.operands = nil
	if of := r.policy.recipe; of.sum.DType != 0 {
		r.apart(func() {
			x := operands[0]
			product = of.times(x.Reshape(-1, x.Shape()[x.Dim()-1]), operands[1]).Reshape(y.Shape()...)
		})
	}
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
		y = y.Add(rounded(in[2], l.lower))
	}
	if l.lower == 0 {
		return y
	}
	return y.To(l.lower)
}

// times returns a bᵀ for a (m, k) and b (n, k), summed as the recipe says.
func (r recipe) times(a, b *tensor.Tensor) *tensor.Tensor {
	if r.sum.DType == 0 {
		return a.MatMul(b.T())
	}
	return tensor.Apply(&accumulated{r.sum}, a, b)
}

func (l *linear) VJP(dy, _ *tensor.Tensor, in []*tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	dy = dy.Float()
	if in[0].RequiresGrad() {
		// The sum is over the outputs.
		w := in[1].Float()
		if l.weight == nil {
			w = rounded(in[1], l.lower)
		}
		out[0] = l.times(fake(dy, l.drawn()), fake(w.T().Contiguous(), l.weight)).To(in[0].DType())
	}
	if in[1].RequiresGrad() {
		// The sum is over the rows.
		x := fake(l.turned(rounded(in[0], l.lower)), l.input)
		out[1] = l.times(fake(l.turned(dy), l.drawn()), x).To(in[1].DType())
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
