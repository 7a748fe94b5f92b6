package diagnose_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// loops are training loops, right and wrong, with exactly the findings that they must have. What each call must remember from the calls
// before it is the subject: Update and Step end nothing that they do not concern.
var loops = []struct {
	name string
	step func(b *bench) func()
	want []string
}{
	// Accumulation.
	{"unscaled in each part, with Update", func(b *bench) func() {
		return func() {
			for i := range 4 {
				b.scaler.Scale(b.cast(b.mse).DivScalar(4)).Backward()
				b.scaler.Unscale(b.opt)
				nn.ClipGradNorm(nn.Parameters(b.net), 1)
				if i == 3 {
					b.scaler.Step(b.opt)
				}
				b.scaler.Update()
			}
			b.opt.ZeroGrad()
		}
	}, []string{"unscale-in-accumulation"}},
	{"unscaled in the first part, with Update", func(b *bench) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse).DivScalar(2)).Backward()
			b.scaler.Unscale(b.opt)
			b.scaler.Update()
			b.learn(b.cast(b.mse).DivScalar(2))
		}
	}, []string{"unscale-in-accumulation"}},
	{"unscaled after the last part", func(b *bench) func() {
		return func() {
			for range 4 {
				b.scaler.Scale(b.cast(b.mse).DivScalar(4)).Backward()
			}
			b.scaler.Unscale(b.opt)
			nn.ClipGradNorm(nn.Parameters(b.net), 1)
			b.update()
		}
	}, nil},
	{"a batch that is unscaled, looked at and dropped", func(b *bench) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Unscale(b.opt)
			b.scaler.Update()
			b.opt.ZeroGrad()
			b.learn(b.cast(b.mse))
		}
	}, nil},
	{"a batch whose gradients are dropped to nil", func(b *bench) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Unscale(b.opt)
			b.scaler.Update()
			nn.ZeroGrad(b.net)
			b.learn(b.cast(b.mse))
		}
	}, nil},
	{"a step by hand on unscaled gradients", func(b *bench) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Unscale(b.opt)
			b.opt.Step()
			b.scaler.Update()
			b.opt.ZeroGrad()
		}
	}, nil},
	{"the same in two parts", func(b *bench) func() {
		return func() {
			for range 2 {
				b.scaler.Scale(b.cast(b.mse).DivScalar(2)).Backward()
				b.scaler.Unscale(b.opt)
				b.scaler.Update()
			}
			b.opt.Step()
			b.opt.ZeroGrad()
		}
	}, []string{"unscale-in-accumulation"}},

	// Several optimizers.
	{"Update before the second optimizer steps by itself", twoOptimizers(func(b, other *bench) {
		b.scaler.Step(b.opt)
		b.scaler.Update()
		other.opt.Step()
	}), []string{"step-past-scaler"}},
	{"Update before the second optimizer's gradients are clipped", twoOptimizers(func(b, other *bench) {
		b.scaler.Step(b.opt)
		b.scaler.Update()
		nn.ClipGradNorm(nn.Parameters(other.net), 1e-3)
	}), []string{"clip-before-unscale"}},
	{"the first is unscaled, the second clipped", twoOptimizers(func(b, other *bench) {
		b.scaler.Unscale(b.opt)
		nn.ClipGradNorm(nn.Parameters(other.net), 1e-3)
		b.scaler.Step(b.opt)
		b.scaler.Step(other.opt)
		b.scaler.Update()
	}), []string{"clip-before-unscale"}},
	{"both step before Update", twoOptimizers(func(b, other *bench) {
		b.scaler.Unscale(b.opt)
		nn.ClipGradNorm(nn.Parameters(b.net), 1e-3)
		b.scaler.Unscale(other.opt)
		nn.ClipGradNorm(nn.Parameters(other.net), 1e-3)
		b.scaler.Step(b.opt)
		b.scaler.Step(other.opt)
		b.scaler.Update()
	}), nil},
	{"one of two networks is in float32, without a scaler", func(b *bench) func() {
		other := newBench()
		return func() {
			b.learn(b.cast(b.mse))
			other.mse().Backward()
			other.opt.Step()
			other.opt.ZeroGrad()
		}
	}, []string{"forward-outside"}},
	{"the two take turns inside a step", func(b *bench) func() {
		other := newBench()
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			other.mse().Backward()
			nn.ClipGradNorm(nn.Parameters(other.net), 1e-3)
			other.opt.Step()
			other.opt.ZeroGrad()
			b.update()
		}
	}, []string{"forward-outside"}},

	// Averages.
	{"an EMA of weights in float32", func(b *bench) func() {
		ema := optim.NewEMA(nn.Parameters(b.net), 0.999)
		return func() {
			b.learn(b.cast(b.mse))
			ema.Update()
		}
	}, nil},
	{"an EMA of weights in half precision", averaged(func(ema, p *tensor.Tensor) { ema.LerpAssign(p.Half(), 1e-3) }), []string{"average-in-half"}},
	{"an EMA out of place", averaged(func(ema, p *tensor.Tensor) { ema.Assign(ema.Lerp(p.Half(), 1e-3)) }), []string{"average-in-half"}},
	{"an EMA by mul_ and add_", averaged(func(ema, p *tensor.Tensor) { ema.MulScalarAssign(0.9995).AddScaledAssign(p.Half(), 5e-4) }), []string{"average-in-half"}},
	{"an EMA by products", averaged(func(ema, p *tensor.Tensor) {
		ema.Assign(ema.MulScalar(0.9995).Add(p.Half().MulScalar(5e-4)))
	}), []string{"average-in-half"}},
	{"an EMA after a step without a scaler", func(b *bench) func() {
		b.policy = amp.BFloat16
		p := nn.Parameters(b.net)[0]
		ema := p.Detach().MulScalar(0.9).AddScalar(1e-3).BFloat16()
		return func() {
			b.opt.ZeroGrad()
			b.cast(b.mse).Backward()
			b.opt.Step()
			tensor.NoGrad(func() { ema.LerpAssign(p.Detach().BFloat16(), 1e-3) })
		}
	}, []string{"average-in-half"}},
	{"an EMA with a small decay, which moves", averaged(func(ema, p *tensor.Tensor) { ema.LerpAssign(p.Half(), 0.5) }), nil},
	{"an EMA that is where it should be", func(b *bench) func() {
		mean := tensor.Randn(64).Half()
		target := mean.Clone()
		return func() {
			b.learn(b.cast(b.mse))
			mean.LerpAssign(target, 1e-3)
		}
	}, nil},

	// State.
	{"a checkpoint of Adam, loaded", func(b *bench) func() {
		b.opt = optim.NewAdam(nn.Parameters(b.net), 1e-4)
		return func() {
			b.learn(b.cast(b.mse))
			if err := b.opt.LoadStateDict(b.opt.StateDict()); err != nil {
				panic(err)
			}
			b.learn(b.cast(b.mse))
		}
	}, nil},
	{"a checkpoint of Adam, loaded into half precision", func(b *bench) func() {
		b.policy = amp.BFloat16
		b.opt = optim.NewAdam(nn.Parameters(b.net), 1e-4)
		saved := func() map[string]any {
			b.cast(b.mse).Backward()
			b.opt.Step()
			b.opt.ZeroGrad()
			return b.opt.StateDict()
		}()
		nn.ToDType(b.net, tensor.BFloat16)
		b.opt = optim.NewAdam(nn.Parameters(b.net), 1e-4)
		if err := b.opt.LoadStateDict(saved); err != nil {
			panic(err)
		}
		return func() {
			b.cast(b.mse).Backward()
			b.opt.Step()
			b.opt.ZeroGrad()
		}
	}, []string{"half-parameters", "half-state"}},

	// Masks.
	{"a causal mask", masked(func(m *tensor.Tensor) {}), nil},
	{"a mask with one full row", masked(func(m *tensor.Tensor) { m.Select(0, 5).Fill(1) }), []string{"loss-not-finite", "masked-row"}},
	{"a full row in attention, whose result is 0", func(b *bench) func() {
		keep := tensor.Ones(width, width).Tril(0).To(tensor.Bool)
		tensor.NoGrad(func() { keep.Select(0, 5).Fill(0) })
		b.inserted(1, module(func(x *tensor.Tensor) *tensor.Tensor {
			x = x.Unsqueeze(0)
			return nn.ScaledDotProductAttention(x, x, x, nn.AttnMask(keep)).Squeeze(0)
		}))
		return func() { b.learn(b.cast(b.mse)) }
	}, nil},
}

