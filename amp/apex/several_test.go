package apex_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// twoWeights is the model of Apex's suite: a weight in float32 and one in float16.
type twoWeights struct{ Weight0, Weight1 *tensor.Tensor }

func newTwoWeights(unique float64) *twoWeights {
	return &twoWeights{
		tensor.New([]float64{unique, unique + 1}, 2).RequireGrad(),
		tensor.New([]float64{unique + 1, unique + 2}, 2).Half().RequireGrad(),
	}
}

func (m *twoWeights) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Mul(m.Weight0.Float()).Mul(m.Weight1.Float()).Sum()
}

// plan assigns models to losses and optimizers, in the combinations of
// test_multiple_models_optimizers_losses.py.
type plan struct {
	name   string
	models int
	losses [][]int // models whose results each loss adds
	opts   [][]int // models whose parameters each optimizer has
	byLoss [][]int // optimizers for which each loss is scaled
}

var plans = []plan{
	{"test_2models2losses1optimizer", 2, [][]int{{0}, {1}}, [][]int{{0, 1}}, [][]int{{0}, {0}}},
	{"test_3models2losses1optimizer", 3, [][]int{{0, 2}, {1, 2}}, [][]int{{0, 1, 2}}, [][]int{{0}, {0}}},
	{"test_2models2losses2optimizers", 2, [][]int{{0}, {1}}, [][]int{{0}, {1}}, [][]int{{0}, {1}}},
	{"test_3models2losses2optimizers", 3, [][]int{{0, 1}, {2, 1}}, [][]int{{0, 1}, {2}}, [][]int{{0}, {1, 0}}},
}

var rates = []float64{0.25, 0.5, 0.125}

func (p plan) build() (models []*twoWeights, opts []*optim.Optimizer) {
	for i := range p.models {
		models = append(models, newTwoWeights(float64(i+1)))
	}
	for _, group := range p.opts {
		o := optim.NewSGD(nn.Parameters(models[group[0]]), rates[group[0]], optim.Momentum(0.125))
		for _, i := range group[1:] {
			o.AddGroup(nn.Parameters(models[i]), optim.LR(rates[i]))
		}
		opts = append(opts, o)
	}
	return models, opts
}

func (p plan) loss(models []nn.Module, x *tensor.Tensor, loss int) *tensor.Tensor {
	y := models[p.losses[loss][0]].Forward(x)
	for _, i := range p.losses[loss][1:] {
		y = y.Add(models[i].Forward(x))
	}
	return y
}

// reference trains without Apex. An optimizer does not step where skips reports true.
func (p plan) reference(steps int, skips func(step, opt int) bool) (grads [][]*tensor.Tensor, final []*tensor.Tensor) {
	plain, opts := p.build()
	var models []nn.Module
	for _, m := range plain {
		models = append(models, m)
	}
	x := tensor.Ones(2)
	for step := range steps {
		for _, o := range opts {
			o.ZeroGrad()
		}
		for l := range p.losses {
			p.loss(models, x, l).Backward()
		}
		var now []*tensor.Tensor
		for _, o := range opts {
			for _, q := range o.Params() {
				now = append(now, q.Grad().Clone())
			}
		}
		grads = append(grads, now)
		for i, o := range opts {
			if !skips(step, i) {
				o.Step()
			}
		}
	}
	for _, o := range opts {
		for _, q := range o.Params() {
			final = append(final, q.Detach())
		}
	}
	return grads, final
}

// TestSeveralModelsLossesOptimizers trains several models with several losses and optimizers, with and
// without an infinite gradient in each place. Gradients, parameters and master weights must equal
// those of plain training without the skipped steps.
func TestSeveralModelsLossesOptimizers(t *testing.T) {
	for _, p := range plans {
		t.Run(p.name, func(t *testing.T) {
			for level := range levels {
				for _, scalers := range []int{1, 2} {
					for _, zero := range []string{"none", "model", "optimizer"} {
						infs := []int{-1}
						if level == 1 || level == 2 {
							infs = []int{-1, 0, 1}
						}
						for _, at := range infs {
							p.check(t, level, scalers, zero, at, 0, 0, 0)
							if at < 0 {
								continue
							}
							for loss := range p.losses {
								for _, model := range p.losses[loss] {
									for weight := range 2 {
										p.check(t, level, scalers, zero, at, loss, model, weight)
									}
								}
							}
						}
					}
				}
			}
		})
	}
}

