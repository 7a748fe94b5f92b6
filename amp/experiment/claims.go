package experiment

import (
	"fmt"
	"math"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
	"halfnote/tensor/quant"
)

// FormatClaim is a published claim about a number format, and what a small experiment shows.
type FormatClaim struct {
	What    string
	Source  string
	Claimed string
	Seen    []Measured
	Verdict string // "yes" if the experiment agrees with the claim, "no", or "too close to tell"
}

// Measured is a quantity over the seeds of an experiment.
type Measured struct {
	Name      string
	Mean, Std float64
}

// FormatClaimsReport is the result of [FormatClaims].
type FormatClaimsReport struct {
	Report
	Claims []FormatClaim
}

// claimSeeds is the number of seeds of each experiment.
const claimSeeds = 5

// over returns the mean and the spread of a quantity over the seeds.
func over(name string, of func() float64) Measured {
	var list []float64
	for seed := range claimSeeds {
		tensor.ManualSeed(int64(seed))
		list = append(list, of())
	}
	m := Measured{Name: name}
	for _, v := range list {
		m.Mean += v / claimSeeds
	}
	for _, v := range list {
		m.Std += (v - m.Mean) * (v - m.Mean) / (claimSeeds - 1)
	}
	m.Std = math.Sqrt(m.Std)
	return m
}

// below returns the verdict on the claim that a is smaller than b: their distance must be two standard errors.
func below(a, b Measured) string {
	switch apart := 2 * math.Sqrt((a.Std*a.Std+b.Std*b.Std)/claimSeeds); {
	case a.Mean < b.Mean-apart:
		return "yes"
	case a.Mean > b.Mean+apart:
		return "no"
	}
	return "too close to tell"
}

// verdict returns that of a condition.
func verdict(holds bool) string {
	if holds {
		return "yes"
	}
	return "no"
}

// FormatClaims tests published claims about formats of 4 to 16 bits on networks that train in a second, with five seeds each, and puts what is claimed next to what is
// seen. A claim about large models may fail on small ones, and the report says so. It leaves the default generator as it was.
func FormatClaims() *FormatClaimsReport {
	state := tensor.DefaultGenerator().State()
	defer tensor.DefaultGenerator().SetState(state)
	r := &FormatClaimsReport{Claims: []FormatClaim{decayClaim(), mxfp8Claim(), nvfp4Claim(), rotationClaim(), scaleClaim(), gradientClaim(), reinforcementClaim()}}
	r.Header = []string{"claim", "claimed", "seen here, mean and standard deviation", "agrees", "from"}
	holds := 0
	for _, c := range r.Claims {
		seen := ""
		for i, m := range c.Seen {
			if i > 0 {
				seen += "; "
			}
			seen += fmt.Sprintf("%s %.3g ± %.1g", m.Name, m.Mean, m.Std)
		}
		if c.Verdict == "yes" {
			holds++
		}
		r.row(c.What, c.Claimed, seen, c.Verdict, c.Source)
	}
	r.Says = fmt.Sprintf("%d of %d claims about narrow formats hold on small networks, with %d seeds each.", holds, len(r.Claims), claimSeeds)
	return r
}

// decayClaim shrinks weights by weight decay alone.
func decayClaim() FormatClaim {
	shrunk := func(d tensor.DType, options ...optim.Option) func() float64 {
		return func() float64 {
			w := tensor.Randn(1024).To(d).RequireGrad()
			before := w.Detach().Float().Norm().Item()
			opt := optim.NewAdamW([]*tensor.Tensor{w}, 1e-3, append(options, optim.WeightDecay(0.1))...)
			for range 200 {
				w.SetGrad(tensor.ZerosAs(d, 1024))
				opt.Step()
			}
			return w.Detach().Float().Norm().Item() / before
		}
	}
	c := FormatClaim{
		What: "Weight decay is lost in weights of bfloat16, and saved by stochastic rounding", Source: "llm.c pull request 772; torchao pull request 1124", Claimed: "a step of 1e-4 of the weight changes nothing",
		Seen: []Measured{over("float32 shrinks to", shrunk(tensor.Float32)), over("bfloat16 to", shrunk(tensor.BFloat16)), over("with stochastic rounding to", shrunk(tensor.BFloat16, optim.StochasticRounding()))},
	}
	c.Verdict = verdict(c.Seen[1].Mean == 1 && math.Abs(c.Seen[2].Mean-c.Seen[0].Mean) < 0.002)
	return c
}