// twoOptimizers returns a loop with two networks whose losses one scaler scales.
func twoOptimizers(end func(b, other *bench)) func(b *bench) func() {
	return func(b *bench) func() {
		other := newBench()
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Scale(b.cast(other.mse)).Backward()
			end(b, other)
			b.opt.ZeroGrad()
			other.opt.ZeroGrad()
		}
	}
}

// averaged returns a loop with an average in half precision of the first weight, which the weight has left by a tenth.
func averaged(update func(ema, p *tensor.Tensor)) func(b *bench) func() {
	return func(b *bench) func() {
		p := nn.Parameters(b.net)[0]
		ema := p.Detach().MulScalar(0.9).AddScalar(1e-3).Half()
		return func() {
			b.learn(b.cast(b.mse))
			tensor.NoGrad(func() { update(ema, p.Detach()) })
		}
	}
}

// masked returns a loop with attention by hand and a causal mask, in which some elements more are 1.
func masked(more func(m *tensor.Tensor)) func(b *bench) func() {
	return func(b *bench) func() {
		m := tensor.Ones(width, width).Triu(1)
		more(m)
		mask := m.To(tensor.Bool)
		b.inserted(1, module(func(x *tensor.Tensor) *tensor.Tensor {
			return x.MatMul(x.T()).MulScalar(0.1).MaskedFill(mask, math.Inf(-1)).Softmax(-1).MatMul(x)
		}))
		return func() { b.learn(b.cast(b.mse)) }
	}
}

// TestLintLoops checks that each loop has its findings and no others.
func TestLintLoops(t *testing.T) {
	for _, tt := range loops {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range int64(2) {
				tensor.ManualSeed(seed)
				b := newBench()
				report := diagnose.Lint(b.net, tt.step(b))
				got := report.Codes()
				if slices.Sort(got); !slices.Equal(got, tt.want) {
					t.Errorf("seed %d: got %q, want %q\n%v", seed, got, tt.want, report)
				}
				if slices.Contains(tt.want, "masked-row") && !strings.Contains(report.String(), "row [5, :] of the operand of softmax, (64, 64), are -inf: the result is NaN") {
					t.Errorf("got a report without the row: %v", report)
				}
				if slices.Contains(tt.want, "half-state") && !strings.Contains(report.String(), "exp_avg and exp_avg_sq of 0.weight in half precision") {
					t.Errorf("got a report without the state: %v", report)
				}
			}
		})
	}
}
