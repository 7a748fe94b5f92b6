package experiment

import (
	"math"

	"halfnote/amp/fp8"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
	"halfnote/tensor/quant"
)

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
		Quantity: "part of the norm that is left",
		Seen: []Measured{
			over("float32", shrunk(tensor.Float32)), over("bfloat16", shrunk(tensor.BFloat16)),
			over("stochastic rounding", shrunk(tensor.BFloat16, optim.StochasticRounding())), over("Kahan's sum", shrunk(tensor.BFloat16, optim.KahanSum())),
		},
	}
	c.Verdict = verdict(c.Seen[1].Mean == 1 && math.Abs(c.Seen[2].Mean-c.Seen[0].Mean) < 0.002)
	return c
}

// laplace returns numbers (n, n) with a Laplace distribution.
func laplace(n int) *tensor.Tensor {
	return tensor.Rand(n, n).ClampMin(1e-30).Log().Sub(tensor.Rand(n, n).ClampMin(1e-30).Log())
}

// rotationClaim rounds numbers before and after a Hadamard transform.
func rotationClaim() FormatClaim {
	lost := func(s quant.Scheme, size int) func() float64 {
		return func() float64 {
			x := laplace(256)
			if size > 0 {
				x = quant.Hadamard(x, size)
			}
			return quant.Measure(x, s).Error()
		}
	}
	c := FormatClaim{
		What: "A Hadamard transform helps MXFP4 and hurts NVFP4, both rounded to nearest", Source: "Egiazarian and others, FP-Quant, 2025", Claimed: "the error falls in one and rises in the other",
		Quantity: "error of numbers with a Laplace distribution",
		Seen: []Measured{
			over("MXFP4", lost(quant.MXFP4, 0)), over("MXFP4, transformed", lost(quant.MXFP4, 32)), over("NVFP4", lost(quant.NVFP4{}, 0)), over("NVFP4, transformed", lost(quant.NVFP4{}, 16)),
		},
	}
	c.Verdict = weakest(below(c.Seen[1], c.Seen[0]), below(c.Seen[2], c.Seen[3]))
	return c
}

// scaleClaim rounds normal numbers with the four rules for scales.
func scaleClaim() FormatClaim {
	lost := func(m quant.ScaleMode) func() float64 {
		return func() float64 {
			return quant.Measure(tensor.Randn(256, 256), quant.MX{Element: quant.E4M3FN, Mode: m}).Error()
		}
	}
	c := FormatClaim{
		What: "MXFP8's scales should be rounded up", Source: "NVIDIA, Recipes for Pre-training LLMs with MXFP8, 2025", Claimed: "rounding down saturates and loses more", Quantity: "error of normal numbers",
	}
	for _, m := range []quant.ScaleMode{quant.Floor, quant.Even, quant.Ceil, quant.RCeil} {
		c.Seen = append(c.Seen, over(m.String(), lost(m)))
	}
	c.Verdict = below(c.Seen[3], c.Seen[0])
	return c
}

// gradientClaim rounds the gradient of a hidden layer.
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
		Quantity: "error of a gradient", Seen: []Measured{over("E4M3", lost(e4m3)), over("E5M2", lost(e5m2))},
	}
	c.Verdict = below(c.Seen[0], c.Seen[1])
	return c
}

// spikeClaim gives a layer batches of which one is a hundred times as large as the others.
func spikeClaim() FormatClaim {
	const spike = 8
	lost := func(r fp8.Recipe, step int) func() float64 {
		return func() (off float64) {
			layer := nn.NewLinear(64, 64, nn.Bias(false))
			scaler := fp8.New(r, layer)
			for k := range step + 1 {
				x := tensor.Randn(64, 64)
				if k == spike {
					x = x.MulScalar(100)
				}
				var y *tensor.Tensor
				scaler.Autocast(func() { y = layer.Forward(x) })
				exact := x.Double().MM(layer.Weight.Detach().Double().T())
				off = y.Detach().Double().Sub(exact).Norm().Item() / exact.Norm().Item()
			}
			return off
		}
	}
	c := FormatClaim{
		What: "When an input jumps, delayed scaling saturates and current scaling does not", Source: "DeepSeek-V3, arXiv 2412.19437, section 3.3.2; Transformer Engine's recipes", Claimed: "scales of the past do not fit a jump of the present",
		Quantity: "error of a product",
		Seen: []Measured{
			over("delayed, step of the jump", lost(fp8.DelayedScaling{}, spike)), over("current, step of the jump", lost(fp8.CurrentScaling{}, spike)),
			over("delayed, step after it", lost(fp8.DelayedScaling{}, spike+1)), over("current, step after it", lost(fp8.CurrentScaling{}, spike+1)),
		},
	}
	c.Verdict = below(c.Seen[1], c.Seen[0])
	return c
}

// muonClaim computes Muon's directions for gradients whose singular values decrease, as those of layers do.
func muonClaim() FormatClaim {
	direction := func(g *tensor.Tensor, d tensor.DType) *tensor.Tensor {
		w := tensor.ZerosAs(tensor.Float64, g.Shape()...).RequireGrad()
		w.SetGrad(g.Double())
		optim.NewMuon([]*tensor.Tensor{w}, 1, optim.Momentum(0), optim.PlainMomentum(), optim.WeightDecay(0), optim.NSDType(d)).Step()
		return w.Detach().Neg()
	}
	lost := func(d tensor.DType, largest bool) func() float64 {
		return func() (off float64) {
			const matrices, rows, cols = 16, 48, 64
			for range matrices {
				g := tensor.Randn(rows, rows).Div(tensor.Arange(1, rows+1).Float()).MM(tensor.Randn(rows, cols))
				exact := direction(g, tensor.Float64)
				e := direction(g, d).Sub(exact)
				size := math.Sqrt(rows * cols)
				typical := exact.Norm().Item() / size
				if largest {
					off = max(off, e.Abs().Amax().Item()/typical)
				} else {
					off += e.Norm().Item() / size / typical / matrices
				}
			}
			return off
		}
	}
	c := FormatClaim{
		What: "Newton-Schulz steps in bfloat16 give Muon outliers, and float16 cures them", Source: "Step 3.5 Flash, arXiv 2602.10604; NeMo pull request 228", Claimed: "rare large errors in bfloat16, none in float16",
		Quantity: "error of a direction, relative to its root mean square",
		Seen: []Measured{
			over("bfloat16, largest", lost(tensor.BFloat16, true)), over("bfloat16, typical", lost(tensor.BFloat16, false)), over("float16, largest", lost(tensor.Float16, true)),
			over("float16, typical", lost(tensor.Float16, false)), over("float32, largest", lost(tensor.Float32, true)),
		},
	}
	c.Verdict = below(c.Seen[2], c.Seen[0])
	return c
}