// student trains a network on the results of another one, always on new data, and returns the mean loss of the last steps.
func student(p amp.Policy) float64 {
	teacher := nn.NewSequential(nn.NewLinear(32, 64), nn.NewTanh(), nn.NewLinear(64, 32))
	net := nn.NewSequential(nn.NewLinear(32, 64), nn.NewTanh(), nn.NewLinear(64, 64), nn.NewTanh(), nn.NewLinear(64, 32))
	opt := optim.NewAdam(nn.Parameters(net), 0.003)
	const steps, last = 60, 20
	total := 0.0
	for step := range steps {
		x := tensor.Randn(64, 32)
		var y, loss *tensor.Tensor
		tensor.NoGrad(func() { y = teacher.Forward(x).MulScalar(4) })
		amp.Autocast(p, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
		if step >= steps-last {
			total += loss.Item() / last
		}
	}
	return total
}

func mxfp8Claim() FormatClaim {
	c := FormatClaim{
		What: "MXFP8 trains as bfloat16 does", Source: "NVIDIA, Recipes for Pre-training LLMs with MXFP8, 2025", Claimed: "the same loss, within the spread",
		Seen: []Measured{over("loss in bfloat16", func() float64 { return student(amp.BFloat16) }), over("in MXFP8", func() float64 { return student(amp.MXFP8()) })},
	}
	c.Verdict = verdict(below(c.Seen[0], c.Seen[1]) != "yes")
	return c
}

func nvfp4Claim() FormatClaim {
	with := func(o amp.NVFP4Options) func() float64 {
		return func() float64 { return student(amp.NVFP4With(o)) }
	}
	c := FormatClaim{
		What: "NVFP4 needs the Hadamard transform and stochastic rounding", Source: "arXiv 2509.25149", Claimed: "without either the loss is higher",
		Seen: []Measured{
			over("loss with both", with(amp.NVFP4Options{})), over("without the transform", with(amp.NVFP4Options{DisableRHT: true})),
			over("without stochastic rounding", with(amp.NVFP4Options{DisableStochasticRounding: true})),
			over("without both", with(amp.NVFP4Options{DisableRHT: true, DisableStochasticRounding: true})),
		},
	}
	c.Verdict = below(c.Seen[0], c.Seen[1])
	if other := below(c.Seen[0], c.Seen[2]); other != "yes" {
		c.Verdict = other
	}
	return c
}

func rotationClaim() FormatClaim {
	gain := func(s quant.Scheme) func() float64 {
		return func() float64 { // numbers with a Laplace distribution
			x := tensor.Rand(256, 256).ClampMin(1e-30).Log().Sub(tensor.Rand(256, 256).ClampMin(1e-30).Log())
			return quant.Measure(quant.Hadamard(x, 16), s).Error() / quant.Measure(x, s).Error()
		}
	}
	c := FormatClaim{
		What: "A Hadamard transform helps MXFP4 and hurts NVFP4, both rounded to nearest", Source: "Egiazarian and others, FP-Quant, 2025", Claimed: "the error falls in one and rises in the other",
		Seen: []Measured{over("error of MXFP4 times", gain(quant.MXFP4)), over("of NVFP4 times", gain(quant.NVFP4{}))},
	}
	c.Verdict = verdict(c.Seen[0].Mean < 1 && c.Seen[1].Mean > 1)
	return c
}

func scaleClaim() FormatClaim {
	lost := func(m quant.ScaleMode) func() float64 {
		return func() float64 {
			return quant.Measure(tensor.Randn(256, 256), quant.MX{Element: quant.E4M3FN, Mode: m}).Error()
		}
	}
	c := FormatClaim{What: "MXFP8's scales should be rounded up", Source: "NVIDIA, Recipes for Pre-training LLMs with MXFP8, 2025", Claimed: "rounding down saturates and loses more"}
	for _, m := range []quant.ScaleMode{quant.Floor, quant.Even, quant.Ceil, quant.RCeil} {
		c.Seen = append(c.Seen, over("error with "+m.String(), lost(m)))
	}
	c.Verdict = below(c.Seen[3], c.Seen[0])
	return c
}

func gradientClaim() FormatClaim {
	lost := func(s quant.Scheme) func() float64 {
		return func() float64 {
			net := nn.NewSequential(nn.NewLinear(64, 128), nn.NewTanh(), nn.NewLinear(128, 32))
			x := tensor.Randn(64, 64)
			h := net.Modules[0].Forward(x)
			var m quant.Stats
			h.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
				m = quant.Measure(g, s)
				return nil
			})
			nn.MSELoss(net.Modules[2].Forward(h.Tanh()), tensor.Randn(64, 32)).Backward()
			return m.Error()
		}
	}
	e4m3, e5m2 := quant.MX{Element: quant.E4M3FN, Mode: quant.RCeil}, quant.MX{Element: quant.E5M2, Mode: quant.RCeil}
	c := FormatClaim{
		What: "With block scales gradients are better in E4M3 than in E5M2", Source: "DeepSeek-V3, arXiv 2412.19437; NVIDIA, MXFP8 recipes, 2025", Claimed: "blocks supply the range; the mantissa decides",
		Seen: []Measured{over("error of a gradient in E4M3", lost(e4m3)), over("in E5M2", lost(e5m2))},
	}
	c.Verdict = below(c.Seen[0], c.Seen[1])
	return c
}

func reinforcementClaim() FormatClaim {
	apart := func(p amp.Policy, sums tensor.DType) func() float64 {
		return func() float64 {
			net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewTanh(), nn.NewLinear(64, 32))
			states := tensor.Randn(64, 64)
			logits := func(p amp.Policy) (y *tensor.Tensor) {
				tensor.NoGrad(func() {
					amp.Autocast(p, func() { y = net.Forward(states).MulScalar(4).LogSoftmax(1) })
				})
				return y.Double()
			}
			sampler, trainer := logits(p.Accumulate(amp.Accumulation{DType: sums, Block: 16})), logits(p)
			d := trainer.Sub(sampler)
			return sampler.Exp().Mul(d.Exp().SubScalar(1).Sub(d)).Sum(1).Mean().Item()
		}
	}
	c := FormatClaim{
		What: "float16 brings sampler and trainer of reinforcement learning nearer than bfloat16", Source: "arXiv 2510.26788", Claimed: "the KL divergence is about 24 times smaller",
		Seen: []Measured{over("KL in bfloat16", apart(amp.BFloat16, tensor.BFloat16)), over("in float16", apart(amp.Float16, tensor.Float16)), over("in bfloat16 if only the order of float32 sums differs", apart(amp.BFloat16, tensor.Float32))},
	}
	c.Verdict = verdict(c.Seen[1].Mean*8 < c.Seen[0].Mean)
	return c
}
