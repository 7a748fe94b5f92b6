package diagnose_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// The recipes of the documentation are right, and so are the loops of the tutorials:
// there is nothing to find in them.
func TestLintClean(t *testing.T) {
	recipes := []struct {
		name string
		step func(b *bench) func()
	}{
		{"float32", func(b *bench) func() {
			b.policy, b.scaler = amp.Off, amp.NewGradScaler(amp.Enabled(false))
			return func() { b.learn(b.cast(b.mse)) }
		}},
		{"scaled", func(b *bench) func() {
			return func() { b.learn(b.cast(b.mse)) }
		}},
		{"default scale", func(b *bench) func() {
			b.scaler = amp.NewGradScaler()
			return func() { b.learn(b.cast(b.mse)) }
		}},
		{"bfloat16", func(b *bench) func() {
			b.policy = amp.BFloat16
			return func() {
				b.opt.ZeroGrad()
				b.cast(b.mse).Backward()
				b.opt.Step()
			}
		}},
		{"an epoch", func(b *bench) func() {
			return func() {
				total := 0.0
				for range 3 {
					loss := b.cast(b.mse)
					b.learn(loss)
					total += loss.Item()
				}
			}
		}},
		{"several losses and optimizers", func(b *bench) func() {
			other := newBench()
			return func() {
				var one, two *tensor.Tensor
				b.cast(func() *tensor.Tensor {
					x, y := b.net.Forward(b.x), other.net.Forward(b.x)
					one = nn.MSELoss(x.Scale(2).Add(y.Scale(3)), b.y)
					two = nn.MSELoss(x.Scale(3).Sub(y.Scale(5)), b.y)
					return nil
				})
				b.scaler.Scale(one).BackwardWith(tensor.BackwardOptions{RetainGraph: true})
				b.scaler.Scale(two).Backward()
				b.scaler.Unscale(b.opt)
				nn.ClipGradNorm(nn.Parameters(b.net), 1)
				b.scaler.Step(b.opt)
				b.scaler.Step(other.opt)
				b.scaler.Update()
				b.opt.ZeroGrad()
				other.opt.ZeroGrad()
			}
		}},
		{"accumulation", func(b *bench) func() {
			return func() {
				for range 4 {
					b.scaler.Scale(b.cast(b.mse).Scale(0.25)).Backward()
				}
				b.scaler.Unscale(b.opt)
				nn.ClipGradNorm(nn.Parameters(b.net), 0.1)
				b.update()
			}
		}},
		{"accumulation over calls", func(b *bench) func() {
			i := 0
			return func() {
				b.scaler.Scale(b.cast(b.mse).Scale(0.5)).Backward()
				if i++; i%2 == 0 {
					b.update()
				}
			}
		}},
		{"clipping of scaled gradients", func(b *bench) func() {
			return func() {
				b.scaler.Scale(b.cast(b.mse)).Backward()
				nn.ClipGradNorm(nn.Parameters(b.net), 0.1*b.scaler.CurrentScale())
				b.update()
			}
		}},
		{"penalty", func(b *bench) func() {
			return func() {
				loss := b.cast(b.mse)
				grads := tensor.GradGraph(b.scaler.Scale(loss), nn.Parameters(b.net)...)
				inverse := 1 / b.scaler.CurrentScale()
				loss = b.cast(func() *tensor.Tensor {
					total := tensor.Scalar(0)
					for _, g := range grads {
						total = total.Add(g.Scale(inverse).Pow(2).Sum())
					}
					return loss.Add(total.Sqrt())
				})
				b.learn(loss)
			}
		}},
		{"inference", func(b *bench) func() {
			b.inserted(1, nn.NewDropout(0.1))
			nn.Eval(b.net)
			return func() {
				tensor.NoGrad(func() { b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) }) })
			}
		}},
		{"training and validation", func(b *bench) func() {
			b.inserted(1, nn.NewDropout(0.1))
			return func() {
				nn.Train(b.net)
				b.learn(b.cast(b.mse))
				nn.Eval(b.net)
				tensor.NoGrad(func() { b.cast(b.mse).Item() })
			}
		}},
		{"scheduler", func(b *bench) func() {
			schedule := optim.NewSequentialLR([]*optim.Scheduler{optim.NewLinearLR(b.opt, 0.1, 1, 5), optim.NewCosineAnnealingLR(b.opt, 20, 0)}, []int{5})
			return func() {
				b.scaler.Scale(b.cast(b.mse)).Backward()
				result := b.scaler.Step(b.opt)
				b.scaler.Update()
				b.opt.ZeroGrad()
				if !result.Skipped {
					schedule.Step()
				}
			}
		}},
		{"an adversarial pair", func(b *bench) func() {
			judge := newBench()
			return func() {
				fake := b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) })
				judge.opt.ZeroGrad()
				b.scaler.Scale(b.cast(func() *tensor.Tensor {
					return nn.MSELoss(judge.net.Forward(b.y), b.y).Add(nn.MSELoss(judge.net.Forward(fake.Detach()), b.x))
				})).Backward()
				b.scaler.Step(judge.opt)
				b.opt.ZeroGrad()
				b.scaler.Scale(b.cast(func() *tensor.Tensor { return nn.MSELoss(judge.net.Forward(fake), b.y) })).Backward()
				b.scaler.Step(b.opt)
				b.scaler.Update()
			}
		}},
		{"a layer that is meant to be float32", func(b *bench) func() {
			l := b.net.Modules[4]
			b.net.Modules[4] = module(func(x *tensor.Tensor) (y *tensor.Tensor) {
				amp.Autocast(amp.Off, func() { y = l.Forward(x.Float()) })
				return y
			})
			return func() { b.learn(b.cast(b.mse)) }
		}},
		{"a total that is detached", func(b *bench) func() {
			total := tensor.Scalar(0)
			return func() {
				loss := b.cast(b.mse)
				b.learn(loss)
				total = total.Add(loss.Detach())
			}
		}},
	}
	for _, tt := range recipes {
		t.Run(tt.name, func(t *testing.T) {
			tensor.ManualSeed(1)
			b := newBench()
			if report := diagnose.Lint(b.net, tt.step(b)); !report.Clean() || report.Operations == 0 {
				t.Errorf("%v", report)
			}
		})
	}
}

