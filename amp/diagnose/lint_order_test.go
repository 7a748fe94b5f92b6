package diagnose_test

import (
	"math"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// Mistakes in the order of calls.
var mistakesOfOrder = []mistake{
	{code: "backward-inside", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			loss := b.cast(b.mse)
			if bad {
				b.cast(func() *tensor.Tensor { b.scaler.Scale(loss).Backward(); return nil })
			} else {
				b.scaler.Scale(loss).Backward()
			}
			b.update()
		}
	}},
	{code: "clip-before-unscale", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if !bad {
				b.scaler.Unscale(b.opt)
			}
			nn.ClipGradNorm(nn.Parameters(b.net), 0.1)
			b.update()
		}
	}},
	{code: "eval-in-training", step: func(b *bench, bad bool, layer int) func() {
		b.inserted(layer, nn.NewDropout(0.1))
		if bad {
			nn.Eval(b.net)
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "freed-graph", step: func(b *bench, bad bool, _ int) func() {
		state := tensor.Zeros(width, width)
		return func() {
			if !bad {
				state = state.Detach()
			}
			b.learn(b.cast(func() *tensor.Tensor {
				state = b.net.Forward(b.x.Add(state)).Tanh()
				return nn.MSELoss(state, b.y)
			}))
		}
	}},
	{code: "ignored-skips", step: func(b *bench, bad bool, layer int) func() {
		return func() {
			for i := range 3 {
				b.scaler.Scale(b.cast(b.mse)).Backward()
				if bad || i == 1 {
					p := nn.Parameters(b.net)[2*layer]
					p.SetGrad(p.Grad().MulScalar(math.Inf(1)))
				}
				b.update()
			}
		}
	}},
	{code: "kept-graph", step: func(b *bench, bad bool, _ int) func() {
		total := tensor.Scalar(0)
		return func() {
			loss := b.cast(b.mse)
			b.learn(loss)
			if !bad {
				loss = loss.Detach()
			}
			total = total.Add(loss)
		}
	}},
	{code: "leftover-gradients", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(b.mse))
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if !bad {
				b.update()
			} else if b.scaler.GrowthTracker() < 2 {
				b.opt.ZeroGrad()
			}
		}
	}},
	{code: "missing-scale", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			loss := b.cast(b.mse)
			if !bad {
				loss = b.scaler.Scale(loss)
			}
			loss.Backward()
			b.update()
		}
	}},
	{code: "missing-update", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Step(b.opt)
			if !bad {
				b.scaler.Update()
			}
			b.opt.ZeroGrad()
		}
	}},
	{code: "missing-zero-grad", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Step(b.opt)
			b.scaler.Update()
			if !bad {
				b.opt.ZeroGrad()
			}
		}
	}},
	{code: "needless-scaler", step: func(b *bench, bad bool, _ int) func() {
		b.policy = amp.BFloat16
		b.scaler = amp.NewGradScaler(amp.ScalerEnabled(bad))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "no-gradients", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			if !bad {
				b.opt.ZeroGrad()
			}
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if bad {
				b.opt.ZeroGrad()
			}
			b.scaler.Step(b.opt)
			b.scaler.Update()
		}
	}},
	{code: "no-scaler", step: func(b *bench, bad bool, _ int) func() {
		b.scaler = amp.NewGradScaler(amp.ScalerEnabled(!bad))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "scale-below-1", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			b.scaler = amp.NewGradScaler(amp.InitScale(0.5))
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "scaler-per-step", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			if bad {
				b.scaler = amp.NewGradScaler()
			}
			b.learn(b.cast(b.mse))
		}
	}},
	{code: "scheduler-on-skip", step: func(b *bench, bad bool, layer int) func() {
		schedule := optim.NewStepLR(b.opt, 2, 0.5)
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			p := nn.Parameters(b.net)[2*layer]
			p.SetGrad(p.Grad().MulScalar(math.Inf(1)))
			result := b.scaler.Step(b.opt)
			b.scaler.Update()
			b.opt.ZeroGrad()
			if bad || !result.Skipped {
				schedule.Step()
			}
		}
	}},
	{code: "step-past-scaler", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if bad {
				b.opt.Step()
				b.opt.ZeroGrad()
			} else {
				b.update()
			}
		}
	}},
	{code: "train-in-inference", placed: true, step: func(b *bench, bad bool, layer int) func() {
		b.inserted(layer, nn.NewDropout(0.1))
		return func() {
			b.learn(b.cast(b.mse))
			if !bad {
				nn.Eval(b.net)
			}
			tensor.NoGrad(func() { b.cast(b.mse) })
			nn.Train(b.net)
		}
	}},
	{code: "unscale-in-accumulation", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse).MulScalar(0.5)).Backward()
			if bad {
				b.scaler.Unscale(b.opt)
			}
			b.scaler.Scale(b.cast(b.mse).MulScalar(0.5)).Backward()
			if !bad {
				b.scaler.Unscale(b.opt)
			}
			nn.ClipGradNorm(nn.Parameters(b.net), 1)
			b.update()
		}
	}},
	{code: "unscale-twice", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			b.scaler.Unscale(b.opt)
			if bad {
				b.scaler.Unscale(b.opt)
			}
			b.update()
		}
	}},
	{code: "update-without-step", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.scaler.Scale(b.cast(b.mse)).Backward()
			if !bad {
				b.scaler.Step(b.opt)
			}
			b.scaler.Update()
			b.opt.ZeroGrad()
		}
	}},
}
