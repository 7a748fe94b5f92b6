package apex_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

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

// TestRestoring is test_restoring. It checks that a state dict is float32 at every level, that a run
// restored at the same level continues with the same bits, and that other levels can load it.
func TestRestoring(t *testing.T) {
	train := func(m *apex.Model, opt *apex.Optimizer, x *tensor.Tensor, losses int) *tensor.Tensor {
		opt.ZeroGrad()
		y := m.Forward(x)
		for k := 1; k <= losses; k++ {
			apex.ScaleLoss(y.Mean().MulScalar(float64(k)), opt, func(scaled *tensor.Tensor) {
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
				model, opt := apex.Initialize(net, base, level.NumLosses(losses))
				g := tensor.NewGenerator(7)
				var again *apex.Model
				var againOpt *apex.Optimizer
				for epoch := range 6 {
					x := g.Randn(2, 3, 6, 6)
					y := train(model, opt, x, losses)
					if epoch == 2 {
						for name, saved := range nn.StateDict(model) {
							if d := saved.DType(); d.IsFloat() && d != tensor.Float32 {
								t.Errorf("%v: %s in the state dict: got %v, want float32", level, name, d)
							}
						}
						fresh := newCheckpointed(2)
						freshBase := optim.NewSGD(nn.Parameters(fresh), 1e-3, optim.Momentum(0.9))
						if before {
							again, againOpt = apex.Initialize(fresh, freshBase, restored.NumLosses(losses))
							againOpt.ZeroGrad()
						}
						if err := nn.LoadStateDict(fresh, model.StateDict()); err != nil {
							t.Fatal(err)
						}
						if err := freshBase.LoadStateDict(base.StateDict()); err != nil {
							t.Fatal(err)
						}
						if !before {
							again, againOpt = apex.Initialize(fresh, freshBase, restored.NumLosses(losses))
						} else if j == 2 {
							// Master weights are made at first use, so they are copies of the loaded model.
							for k, p := range nn.Parameters(fresh) {
								tensor.NoGrad(func() { apex.MasterParams(againOpt)[k].Assign(p) })
							}
						}
						if err := apex.LoadStateDict(againOpt, apex.StateDict(opt)); err != nil {
							t.Fatal(err)
						}
					}
					if epoch > 2 {
						z := train(again, againOpt, x, losses)
						if i == j && i != 2 && !tensor.Equal(y.Detach(), z.Detach()) {
							t.Errorf("%v, initialized before loading %v: epoch %d differs", level, before, epoch)
						}
						if !tensor.AllClose(y.Detach().Float(), z.Detach().Float(), 2e-2, 2e-2) {
							t.Errorf("%v restored as %v, initialized before loading %v: epoch %d: the results differ too much", level, restored, before, epoch)
						}
					}
				}
			}
		}
	}
}

// TestLossScaleDecrease is test_loss_scale_decrease. It checks that each loss has its own scale.
func TestLossScaleDecrease(t *testing.T) {
	for _, level := range levels[1:3] {
		net := newCheckpointed(1)
		model, opt := apex.Initialize(net, optim.NewSGD(nn.Parameters(net), 1e-3), level.NumLosses(3))
		left := []int{0, 1, 2}
		for range 2 {
			opt.ZeroGrad()
			for id := range 3 {
				x := tensor.Randn(2, 3, 6, 6)
				if left[id] > 0 {
					x, left[id] = x.MulScalar(math.Pow(2, 17)), left[id]-1
				}
				apex.ScaleLossWith(model.Forward(x).Mean(), []*apex.Optimizer{opt}, apex.ScaleLossOptions{LossID: id}, func(scaled *tensor.Tensor) { scaled.Backward() })
			}
			opt.Step()
		}
		state := apex.StateDict(opt)
		for id := range 3 {
			s := state[fmt.Sprintf("loss_scaler%d", id)]
			if want := 65536 / math.Pow(2, float64(id)); s["loss_scale"] != want || s["unskipped"] != float64(2-id) {
				t.Errorf("%v: loss scaler %d: got %v, want scale %v and %d unskipped", level, id, s, want, 2-id)
			}
		}
		if err := apex.LoadStateDict(opt, map[string]map[string]float64{"loss_scaler0": {"loss_scale": 8, "unskipped": 3}, "scaler": {}}); err == nil || !strings.Contains(err.Error(), "scaler is not a loss scaler") {
			t.Errorf("an invalid state: got error %v", err)
		}
		if got := apex.StateDict(opt)["loss_scaler0"]["loss_scale"]; got != 65536 {
			t.Errorf("an invalid state changed the scale to %v", got)
		}
	}
}

// TestLoadAfterSteps loads weights into a model that has taken steps. The next step, whose learning rate is tiny, must start from
// the loaded weights at every level. In Apex float32 masters keep the old ones and the step undoes the load (apex issues 180, 480).
func TestLoadAfterSteps(t *testing.T) {
	for _, level := range levels {
		for _, skipped := range []bool{false, true} {
			net := nn.NewSequential(nn.NewLinear(8, 8, nn.InitFrom(tensor.NewGenerator(1))))
			base := optim.NewSGD(nn.Parameters(net), 1e-6)
			model, opt := apex.Initialize(net, base, level.DynamicLossScale())
			x := tensor.NewGenerator(2).Randn(4, 8)
			step := func(by float64) {
				apex.ScaleLoss(model.Forward(x).Mean().MulScalar(by), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
				opt.Step()
				opt.ZeroGrad()
			}
			step(1)
			state := map[string]*tensor.Tensor{}
			for name, w := range nn.StateDict(model) {
				state[name] = tensor.FullLike(w, -0.5)
			}
			if err := nn.LoadStateDict(model, state); err != nil {
				t.Fatalf("%v: %v", level, err)
			}
			if skipped {
				step(math.Inf(1))
			}
			step(1)
			for name, w := range nn.StateDict(model) {
				if !tensor.AllClose(w, state[name], 0, 1e-4) {
					t.Errorf("%v, skipped %v: %s: got %v after the step, want the loaded -0.5", level, skipped, name, w)
				}
			}
			for i, p := range apex.MasterParams(opt) {
				if !tensor.AllClose(p.Detach().Float(), tensor.Full(-0.5, p.Shape()...), 0, 1e-4) {
					t.Errorf("%v, skipped %v: master %d: got %v", level, skipped, i, p)
				}
			}
		}
	}
}
