package amp_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

var levels = []amp.OptLevel{amp.O0.Verbosity(0), amp.O1.Verbosity(0), amp.O2.Verbosity(0), amp.O3.Verbosity(0)}

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

// plan is which models a loss is of and which optimizer has which models, as the tests of
// test_multiple_models_optimizers_losses.py combine them.
type plan struct {
	name   string
	models int
	losses [][]int // the models whose results each loss adds
	opts   [][]int // the models whose parameters each optimizer has
	byLoss [][]int // the optimizers that each loss is scaled for
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

// reference trains plainly. An optimizer whose index is skipped at a step does not step.
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

// TestApexSeveral trains several models with several losses and optimizers, with and
// without an infinite gradient in each place: gradients, parameters and masters are those
// of plain training without the skipped steps.
func TestApexSeveral(t *testing.T) {
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
	// The optimizers that the loss with the infinite gradient is scaled for skip.
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
	prepared, opts := amp.InitializeAll(given, optimizers, levels[level].KeepModelType().NumLosses(scalers))
	state := map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}
	if scalers == 2 {
		state["loss_scaler1"] = map[string]float64{"loss_scale": 16, "unskipped": 0}
	}
	if err := amp.LoadStateDict(opts[0], state); err != nil {
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
			var of []*amp.ApexOptimizer
			for _, i := range p.byLoss[l] {
				of = append(of, opts[i])
			}
			amp.ScaleLossWith(losses[l], of, amp.ScaleLossOptions{LossID: min(l, scalers-1)}, func(scaled *tensor.Tensor) {
				scaled.Backward()
				if step == at && l == loss {
					nn.Parameters(plain[model])[weight].Grad().Slice(0, 0, 1).Fill(math.Inf(1))
				}
			})
		}
		n := 0
		for i, o := range opts {
			for _, q := range amp.MasterParams(o) {
				if step != at && !tensor.AllClose(q.Grad().Float(), grads[step][n].Float(), 1e-5, 1e-8) {
					t.Errorf("%s: step %d: gradient %d is %v, want %v", about, step, n, q.Grad(), grads[step][n])
				}
				n++
			}
			o.Step()
			if got := o.LastStep().Skipped; got != skips(step, i) {
				t.Errorf("%s: step %d of optimizer %d: skipped %v, want %v", about, step, i, got, !got)
			}
		}
	}
	n := 0
	for i, o := range opts {
		masters := amp.MasterParams(o)
		var own []*tensor.Tensor
		for _, m := range p.opts[i] {
			own = append(own, nn.Parameters(plain[m])...)
		}
		for j, q := range masters {
			if !tensor.AllClose(own[j].Detach().Float(), final[n].Float(), 1e-3, 1e-8) {
				t.Errorf("%s: parameter %d is %v, want %v", about, n, own[j], final[n])
			}
			if !tensor.Equal(own[j].Detach(), q.Detach().To(own[j].DType())) {
				t.Errorf("%s: parameter %d is %v, and its master %v", about, n, own[j], q)
			}
			n++
		}
	}
}

// TestApexAddGroup is test_add_param_group.py: a group that joins late is treated like
// the others, and losses accumulate.
func TestApexAddGroup(t *testing.T) {
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
				models, opts := amp.InitializeAll([]nn.Module{c, d}, []amp.Optimizer{base}, level.KeepModelType())
				opt := opts[0]
				if err := amp.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}); err != nil {
					t.Fatal(err)
				}
				run(func(loss *tensor.Tensor, times int) {
					for range times {
						amp.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) {
							scaled.BackwardWith(tensor.BackwardOptions{RetainGraph: true})
						})
					}
					opt.Step()
				}, opt.ZeroGrad, models[0], models[1], func() { base.AddGroup(nn.Parameters(d), optim.LR(0.5)) }, zeroBefore, times)

				want := append(nn.Parameters(a), nn.Parameters(b)...)
				for i, got := range append(nn.Parameters(c), nn.Parameters(d)...) {
					if !tensor.AllClose(got.Detach().Float(), want[i].Detach().Float(), 2e-3, 1e-5) {
						t.Errorf("%v, zeroed before %v, %d times: parameter %d is %v, want %v", level, zeroBefore, times, i, got, want[i])
					}
				}
			}
		}
	}
}