func TestLintCleanModels(t *testing.T) {
	tensor.ManualSeed(2)
	scaler := amp.NewGradScaler(amp.InitScale(256))
	learn := func(opt *optim.Optimizer, forward func() *tensor.Tensor) func() {
		return func() {
			opt.ZeroGrad()
			var loss *tensor.Tensor
			amp.Autocast(amp.Float16, func() { loss = forward() })
			scaler.Scale(loss).Backward()
			scaler.Unscale(opt)
			nn.ClipGradNorm(opt.Params(), 1)
			scaler.Step(opt)
			scaler.Update()
		}
	}
	t.Run("bert", func(t *testing.T) {
		c := models.BERTConfig{Vocabulary: 100, Hidden: 64, Layers: 2, Heads: 4, Intermediate: 128, Positions: 32, Types: 2, Dropout: 0.1}
		net := models.NewBERTClassifier(c, 1)
		ids, labels := tensor.Randint(1, 100, 8, 16), tensor.Bernoulli(0.5, 8)
		mask := tensor.Ones(8, 16)
		step := learn(optim.NewAdamW(nn.Parameters(net), 2e-5), func() *tensor.Tensor {
			return nn.BinaryCrossEntropyWithLogits(net.Run(models.BERTInput{IDs: ids, Mask: mask}).Squeeze(1), labels)
		})
		if report := diagnose.Lint(net, step); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
	t.Run("resnet", func(t *testing.T) {
		net := models.CIFARResNet(8, models.ResNetOptions{})
		x, y := tensor.Randn(4, 3, 32, 32), tensor.Randint(0, 10, 4)
		step := learn(optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9)), func() *tensor.Tensor { return nn.CrossEntropy(net.Forward(x), y) })
		if report := diagnose.Lint(net, step); !report.Clean() {
			t.Errorf("%v", report)
		}
	})
}
