package diagnose_test

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// bench is a small model with what it takes to train it right. A test replaces parts.
type bench struct {
	net    *nn.Chain
	opt    *optim.Optimizer
	scaler *amp.GradScaler
	x, y   *tensor.Tensor
	class  *tensor.Tensor
	policy amp.Policy
}

// width is that of all layers: sizes at which nothing is to be said of speed.
const width = 64

func newBench(options ...nn.Option) *bench {
	b := &bench{net: nn.Sequential(), scaler: amp.NewGradScaler(amp.InitScale(1024)), policy: amp.Float16}
	for range 4 {
		b.net.Append(nn.NewLinear(width, width, options...)).Append(nn.ReLU())
	}
	b.net.Append(nn.NewLinear(width, width, options...))
	b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
	b.x, b.y = tensor.Randn(width, width), tensor.Rand(width, width)
	b.class = tensor.Randint(0, width, width)
	return b
}

// cast runs forward under autocast and returns the loss.
func (b *bench) cast(forward func() *tensor.Tensor) (loss *tensor.Tensor) {
	amp.Autocast(b.policy, func() { loss = forward() })
	return loss
}

func (b *bench) mse() *tensor.Tensor { return nn.MSELoss(b.net.Forward(b.x), b.y) }

// learn is the rest of a step after the loss.
func (b *bench) learn(loss *tensor.Tensor) {
	b.scaler.Scale(loss).Backward()
	b.update()
}

func (b *bench) update() {
	b.scaler.Step(b.opt)
	b.scaler.Update()
	b.opt.ZeroGrad()
}

// inserted returns the model with m behind layer i.
func (b *bench) inserted(i int, m nn.Module) {
	b.net.Modules[2*i] = nn.Sequential(b.net.Modules[2*i], m)
	b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
}

// module is a module made of a function.
type module func(x *tensor.Tensor) *tensor.Tensor

func (f module) Forward(x *tensor.Tensor) *tensor.Tensor { return f(x) }