// checkpointed is the model of test_checkpointing.py.
type checkpointed struct {
	Conv1 *nn.Conv2d
	BN1   *nn.BatchNorm2d
	Param *tensor.Tensor
}

func newCheckpointed(seed int64) *checkpointed {
	g := tensor.NewGenerator(seed)
	return &checkpointed{nn.NewConv2d(3, 6, 3, nn.Padding(1), nn.InitFrom(g)), nn.NewBatchNorm2d(6), g.Randn(1).RequireGrad()}
}

func (m *checkpointed) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.BN1.Forward(m.Conv1.Forward(x.Mul(m.Param)).ReLU())
}

// TestApexRestoring is test_restoring: a state dict is float32 at every level, and a run
// restored at the same level goes on with the same bits; at another it loads.
func TestApexRestoring(t *testing.T) {
	train := func(m *amp.ApexModel, opt *amp.ApexOptimizer, x *tensor.Tensor, losses int) *tensor.Tensor {
		opt.ZeroGrad()
		y := m.Forward(x)
		for k := 1; k <= losses; k++ {
			amp.ScaleLoss(y.Mean().Scale(float64(k)), opt, func(scaled *tensor.Tensor) {
				scaled.BackwardWith(tensor.BackwardOptions{RetainGraph: k < losses})
			})
		}
		opt.Step()
		return y
	}
	for i, level := range levels {
		for j, restored := range levels {
			for _, before := range []bool{true, false} {
				losses := 1 + j%2
				net := newCheckpointed(1)
				base := optim.NewSGD(nn.Parameters(net), 1e-3, optim.Momentum(0.9))
				model, opt := amp.Initialize(net, base, level.NumLosses(losses))
				g := tensor.NewGenerator(7)
				var again *amp.ApexModel
				var againOpt *amp.ApexOptimizer
				for epoch := range 6 {
					x := g.Randn(2, 3, 6, 6)
					y := train(model, opt, x, losses)
					if epoch == 2 {
						for name, saved := range nn.StateDict(model) {
							if d := saved.DType(); d.IsFloat() && d != tensor.Float32 {
								t.Errorf("%v: %s is %v in the state dict", level, name, d)
							}
						}
						fresh := newCheckpointed(2)
						freshBase := optim.NewSGD(nn.Parameters(fresh), 1e-3, optim.Momentum(0.9))
						if before {
							again, againOpt = amp.Initialize(fresh, freshBase, restored.NumLosses(losses))
							againOpt.ZeroGrad()
						}
						if err := nn.LoadStateDict(fresh, model.StateDict()); err != nil {
							t.Fatal(err)
						}
						if err := freshBase.LoadStateDict(base.StateDict()); err != nil {
							t.Fatal(err)
						}
						if !before {
							again, againOpt = amp.Initialize(fresh, freshBase, restored.NumLosses(losses))
						} else if j == 2 {
							// Masters are made at first use, so they are loaded as the model is.
							for k, p := range nn.Parameters(fresh) {
								tensor.NoGrad(func() { amp.MasterParams(againOpt)[k].Assign(p) })
							}
						}
						if err := amp.LoadStateDict(againOpt, amp.StateDict(opt)); err != nil {
							t.Fatal(err)
						}
					}
					if epoch > 2 {
						z := train(again, againOpt, x, losses)
						if i == j && i != 2 && !tensor.Equal(y.Detach(), z.Detach()) {
							t.Errorf("%v, initialized before loading %v: epoch %d differs", level, before, epoch)
						}
						if !tensor.AllClose(y.Detach().Float(), z.Detach().Float(), 2e-2, 2e-2) {
							t.Errorf("%v restored as %v, initialized before loading %v: epoch %d: the results are far apart", level, restored, before, epoch)
						}
					}
				}
			}
		}
	}
}