func (p plan) check(t *testing.T, level, scalers int, zero string, at, loss, model, weight int) {
	t.Helper()
	about := fmt.Sprintf("%v, %d scalers, zeroed by %s, inf at step %d in loss %d, model %d, weight %d", level, scalers, zero, at, loss, model, weight)
	// The optimizers for which the loss with the infinite gradient is scaled skip the step.
	skips := func(step, opt int) bool {
		return step == at && slices.Contains(p.byLoss[loss], opt)
	}
	const steps = 3
	grads, final := p.reference(steps, skips)

	plain, bases := p.build()
	var given []nn.Module
	var optimizers []amp.Optimizer
	for _, m := range plain {
		given = append(given, m)
	}
	for _, o := range bases {
		optimizers = append(optimizers, o)
	}
	prepared, opts := apex.InitializeAll(given, optimizers, levels[level].KeepModelType().NumLosses(scalers))
	state := map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}
	if scalers == 2 {
		state["loss_scaler1"] = map[string]float64{"loss_scale": 16, "unskipped": 0}
	}
	if err := apex.LoadStateDict(opts[0], state); err != nil {
		t.Fatal(err)
	}
	var models []nn.Module
	for _, m := range prepared {
		models = append(models, m)
	}
	x := tensor.Ones(2)
	for step := range steps {
		switch zero {
		case "none":
			for _, m := range plain {
				for _, q := range nn.Parameters(m) {
					q.SetGrad(nil)
				}
			}
		case "model":
			for _, m := range prepared {
				nn.ZeroGrad(m)
			}
		case "optimizer":
			for _, o := range opts {
				o.ZeroGrad()
			}
		}
		var losses []*tensor.Tensor
		for l := range p.losses {
			losses = append(losses, p.loss(models, x, l))
		}
		for l := range p.losses {
			var of []*apex.Optimizer
			for _, i := range p.byLoss[l] {
				of = append(of, opts[i])
			}
			apex.ScaleLossWith(losses[l], of, apex.ScaleLossOptions{LossID: min(l, scalers-1)}, func(scaled *tensor.Tensor) {
				scaled.Backward()
				if step == at && l == loss {
					nn.Parameters(plain[model])[weight].Grad().Slice(0, 0, 1).Fill(math.Inf(1))
				}
			})
		}
		n := 0
		for i, o := range opts {
			for _, q := range apex.MasterParams(o) {
				if step != at && !tensor.AllClose(q.Grad().Float(), grads[step][n].Float(), 1e-5, 1e-8) {
					t.Errorf("%s: step %d: gradient %d: got %v, want %v", about, step, n, q.Grad(), grads[step][n])
				}
				n++
			}
			o.Step()
			if got := o.LastStep().Skipped; got != skips(step, i) {
				t.Errorf("%s: step %d of optimizer %d: got skipped %v, want %v", about, step, i, got, !got)
			}
		}
	}
	n := 0
	for i, o := range opts {
		masters := apex.MasterParams(o)
		var own []*tensor.Tensor
		for _, m := range p.opts[i] {
			own = append(own, nn.Parameters(plain[m])...)
		}
		for j, q := range masters {
			if !tensor.AllClose(own[j].Detach().Float(), final[n].Float(), 1e-3, 1e-8) {
				t.Errorf("%s: parameter %d: got %v, want %v", about, n, own[j], final[n])
			}
			if !tensor.Equal(own[j].Detach(), q.Detach().To(own[j].DType())) {
				t.Errorf("%s: parameter %d: got %v, and %v for its master weight", about, n, own[j], q)
			}
			n++
		}
	}
}

// TestAddGroup is test_add_param_group.py. It checks that a group added later is treated like the
// others, and that losses accumulate.
func TestAddGroup(t *testing.T) {
	x := tensor.Ones(2)
	run := func(step func(loss *tensor.Tensor, times int), zero func(), m0, m1 nn.Module, add func(), zeroBefore bool, times int) {
		zero()
		step(m0.Forward(x), 1)
		if zeroBefore {
			zero()
		}
		add()
		if !zeroBefore {
			zero()
		}
		step(m0.Forward(x).Add(m1.Forward(x)), times)
		zero()
		step(m0.Forward(x).Add(m1.Forward(x)), times)
	}
	for _, level := range levels {
		for _, zeroBefore := range []bool{false, true} {
			for _, times := range []int{1, 2} {
				a, b := newTwoWeights(1), newTwoWeights(2)
				plain := optim.NewSGD(nn.Parameters(a), 0.25, optim.Momentum(0.125))
				run(func(loss *tensor.Tensor, times int) {
					for range times {
						loss.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
					}
					plain.Step()
				}, plain.ZeroGrad, a, b, func() { plain.AddGroup(nn.Parameters(b), optim.LR(0.5)) }, zeroBefore, times)

				c, d := newTwoWeights(1), newTwoWeights(2)
				base := optim.NewSGD(nn.Parameters(c), 0.25, optim.Momentum(0.125))
				models, opts := apex.InitializeAll([]nn.Module{c, d}, []amp.Optimizer{base}, level.KeepModelType())
				opt := opts[0]
				if err := apex.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}); err != nil {
					t.Fatal(err)
				}
				run(func(loss *tensor.Tensor, times int) {
					for range times {
						apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) {
							scaled.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
						})
					}
					opt.Step()
				}, opt.ZeroGrad, models[0], models[1], func() { base.AddGroup(nn.Parameters(d), optim.LR(0.5)) }, zeroBefore, times)

				want := append(nn.Parameters(a), nn.Parameters(b)...)
				for i, got := range append(nn.Parameters(c), nn.Parameters(d)...) {
					if !tensor.AllClose(got.Detach().Float(), want[i].Detach().Float(), 2e-3, 1e-5) {
						t.Errorf("%v, zeroed before %v, %d times: parameter %d: got %v, want %v", level, zeroBefore, times, i, got, want[i])
					}
				}
			}
		}
	}
}
