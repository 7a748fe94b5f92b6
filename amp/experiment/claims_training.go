package experiment

import (
	"math"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// trained runs steps of Adam and returns the mean loss of the last third.
func trained(net any, rate float64, steps int, step func() *tensor.Tensor) (mean float64) {
	opt := optim.NewAdam(nn.Parameters(net), rate)
	last := steps / 3
	for k := range steps {
		loss := step()
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
		if k >= steps-last {
			mean += loss.Item() / float64(last)
		}
	}
	return mean
}

// student trains a network on the results of another one, always on new data.
func student(p amp.Policy) float64 {
	teacher := nn.NewSequential(nn.NewLinear(32, 64), nn.NewTanh(), nn.NewLinear(64, 32))
	net := nn.NewSequential(nn.NewLinear(32, 64), nn.NewTanh(), nn.NewLinear(64, 64), nn.NewTanh(), nn.NewLinear(64, 32))
	return trained(net, 0.003, 60, func() (loss *tensor.Tensor) {
		x := tensor.Randn(64, 32)
		var y *tensor.Tensor
		tensor.NoGrad(func() { y = teacher.Forward(x).MulScalar(4) })
		amp.Autocast(p, func() { loss = nn.MSELoss(net.Forward(x), y) })
		return loss
	})
}

// decoder is a transformer that predicts the next token of a text.
type decoder struct {
	Tokens, Places *nn.Embedding
	Layers         *nn.TransformerEncoder
	Head           *nn.Linear
	mask           *tensor.Tensor
}

// The sizes of a decoder and of its texts.
const (
	tokens, features, length = 32, 64, 24
	period                   = 4 // a token is most often that of period places before
)

func newDecoder() *decoder {
	layer := nn.NewTransformerEncoderLayer(features, 4, nn.DimFeedforward(2*features), nn.DropoutP(0), nn.BatchFirst(), nn.NormFirst())
	return &decoder{
		Tokens: nn.NewEmbedding(tokens, features), Places: nn.NewEmbedding(length, features), Layers: nn.NewTransformerEncoder(layer, 2, nn.NewLayerNorm([]int{features})),
		Head: nn.NewLinear(features, tokens), mask: tensor.Full(math.Inf(-1), length, length).Triu(1),
	}
}

// Forward returns the logits (n, length, tokens) of the tokens after those of ids (n, length).
func (d *decoder) Forward(ids *tensor.Tensor) *tensor.Tensor {
	x := d.Tokens.Forward(ids).Add(d.Places.Forward(tensor.Arange(0, length).Long()))
	return d.Head.Forward(d.Layers.ForwardMasked(x, nn.SrcMask(d.mask)))
}

// texts returns texts (n, length + 1) that repeat their first tokens, a tenth of which is noise.
func texts(n int) *tensor.Tensor {
	clean := tensor.Randint(0, tokens, n, period).Repeat(1, length/period+1).Slice(1, 0, length+1)
	noise := tensor.Rand(n, length+1).LtScalar(0.1)
	return noise.Where(tensor.Randint(0, tokens, n, length+1), clean)
}

// reader trains a small transformer on such texts.
func reader(p amp.Policy) float64 {
	net := newDecoder()
	return trained(net, 0.003, 90, func() (loss *tensor.Tensor) {
		t := texts(16)
		amp.Autocast(p, func() {
			loss = nn.CrossEntropy(net.Forward(t.Slice(1, 0, length)).Reshape(-1, tokens), t.Slice(1, 1, length+1).Reshape(-1))
		})
		return loss
	})
}

func transformerClaim() FormatClaim {
	c := FormatClaim{
		What: "A transformer trains in MXFP8 as in bfloat16", Source: "NVIDIA, Recipes for Pre-training LLMs with MXFP8, 2025", Claimed: "the same loss, within the spread", Quantity: "loss",
		Seen: []Measured{over("bfloat16", func() float64 { return reader(amp.BFloat16) }), over("MXFP8", func() float64 { return reader(amp.MXFP8()) })},
	}
	c.Verdict = verdict(below(c.Seen[0], c.Seen[1]) != "yes")
	return c
}

func nvfp4Claim() FormatClaim {
	with := func(o amp.NVFP4Options) func() float64 {
		return func() float64 { return student(amp.NVFP4With(o)) }
	}
	c := FormatClaim{
		What: "NVFP4 needs the Hadamard transform and stochastic rounding", Source: "arXiv 2509.25149", Claimed: "without either the loss is higher", Quantity: "loss",
		Seen: []Measured{
			over("both", with(amp.NVFP4Options{})), over("no transform", with(amp.NVFP4Options{DisableRHT: true})),
			over("no stochastic rounding", with(amp.NVFP4Options{DisableStochasticRounding: true})),
			over("neither", with(amp.NVFP4Options{DisableRHT: true, DisableStochasticRounding: true})),
		},
	}
	c.Verdict = weakest(below(c.Seen[0], c.Seen[1]), below(c.Seen[0], c.Seen[2]))
	return c
}

// policyGradient trains a policy whose sampler and trainer sum products in different orders, and returns the mean reward of the last third of the steps and the
// mean KL divergence of the trainer from the sampler. Rewards are 1 for the action that a hidden teacher would choose. The loss is multiplied by 1e-6, so that gradients are as
// small as those of a mean over many tokens.
func policyGradient(p amp.Policy, sums tensor.DType, scale bool) (reward, divergence float64) {
	const steps = 30
	net, teacher := nn.NewSequential(nn.NewLinear(32, 64), nn.NewTanh(), nn.NewLinear(64, 8)), tensor.Randn(32, 8)
	opt := optim.NewAdam(nn.Parameters(net), 0.02)
	scaler := amp.NewGradScaler(amp.ScalerEnabled(scale))
	logp := func(p amp.Policy, states *tensor.Tensor) (y *tensor.Tensor) {
		amp.Autocast(p, func() { y = net.Forward(states).MulScalar(4).LogSoftmax(1) })
		return y
	}
	for k := range steps {
		states := tensor.Randn(64, 32)
		var old *tensor.Tensor
		tensor.NoGrad(func() { old = logp(p.Accumulate(amp.Accumulation{DType: sums, Block: 16}), states) })
		drawn := old.Exp().Multinomial(1, true)
		right := states.MatMul(teacher).Argmax(1).Reshape(-1, 1).Eq(drawn).Float()
		now := logp(p, states)
		d := now.Detach().Double().Sub(old.Double())
		divergence += old.Double().Exp().Mul(d.Exp().SubScalar(1).Sub(d)).Sum(1).Mean().Item() / steps
		ratio := now.Gather(1, drawn).Sub(old.Gather(1, drawn)).Exp()
		scaler.Scale(ratio.Mul(right.Sub(right.Mean())).Mean().Neg().MulScalar(1e-6)).Backward()
		scaler.Step(opt)
		scaler.Update()
		opt.ZeroGrad()
		if k >= steps-steps/3 {
			reward += right.Mean().Item() / (steps / 3)
		}
	}
	return reward, divergence
}

// reinforcementClaims trains a policy in several dtypes.
func reinforcementClaims() []FormatClaim {
	near := FormatClaim{
		What: "float16 brings sampler and trainer of reinforcement learning nearer than bfloat16", Source: "arXiv 2510.26788", Claimed: "the KL divergence is about 24 times smaller", Quantity: "KL divergence",
	}
	learns := FormatClaim{What: "float16 needs the loss scaler again", Source: "arXiv 2510.26788", Claimed: "small gradients are lost without it", Quantity: "reward"}
	for _, v := range []struct {
		name  string
		p     amp.Policy
		sums  tensor.DType
		scale bool
	}{
		{"bfloat16", amp.BFloat16, tensor.BFloat16, false}, {"float16, scaler", amp.Float16, tensor.Float16, true}, {"float16, no scaler", amp.Float16, tensor.Float16, false},
		{"float32", amp.Off, tensor.Float32, false},
	} {
		seen := overAll(func() []float64 {
			reward, divergence := policyGradient(v.p, v.sums, v.scale)
			return []float64{divergence, reward}
		}, v.name, v.name)
		near.Seen, learns.Seen = append(near.Seen, seen[0]), append(learns.Seen, seen[1])
	}
	near.Verdict = verdict(near.Seen[1].Mean*8 < near.Seen[0].Mean)
	learns.Verdict = below(learns.Seen[2], learns.Seen[1])
	return []FormatClaim{near, learns}
}