// TestApexLossScaleDecrease is test_loss_scale_decrease: each loss has its own scale.
func TestApexLossScaleDecrease(t *testing.T) {
	for _, level := range levels[1:3] {
		net := newCheckpointed(1)
		model, opt := amp.Initialize(net, optim.NewSGD(nn.Parameters(net), 1e-3), level.NumLosses(3))
		left := []int{0, 1, 2}
		for range 2 {
			opt.ZeroGrad()
			for id := range 3 {
				x := tensor.Randn(2, 3, 6, 6)
				if left[id] > 0 {
					x, left[id] = x.Scale(math.Pow(2, 17)), left[id]-1
				}
				amp.ScaleLossWith(model.Forward(x).Mean(), []*amp.ApexOptimizer{opt}, amp.ScaleLossOptions{LossID: id}, func(scaled *tensor.Tensor) { scaled.Backward() })
			}
			opt.Step()
		}
		state := amp.StateDict(opt)
		for id := range 3 {
			s := state[fmt.Sprintf("loss_scaler%d", id)]
			if want := 65536 / math.Pow(2, float64(id)); s["loss_scale"] != want || s["unskipped"] != float64(2-id) {
				t.Errorf("%v: loss scaler %d is %v, want scale %v and %d unskipped", level, id, s, want, 2-id)
			}
		}
		if err := amp.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 8, "unskipped": 3}, "scaler": {}}); err == nil || !strings.Contains(err.Error(), "scaler is no loss scaler") {
			t.Errorf("of a wrong state: %v", err)
		}
		if got := amp.StateDict(opt)["loss_scaler0"]["loss_scale"]; got != 65536 {
			t.Errorf("a wrong state has changed the scale to %v", got)
		}
	}
}

// TestApexCache is test_cache.py: training, evaluation without gradients and training
// again give the gradients of uncached casts.
func TestApexCache(t *testing.T) {
	for name, ops := range map[string]func(x, w *tensor.Tensor) *tensor.Tensor{
		"whitelist": func(x, w *tensor.Tensor) *tensor.Tensor { return x.MatMul(w).MatMul(w).Sum() },
		"blacklist": func(x, w *tensor.Tensor) *tensor.Tensor { return x.Add(w.Pow(2)).Add(w.Pow(2)).Sum() },
		"promote":   func(x, w *tensor.Tensor) *tensor.Tensor { return x.Mul(w).Mul(w).Sum() },
	} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.Float32} {
			size := 2
			if name == "whitelist" {
				size = 8
			}
			m := &oneWeight{tensor.Arange(0, float64(size*8)).Reshape(size, 8).To(d).RequireGrad(), ops}
			model, opt := amp.Initialize(m, optim.NewSGD(nn.Parameters(m), 1), amp.O1.Verbosity(0).KeepModelType())
			if err := amp.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 4, "unskipped": 0}}); err != nil {
				t.Fatal(err)
			}
			x := tensor.Ones(2, 8)
			step := func() {
				m.Weight.SetGrad(nil)
				amp.ScaleLoss(model.Forward(x).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				w := m.Weight.Detach().Clone().Float().RequireGrad()
				ops(x, w).Backward()
				if got := m.Weight.Grad(); got.DType() != d || !tensor.AllClose(got.Float(), w.Grad(), 1e-3, 1e-5) {
					t.Errorf("%s, %v: the gradient is %v, want %v", name, d, got, w.Grad())
				}
				tensor.NoGrad(func() { m.Weight.AddScalarAssign(-1) })
			}
			step()
			tensor.NoGrad(func() { model.Forward(x) })
			step()
		}
	}
}

type oneWeight struct {
	Weight *tensor.Tensor
	ops    func(x, w *tensor.Tensor) *tensor.Tensor
}

func (m *oneWeight) Forward(x *tensor.Tensor) *tensor.Tensor { return m.ops(x, m.Weight) }

