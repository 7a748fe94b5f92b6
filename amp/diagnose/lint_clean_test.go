package diagnose_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/amp/diagnose"
	"halfnote/internal/testenv"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
	"halfnote/tensor/optim"
)

// TestLintClean checks that the recipes of the documentation and the loops of the tutorials have no
// findings.
func TestLintClean(t *testing.T) {
	recipes := []struct {
		name string
		step func(b *bench) func()
	}{
		{"float32", func(b *bench) func() {
			b.policy, b.scaler = amp.Off, amp.NewGradScaler(amp.ScalerEnabled(false))
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
					one = nn.MSELoss(x.MulScalar(2).Add(y.MulScalar(3)), b.y)
					two = nn.MSELoss(x.MulScalar(3).Sub(y.MulScalar(5)), b.y)
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
					b.scaler.Scale(b.cast(b.mse).MulScalar(0.25)).Backward()
				}
				b.scaler.Unscale(b.opt)
				nn.ClipGradNorm(nn.Parameters(b.net), 0.1)
				b.update()
			}
		}},
		{"accumulation over calls", func(b *bench) func() {
			i := 0
			return func() {
				b.scaler.Scale(b.cast(b.mse).MulScalar(0.5)).Backward()
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
						total = total.Add(g.MulScalar(inverse).Pow(2).Sum())
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
		{"a region without a closure", func(b *bench) func() {
			return func() {
				r := b.policy.Enter()
				loss := b.mse()
				r.Exit()
				b.learn(loss)
			}
		}},
		{"checkpoints", func(b *bench) func() {
			b.inserted(1, nn.NewDropout(0.1))
			return func() {
				b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(nn.CheckpointSequential(b.net, 3, b.x), b.y) }))
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

// TestLintApex checks that loops with Apex have no findings at the levels with float32 weights, and the
// findings of pure float16 at O3.
func TestLintApex(t *testing.T) {
	for _, name := range []string{"O0", "O1", "O2", "O3"} {
		t.Run(name, func(t *testing.T) {
			tensor.ManualSeed(3)
			b := newBench()
			net, opt := apex.Initialize(b.net, b.opt, apex.Level(name).Verbosity(0))
			report := diagnose.Lint(b.net, func() {
				loss := nn.MSELoss(net.Forward(b.x), b.y)
				apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				opt.Step()
				opt.ZeroGrad()
			})
			var want []string
			if name == "O3" {
				want = []string{"half-parameters"}
			}
			if got := report.Codes(); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q\n%v", got, want, report)
			}
		})
	}
}

// TestLintTutorial checks the models and loops of the tutorial that compares three runs. Only the loop
// without a scaler has findings.
func TestLintTutorial(t *testing.T) {
	tensor.ManualSeed(1)
	batches := data.RandomBatches(3, 64, 64, 64)
	run := func(useAMP, useScaler bool) func() {
		return func() {
			net := models.NewMLP([]int{64, 64, 64, 64})
			opt := optim.NewSGD(nn.Parameters(net), 0.1)
			scaler := amp.NewGradScaler(amp.ScalerEnabled(useScaler))
			var loss *tensor.Tensor
			for range 2 {
				for _, b := range batches {
					amp.Autocast(amp.Float16.Enabled(useAMP), func() { loss = nn.MSELoss(net.Forward(b.Input), b.Target) })
					scaler.Scale(loss).Backward()
					scaler.Step(opt)
					scaler.Update()
					opt.ZeroGrad()
				}
			}
			loss.Item()
		}
	}
	for _, tt := range []struct {
		useAMP, useScaler bool
		want              []string
	}{{false, false, nil}, {true, false, []string{"no-scaler"}}, {true, true, nil}} {
		if report := diagnose.Lint(nil, run(tt.useAMP, tt.useScaler)); !slices.Equal(report.Codes(), tt.want) || report.Steps != 12 {
			t.Errorf("autocast %v, scaler %v: %v", tt.useAMP, tt.useScaler, report)
		}
	}
}

// TestLintLateExit checks that a region that is open too long is found, for Enter and Exit and for a
// closure.
func TestLintLateExit(t *testing.T) {
	b := newBench()
	report := diagnose.Lint(b.net, func() {
		r := b.policy.Enter()
		defer r.Exit()
		b.learn(b.mse())
	})
	want := []string{"backward-inside", "update-inside"}
	got := report.Codes()
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q\n%v", got, want, report)
	}
}

func TestLintShows(t *testing.T) {
	b := newBench(nn.Bias(false))
	clean := diagnose.Lint(b.net, func() { b.learn(b.cast(b.mse)) })
	if s := clean.String(); !strings.HasPrefix(s, "No findings: ") || !strings.Contains(clean.HTML(), "No findings") {
		t.Errorf("clean report: got %q", s)
	}
	b.net.Append(nn.NewSoftmax(1))
	bad := diagnose.Lint(b.net, func() {
		b.cast(func() *tensor.Tensor { return nn.CrossEntropy(b.net.Forward(b.x), b.class) }).Backward()
		b.opt.Step()
	})
	for _, want := range []string{"2 mistakes, 1 risk", "double-softmax", "missing-zero-grad", "no-scaler", "leave the softmax out"} {
		if !strings.Contains(bad.String(), want) || !strings.Contains(bad.HTML(), want) {
			t.Errorf("got a report without %q: %v", want, bad)
		}
	}
	if low := testenv.LowContrast(bad.HTML()); len(low) > 0 {
		t.Errorf("low contrast: %q", low)
	}
	if h := bad.HTML(); strings.Contains(h, "<script") || strings.Contains(h, "<style") || strings.Count(h, "<code>") != 3 {
		t.Errorf("got HTML that is not three plain findings: %s", h)
	}
	if bad.Findings[0].Severity > bad.Findings[2].Severity {
		t.Errorf("got findings that are not in order of severity: %v", bad)
	}
	// A panic that does not concern mixed precision propagates.
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("got panic %v", p)
		}
	}()
	diagnose.Lint(nil, func() { panic("mine") })
}