// Each rule finds its mistake, and nothing else, and nothing once it is mended.
// layer is where a mistake is that has a place.
var mistakes = []struct {
	code string
	// step returns a step that is wrong or right.
	step   func(b *bench, bad bool, layer int) func()
	placed bool // the finding must name the module of the layer
}{
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
	{code: "bce-autocast", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				if out := b.net.Forward(b.x); bad {
					return nn.BinaryCrossEntropy(out.Sigmoid(), b.y)
				} else {
					return nn.BinaryCrossEntropyWithLogits(out, b.y)
				}
			}))
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
	{code: "count-in-half", step: func(b *bench, bad bool, _ int) func() {
		mask := tensor.Ones(3001)
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				n := mask.To(tensor.Int64)
				if bad {
					return b.mse().Div(n.Cumsum(0).Half().Amax().Float())
				}
				return b.mse().Div(n.Sum().Float())
			}))
		}
	}},
	{code: "double-sigmoid", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			b.net.Append(nn.Sigmoid())
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				return nn.BinaryCrossEntropyWithLogits(b.net.Forward(b.x).Reshape(-1), b.y.Reshape(-1))
			}))
		}
	}},
	{code: "double-softmax", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			b.net.Append(nn.Softmax(1))
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor { return nn.CrossEntropy(b.net.Forward(b.x), b.class) }))
		}
	}},
	{code: "eval-in-training", step: func(b *bench, bad bool, layer int) func() {
		b.inserted(layer, nn.NewDropout(0.1))
		if bad {
			nn.Eval(b.net)
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "float64-inside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		if bad {
			l := b.net.Modules[2*layer].(*nn.Linear)
			nn.ToDType(l, tensor.Float64)
			b.net.Modules[2*layer] = &wide{l}
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "forward-outside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		return func() {
			x := b.x
			for i, m := range b.net.Modules {
				run := func() { tensor.InModule(fmt.Sprint(i), func() { x = m.Forward(x) }) }
				if _, linear := m.(*nn.Linear); linear && bad && i == 2*layer {
					x = x.Float()
					run()
				} else {
					amp.Autocast(b.policy, run)
				}
			}
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(x, b.y) }))
		}
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
	{code: "half-input", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			x := b.x
			if bad {
				x = x.Half()
			}
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(b.net.Forward(x), b.y) }))
		}
	}},
	{code: "half-parameters", step: func(b *bench, bad bool, _ int) func() {
		if bad {
			nn.Half(b.net)
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "half-reduction", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			out := b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) })
			if !bad {
				out = out.Float()
			}
			norm := out.Detach().Norm().Float()
			b.learn(b.cast(func() *tensor.Tensor { return nn.MSELoss(out.Div(norm), b.y) }))
		}
	}},
	{code: "ignored-skips", step: func(b *bench, bad bool, layer int) func() {
		return func() {
			for i := range 3 {
				b.scaler.Scale(b.cast(b.mse)).Backward()
				if bad || i == 1 {
					p := nn.Parameters(b.net)[2*layer]
					p.SetGrad(p.Grad().Scale(math.Inf(1)))
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
	{code: "log-by-hand", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				out := b.net.Forward(b.x)
				if bad {
					return out.Softmax(1).Log().Mean().Neg()
				}
				return out.LogSoftmax(1).Mean().Neg()
			}))
		}
	}},
	{code: "loss-in-half", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				d := b.net.Forward(b.x)
				if !bad {
					d = d.Float()
				}
				return d.Mul(d).Mean()
			}))
		}
	}},
	{code: "loss-not-finite", step: func(b *bench, bad bool, layer int) func() {
		if bad {
			b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor { return x.Scale(1e6).Scale(1e6) }))
		}
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "lost-addition", placed: true, step: func(b *bench, bad bool, layer int) func() {
		b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor {
			one := x.Detach().Scale(0).AddScalar(1)
			if !bad {
				one = one.Float()
			}
			return x.Mul(one.AddScalar(1e-4))
		}))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "mask-overflow", step: func(b *bench, bad bool, layer int) func() {
		mask := tensor.Eye(width).To(tensor.Bool)
		value := -6e4
		if bad {
			value = -1e9
		}
		b.inserted(layer, module(func(x *tensor.Tensor) *tensor.Tensor { return x.MaskedFill(mask, value).Softmax(1) }))
		return func() { b.learn(b.cast(b.mse)) }
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
		b.scaler = amp.NewGradScaler(amp.Enabled(bad))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "nll-of-softmax", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				out := b.net.Forward(b.x)
				if bad {
					return nn.NLLLoss(out.Softmax(1), b.class)
				}
				return nn.NLLLoss(out.LogSoftmax(1), b.class)
			}))
		}
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
		b.scaler = amp.NewGradScaler(amp.Enabled(!bad))
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "odd-sizes", placed: true, step: func(b *bench, bad bool, layer int) func() {
		n := width + 8
		if bad {
			n = width + 1
		}
		b.net.Modules[2*layer] = nn.Sequential(nn.NewLinear(width, n), nn.NewLinear(n, width))
		b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
		return func() { b.learn(b.cast(b.mse)) }
	}},
	{code: "penalty-of-scaled", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			loss := b.cast(b.mse)
			grads := tensor.GradGraph(b.scaler.Scale(loss), nn.Parameters(b.net)...)
			b.learn(b.cast(func() *tensor.Tensor {
				total := tensor.Scalar(0)
				for _, g := range grads {
					if !bad {
						g = g.Scale(1 / b.scaler.CurrentScale())
					}
					total = total.Add(g.Pow(2).Sum())
				}
				return loss.Add(total.Sqrt().Scale(1e-3))
			}))
		}
	}},
	{code: "repeated-cast", placed: true, step: func(b *bench, bad bool, layer int) func() {
		b.net.Modules[2*layer] = &tied{b.net.Modules[2*layer].(*nn.Linear), bad}
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
			p.SetGrad(p.Grad().Scale(math.Inf(1)))
			result := b.scaler.Step(b.opt)
			b.scaler.Update()
			b.opt.ZeroGrad()
			if bad || !result.Skipped {
				schedule.Step()
			}
		}
	}},
	{code: "small-products", step: func(b *bench, bad bool, _ int) func() {
		n := width
		if bad {
			n = 16
		}
		b.net = nn.Sequential(nn.NewLinear(n, n), nn.ReLU(), nn.NewLinear(n, n))
		b.opt = optim.NewSGD(nn.Parameters(b.net), 0.01)
		b.x, b.y = tensor.Randn(512, n), tensor.Randn(512, n)
		return func() { b.learn(b.cast(b.mse)) }
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
	{code: "sync-often", step: func(b *bench, bad bool, _ int) func() {
		return func() {
			out := b.cast(func() *tensor.Tensor { return b.net.Forward(b.x) })
			if bad {
				for i := range 10 {
					out.Detach().Select(0, i).Amax().Item()
				}
			}
			loss := b.cast(func() *tensor.Tensor { return nn.MSELoss(out, b.y) })
			b.learn(loss)
			loss.Item()
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
			b.scaler.Scale(b.cast(b.mse).Scale(0.5)).Backward()
			if bad {
				b.scaler.Unscale(b.opt)
			}
			b.scaler.Scale(b.cast(b.mse).Scale(0.5)).Backward()
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
	{code: "update-inside", placed: true, step: func(b *bench, bad bool, layer int) func() {
		decay := func() {
			tensor.NoGrad(func() { b.net.Modules[2*layer].(*nn.Linear).Weight.ScaleAssign(0.999) })
		}
		return func() {
			b.learn(b.cast(func() *tensor.Tensor {
				if bad {
					decay()
				}
				return b.mse()
			}))
			if !bad {
				decay()
			}
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

// wide is a layer in float64 among others.
type wide struct{ Linear *nn.Linear }

func (m *wide) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Linear.Forward(x.Double()).Float()
}

// tied uses its weight twice, once as a view if bad.
type tied struct {
	Linear *nn.Linear
	bad    bool
}

func (m *tied) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := m.Linear.Forward(x)
	if m.bad {
		return y.MatMul(m.Linear.Weight.T())
	}
	return y.MatMul(m.Linear.Weight)
}

// An optimizer's eps can be lost with half parameters only, which are a mistake of their
// own.
func TestLintEps(t *testing.T) {
	for _, eps := range []float64{1e-8, 1e-4} {
		b := newBench()
		nn.Half(b.net)
		b.opt = optim.NewAdam(nn.Parameters(b.net), 1e-4, optim.Eps(eps))
		got := diagnose.Lint(b.net, func() {
			b.cast(b.mse).Backward()
			b.opt.Step()
			b.opt.ZeroGrad()
		}).Codes()
		want := []string{"half-parameters", "no-scaler"}
		if eps < 1e-7 { // and what comes of it
			want = []string{"eps-lost", "half-parameters", "loss-not-finite", "no-scaler"}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("eps %g: found %q, want %q", eps, got, want)
		}
	}
}

// Every rule has a mistake above, and the table is sorted.
func TestLintRules(t *testing.T) {
	codes := []string{"eps-lost"}
	for _, m := range mistakes {
		codes = append(codes, m.code)
	}
	slices.Sort(codes)
	if !slices.Equal(codes, diagnose.RuleCodes()) {
		t.Errorf("mistakes for %q\nrules for %q", codes, diagnose.RuleCodes())
	}
}

func TestLint(t *testing.T) {
	for _, tt := range mistakes {
		t.Run(tt.code, func(t *testing.T) {
			for seed := range 2 {
				layer := rand.New(rand.NewSource(int64(seed))).Intn(4)
				for _, bad := range []bool{true, false} {
					tensor.ManualSeed(int64(seed))
					b := newBench()
					step := tt.step(b, bad, layer)
					report := diagnose.Lint(b.net, step)
					var want []string
					if bad {
						want = []string{tt.code}
					}
					if got := report.Codes(); !slices.Equal(got, want) {
						t.Fatalf("seed %d, wrong %v: found %q, want %q\n%v", seed, bad, got, want, report)
					}
					if !bad {
						continue
					}
					at := fmt.Sprint(2 * layer)
					if f := report.Findings[0]; tt.placed && !strings.HasPrefix(f.Module+".", at+".") && !strings.HasPrefix(f.Module, at) {
						t.Errorf("seed %d: found in module %q, want %q: %v", seed, f.Module, at, f)
					}
				}
			}
		})
	}
}