// TestApexModels has what each level makes of a model.
func TestApexModels(t *testing.T) {
	x := tensor.Randn(2, 3, 4, 4)
	for _, c := range []struct {
		level              amp.OptLevel
		conv, norm, result tensor.DType
		masters            bool
	}{
		{amp.O0, tensor.Float32, tensor.Float32, tensor.Float32, false},
		{amp.O1, tensor.Float32, tensor.Float32, tensor.Float32, false},
		{amp.O2, tensor.Float16, tensor.Float32, tensor.Float32, true},
		{amp.O3, tensor.Float16, tensor.Float16, tensor.Float32, false},
		{amp.O2.KeepBatchNormFP32(false), tensor.Float16, tensor.Float16, tensor.Float32, true},
		{amp.O3.KeepBatchNormFP32(true), tensor.Float16, tensor.Float32, tensor.Float32, false},
		{amp.O3.CastModelOutputs(tensor.Float16), tensor.Float16, tensor.Float16, tensor.Float16, false},
		{amp.O1.CastModelOutputs(tensor.Float16), tensor.Float32, tensor.Float32, tensor.Float16, false},
		{amp.O2.CastModelType(tensor.BFloat16), tensor.BFloat16, tensor.Float32, tensor.Float32, true},
		{amp.O2.MasterWeights(false), tensor.Float16, tensor.Float32, tensor.Float32, false},
		{amp.O2.Enabled(false), tensor.Float32, tensor.Float32, tensor.Float32, false},
	} {
		net := newCheckpointed(1)
		names := func(model any) (list []string) {
			for _, n := range nn.NamedParameters(model) {
				list = append(list, n.Name)
			}
			return list
		}
		want := names(net)
		base := optim.NewSGD(nn.Parameters(net), 0.1)
		model, opt := amp.Initialize(net, base, c.level.Verbosity(0))
		if got := model.Forward(x).DType(); got != c.result {
			t.Errorf("%v: the result is %v, want %v", c.level, got, c.result)
		}
		if got := net.Conv1.Weight.DType(); got != c.conv {
			t.Errorf("%v: the convolution is %v, want %v", c.level, got, c.conv)
		}
		for _, p := range []*tensor.Tensor{net.BN1.Weight, net.BN1.RunningVar} {
			if got := p.DType(); got != c.norm {
				t.Errorf("%v: the batch norm is %v, want %v", c.level, got, c.norm)
			}
		}
		if got := names(model); !slices.Equal(got, want) {
			t.Errorf("%v: the parameters are %v, want %v", c.level, got, want)
		}
		masters := amp.MasterParams(opt)
		if got := masters[0] != net.Conv1.Weight; got != c.masters {
			t.Errorf("%v: master weights %v, want %v", c.level, got, c.masters)
		}
		if c.masters && masters[0].DType() != tensor.Float32 {
			t.Errorf("%v: a master is %v", c.level, masters[0].DType())
		}
		if len(base.Params()) != 5 || base.Params()[0] != masters[0] {
			t.Errorf("%v: the optimizer has other parameters than the masters", c.level)
		}
	}
}

// TestApexMomentum: what an optimizer remembers follows its parameters to their dtype.
func TestApexMomentum(t *testing.T) {
	for _, level := range levels {
		net := nn.NewLinear(3, 2)
		base := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
		net.Forward(tensor.Ones(1, 3)).Sum().Backward()
		base.Step()
		base.ZeroGrad()
		want := base.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor).Clone()
		model, opt := amp.Initialize(net, base, level)
		amp.ScaleLoss(model.Forward(tensor.Zeros(1, 3)).Sum().Scale(0), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		opt.Step()
		got := base.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor)
		if got.DType() != opt.Params()[0].DType() || !tensor.AllClose(got.Float(), want.Scale(0.9), 1e-3, 0) {
			t.Errorf("%v: the momentum is %v, want 0.9 times %v", level, got, want)
		}
	}
}

// TestApexStaticNeverSkips: a static scale takes the step though a gradient is infinite.
func TestApexStaticNeverSkips(t *testing.T) {
	for _, scale := range []float64{1, 128} {
		net := nn.NewLinear(2, 1)
		model, opt := amp.Initialize(net, optim.NewSGD(nn.Parameters(net), 0.1), amp.O2.LossScale(scale).Verbosity(0))
		amp.ScaleLoss(model.Forward(tensor.Ones(1, 2)).Sum(), opt, func(scaled *tensor.Tensor) {
			scaled.Backward()
			net.Weight.Grad().Fill(math.Inf(1))
		})
		opt.Step()
		if r := opt.LastStep(); r.Skipped || !r.FoundInf || r.FirstBadParam != 0 {
			t.Errorf("scale %v: %+v, want a step that was taken, with inf found in parameter 0", scale, r)
		}
		if w := net.Weight.Float64s()[0]; !math.IsInf(w, -1) {
			t.Errorf("scale %v: the weight is %v, want -Inf", scale, w)
		}
		if s := amp.StateDict(opt)["loss_scaler0"]; s["loss_scale"] != scale || s["unskipped"] != 1 {
			t.Errorf("the scaler is %v, want scale %v and 1 unskipped", s, scale)
		}
	}
}

// TestApexScaleLimits holds minimum, maximum and window of a dynamic scale.
func TestApexScaleLimits(t *testing.T) {
	w := &nn.Linear{Weight: tensor.Ones(1, 1).RequireGrad()}
	model, opt := amp.Initialize(w, optim.NewSGD(nn.Parameters(w), 0), amp.O1.MinLossScale(8192).MaxLossScale(32768).Verbosity(0))
	step := func(value float64) float64 {
		opt.ZeroGrad()
		amp.ScaleLoss(model.Forward(tensor.Full(value, 1, 1)).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		opt.Step()
		return amp.StateDict(opt)["loss_scaler0"]["loss_scale"]
	}
	var got []float64
	for range 3 {
		got = append(got, step(math.Inf(1)))
	}
	for i := range 6000 {
		if s := step(0); i%2000 == 1998 || i%2000 == 1999 {
			got = append(got, s)
		}
	}
	if want := []float64{16384, 8192, 8192, 8192, 16384, 16384, 32768, 32768, 32768}; !slices.Equal(got, want) {
		t.Errorf("the scales are %v, want %v", got, want)
	}
}

// TestApexDelayedUnscale accumulates two losses and unscales once.
func TestApexDelayedUnscale(t *testing.T) {
	for _, level := range levels[:3] {
		net := newTwoWeights(1)
		models, opts := amp.InitializeAll([]nn.Module{net}, []amp.Optimizer{optim.NewSGD(nn.Parameters(net), 0.1)}, level.KeepModelType().LossScale(64))
		x := tensor.Ones(2)
		amp.ScaleLossWith(models[0].Forward(x), opts, amp.ScaleLossOptions{DelayUnscale: true}, func(scaled *tensor.Tensor) { scaled.Backward() })
		if err := caught(opts[0].Step); err == nil || !strings.Contains(err.Error(), "scaled still") {
			t.Errorf("%v: a step between: %v, want an error", level, err)
		}
		amp.ScaleLoss(models[0].Forward(x), opts[0], func(scaled *tensor.Tensor) { scaled.Backward() })
		if got, want := amp.MasterParams(opts[0])[0].Grad().Float64s(), []float64{4, 6}; !slices.Equal(got, want) {
			t.Errorf("%v: the gradient is %v, want %v", level, got, want)
		}
		opts[0].Step()
	}
}

// TestApexDelayedCheck moves no scale and skips no step.
func TestApexDelayedCheck(t *testing.T) {
	w := nn.NewLinear(1, 1)
	model, opt := amp.Initialize(w, optim.NewSGD(nn.Parameters(w), 1), amp.O1.Verbosity(0))
	amp.ScaleLossWith(model.Forward(tensor.Full(math.Inf(1), 1, 1)).Sum(), []*amp.ApexOptimizer{opt}, amp.ScaleLossOptions{DelayOverflowCheck: true}, func(scaled *tensor.Tensor) { scaled.Backward() })
	opt.Step()
	if s := amp.StateDict(opt)["loss_scaler0"]["loss_scale"]; opt.LastStep().Skipped || s != 65536 {
		t.Errorf("the scale is %v after %v, want 65536 and a step", s, opt.LastStep())
	}
}

// TestApexMessages has what is printed: the properties, and a line for a skipped step.
func TestApexMessages(t *testing.T) {
	train := func(level amp.OptLevel) string {
		return printed(t, func() {
			w := nn.NewLinear(1, 1)
			model, opt := amp.Initialize(w, optim.NewSGD(nn.Parameters(w), 1), level)
			for _, x := range []float64{math.Inf(1), 1} {
				amp.ScaleLoss(model.Forward(tensor.Full(x, 1, 1)).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				opt.Step()
				opt.ZeroGrad()
			}
		})
	}
	text := train(amp.O1)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if !strings.HasPrefix(text, "O1: casts around operations\ncast_model_type        : None\n") || !strings.HasSuffix(lines[len(lines)-1], "step skipped, loss scaler 0 reduces the loss scale to 32768") || len(lines) != 7 {
		t.Errorf("O1 prints %q", text)
	}
	if text := train(amp.O1.Verbosity(0)); text != "" {
		t.Errorf("with verbosity 0 it prints %q", text)
	}
}

// printed returns what f prints.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = stdout
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestApexRefusals has what Initialize and ScaleLoss refuse.
func TestApexRefusals(t *testing.T) {
	fresh := func() (nn.Module, *optim.Optimizer) {
		w := nn.NewLinear(2, 2)
		return w, optim.NewSGD(nn.Parameters(w), 1)
	}
	level := amp.O2.Verbosity(0)
	w, base := fresh()
	model, opt := amp.Initialize(w, base, level)
	other, otherBase := fresh()
	_, apart := amp.Initialize(other, otherBase, level)
	half := nn.Sequential(nn.NewLinear(2, 2), nn.NewBatchNorm1d(2))
	nn.Half(half.Modules[1])
	loss := tensor.Ones(1).Sum()
	nothing := func(*tensor.Tensor) {}
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"model twice":     {func() { amp.Initialize(model, base, level) }, "the model has been initialized before"},
		"optimizer twice": {func() { o, _ := fresh(); amp.Initialize(o, opt, level) }, "the optimizer has been initialized before"},
		"no model":        {func() { amp.Initialize(nil, base, level) }, "the model is nil"},
		"half parameter":  {func() { amp.Initialize(half, base, level) }, "1.weight is float16"},
		"converted model": {func() { amp.Initialize(w, base, level) }, "weight is float16"},
		"loss id":         {func() { amp.ScaleLossWith(loss, []*amp.ApexOptimizer{opt}, amp.ScaleLossOptions{LossID: 1}, nothing) }, "the loss id is 1"},
		"no loss":         {func() { amp.ScaleLoss(nil, opt, nothing) }, "the loss is nil"},
		"no optimizer":    {func() { amp.ScaleLoss(loss, nil, nothing) }, "has not been initialized"},
		"apart":           {func() { amp.ScaleLossWith(loss, []*amp.ApexOptimizer{opt, apart}, amp.ScaleLossOptions{}, nothing) }, "initialized apart"},
		"strange optimizer": {func() {
			m, o := fresh()
			_, p := amp.Initialize(m, struct{ amp.Optimizer }{o}, level)
			p.ZeroGrad()
		}, "has no ReplaceParams"},
	} {
		if err := caught(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestApexInference: a model alone.
func TestApexInference(t *testing.T) {
	w := nn.NewLinear(2, 2)
	x := tensor.Ones(1, 2)
	want := w.Forward(x).Half()
	model, opt := amp.Initialize(w, nil, amp.O3.Verbosity(0).CastModelOutputs(tensor.Float16))
	if opt != nil {
		t.Errorf("the optimizer is %v, want none", opt)
	}
	if got := model.Forward(x); !tensor.AllClose(got.Detach().Float(), want.Detach().Float(), 2e-3, 1e-3) || got.DType() != tensor.Float16 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestApexEvents: observers of scalers see Apex's steps as they see a GradScaler's.
func TestApexEvents(t *testing.T) {
	var got []string
	stop := amp.Observe(func(e amp.Event) {
		switch e.Kind {
		case amp.Stepped:
			got = append(got, fmt.Sprintf("step %d skipped %v scale %g bad %d", e.Step, e.Result.Skipped, e.Result.Scale, e.Result.FirstBadParam))
		case amp.Updated:
			got = append(got, fmt.Sprintf("update %g %g", e.Before, e.After))
		}
	})
	defer stop()
	a, b := nn.NewLinear(1, 1), nn.NewLinear(1, 1)
	models, opts := amp.InitializeAll([]nn.Module{a, b}, []amp.Optimizer{optim.NewSGD(nn.Parameters(a), 1), optim.NewSGD(nn.Parameters(b), 1)}, amp.O1.Verbosity(0))
	for _, x := range []float64{1, math.Inf(1)} {
		loss := models[1].Forward(models[0].Forward(tensor.Full(x, 1, 1))).Sum().Scale(1e-3)
		amp.ScaleLossWith(loss, opts, amp.ScaleLossOptions{}, func(scaled *tensor.Tensor) { scaled.Backward() })
		for _, o := range opts {
			o.Step()
			o.ZeroGrad()
		}
	}
	want := []string{
		"step 0 skipped false scale 65536 bad -1", "step 1 skipped false scale 65536 bad -1", "update 65536 65536",
		"step 2 skipped true scale 65536 bad 0", "step 3 skipped true scale 65536 bad 0", "update 65536 32768",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestApexCacheLasts: O1's casts of weights last from one ScaleLoss to the next, over
// several calls of Forward, so that gradients of a weight are summed in float16; those of
// two regions of Autocast are summed in float32.
func TestApexCacheLasts(t *testing.T) {
	l := &nn.Linear{Weight: tensor.Ones(1, 1).RequireGrad()}
	x := tensor.Full(60000, 1, 1)
	model, opt := amp.Initialize(l, optim.NewSGD(nn.Parameters(l), 1), amp.O1.LossScale(1).Verbosity(0))
	for range 2 {
		opt.ZeroGrad()
		loss := model.Forward(x).Sum().Add(model.Forward(x).Sum())
		amp.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		if g := l.Weight.Grad().Item(); !math.IsInf(g, 1) {
			t.Errorf("the gradient is %v, want +Inf: 120000 in float16", g)
		}
	}
	opt.ZeroGrad()
	for range 2 {
		amp.ScaleLoss(model.Forward(x).Sum(), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
	}
	if g := l.Weight.Grad().Item(); g != 120000 {
		t.Errorf("with a ScaleLoss between the gradient is %v, want 120000", g)
	}
}

// spy is an optimizer that notes the policy that its Step runs under.
type spy struct {
	*optim.Optimizer
	policy amp.Policy
}

func (s *spy) Step() { s.policy = amp.Active() }

// TestApexStepCastsNothing: an optimizer's step is outside the casts around it.
func TestApexStepCastsNothing(t *testing.T) {
	l := nn.NewLinear(1, 1)
	s := &spy{Optimizer: optim.NewSGD(nn.Parameters(l), 1), policy: amp.Float16}
	_, opt := amp.Initialize(l, s, amp.O1.Verbosity(0))
	amp.Autocast(amp.ApexFloat16, opt.Step)
	if s.policy.IsEnabled() {
		t.Errorf("the step ran under %v, want amp.Off", s.policy)
	}
}

// TestApexAutocast: the loss may run under O1's lists too; at other levels nothing is
// cast.
func TestApexAutocast(t *testing.T) {
	for i, want := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.Float32, tensor.Float32} {
		l := nn.NewLinear(2, 2)
		model, _ := amp.Initialize(l, optim.NewSGD(nn.Parameters(l), 1), levels[i])
		model.Autocast(func() {
			if d := tensor.Ones(2, 2).MatMul(tensor.Ones(2, 2)).DType(); d != want {
				t.Errorf("%v: a product is %v, want %v", levels[i], d, want)
			}
		})
	}
}

// TestApexOff: without Apex, switched off and at O0 training gives the same bits.
func TestApexOff(t *testing.T) {
	train := func(level amp.OptLevel, plain bool) *tensor.Tensor {
		g := tensor.NewGenerator(5)
		l := nn.NewLinear(4, 3, nn.InitFrom(g))
		base := optim.NewSGD(nn.Parameters(l), 0.1, optim.Momentum(0.9))
		model, opt := amp.Initialize(l, base, level.Verbosity(0))
		for range 5 {
			x, y := g.Randn(6, 4), g.Randn(6, 3)
			if plain {
				nn.MSELoss(l.Forward(x), y).Backward()
				base.Step()
				base.ZeroGrad()
				continue
			}
			loss := nn.MSELoss(model.Forward(x), y)
			amp.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) {
				if level.String() == "O2: off" && scaled != loss {
					t.Error("switched off, the scaled loss is another")
				}
				scaled.Backward()
			})
			opt.Step()
			opt.ZeroGrad()
		}
		return l.Weight.Detach()
	}
	want := train(amp.O0, true)
	for _, level := range []amp.OptLevel{amp.O0, amp.O2.Enabled(false), amp.O0.LossScale(1024)} {
		if got := train(level, false); !tensor.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", level, got, want)
		}
	}
}
