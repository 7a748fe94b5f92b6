package apex_test

import (
	"slices"
	"testing"

	"halfnote/amp/apex"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

var levels = []apex.OptLevel{apex.O0.Verbosity(0), apex.O1.Verbosity(0), apex.O2.Verbosity(0), apex.O3.Verbosity(0)}

// TestModels checks the dtypes of model, result and master weights at each level.
func TestModels(t *testing.T) {
	x := tensor.Randn(2, 3, 4, 4)
	for _, c := range []struct {
		level              apex.OptLevel
		conv, norm, result tensor.DType
		masters            bool
	}{
		{apex.O0, tensor.Float32, tensor.Float32, tensor.Float32, false},
		{apex.O1, tensor.Float32, tensor.Float32, tensor.Float32, false},
		{apex.O2, tensor.Float16, tensor.Float32, tensor.Float32, true},
		{apex.O3, tensor.Float16, tensor.Float16, tensor.Float32, false},
		{apex.O2.KeepBatchNormFP32(false), tensor.Float16, tensor.Float16, tensor.Float32, true},
		{apex.O3.KeepBatchNormFP32(true), tensor.Float16, tensor.Float32, tensor.Float32, false},
		{apex.O3.CastModelOutputs(tensor.Float16), tensor.Float16, tensor.Float16, tensor.Float16, false},
		{apex.O1.CastModelOutputs(tensor.Float16), tensor.Float32, tensor.Float32, tensor.Float16, false},
		{apex.O2.CastModelType(tensor.BFloat16), tensor.BFloat16, tensor.Float32, tensor.Float32, true},
		{apex.O2.MasterWeights(false), tensor.Float16, tensor.Float32, tensor.Float32, false},
		{apex.O2.Enabled(false), tensor.Float32, tensor.Float32, tensor.Float32, false},
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
		model, opt := apex.Initialize(net, base, c.level.Verbosity(0))
		if got := model.Forward(x).DType(); got != c.result {
			t.Errorf("%v: result: got %v, want %v", c.level, got, c.result)
		}
		if got := net.Conv1.Weight.DType(); got != c.conv {
			t.Errorf("%v: convolution: got %v, want %v", c.level, got, c.conv)
		}
		for _, p := range []*tensor.Tensor{net.BN1.Weight, net.BN1.RunningVar} {
			if got := p.DType(); got != c.norm {
				t.Errorf("%v: batch norm: got %v, want %v", c.level, got, c.norm)
			}
		}
		if got := names(model); !slices.Equal(got, want) {
			t.Errorf("%v: parameters: got %v, want %v", c.level, got, want)
		}
		masters := apex.MasterParams(opt)
		if got := masters[0] != net.Conv1.Weight; got != c.masters {
			t.Errorf("%v: master weights: got %v, want %v", c.level, got, c.masters)
		}
		if c.masters && masters[0].DType() != tensor.Float32 {
			t.Errorf("%v: master weight: got %v", c.level, masters[0].DType())
		}
		if len(base.Params()) != 5 || base.Params()[0] != masters[0] {
			t.Errorf("%v: the optimizer's parameters are not the master weights", c.level)
		}
	}
}

// TestMomentum checks that the optimizer's state is converted to its parameters' dtype.
func TestMomentum(t *testing.T) {
	for _, level := range levels {
		net := nn.NewLinear(3, 2)
		base := optim.NewSGD(nn.Parameters(net), 0.1, optim.Momentum(0.9))
		net.Forward(tensor.Ones(1, 3)).Sum().Backward()
		base.Step()
		base.ZeroGrad()
		want := base.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor).Clone()
		model, opt := apex.Initialize(net, base, level)
		apex.ScaleLoss(model.Forward(tensor.Zeros(1, 3)).Sum().MulScalar(0), opt, func(scaled *tensor.Tensor) { scaled.Backward() })
		opt.Step()
		got := base.StateDict()["state.0.momentum_buffer"].(*tensor.Tensor)
		if got.DType() != opt.Params()[0].DType() || !tensor.AllClose(got.Float(), want.MulScalar(0.9), 1e-3, 0) {
			t.Errorf("%v: momentum: got %v, want 0.9 times %v", level, got, want)
		}
	}
}

// TestInference checks Initialize with a model and without an optimizer.
func TestInference(t *testing.T) {
	w := nn.NewLinear(2, 2)
	x := tensor.Ones(1, 2)
	want := w.Forward(x).Half()
	model, opt := apex.Initialize(w, nil, apex.O3.Verbosity(0).CastModelOutputs(tensor.Float16))
	if opt != nil {
		t.Errorf("optimizer: got %v, want nil", opt)
	}
	if got := model.Forward(x); !tensor.AllClose(got.Detach().Float(), want.Detach().Float(), 2e-3, 1e-3) || got.DType() != tensor.Float16 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOff checks that training without Apex, with Apex disabled and at O0 gives the same bits.
func TestOff(t *testing.T) {
	train := func(level apex.OptLevel, plain bool) *tensor.Tensor {
		g := tensor.NewGenerator(5)
		l := nn.NewLinear(4, 3, nn.InitFrom(g))
		base := optim.NewSGD(nn.Parameters(l), 0.1, optim.Momentum(0.9))
		model, opt := apex.Initialize(l, base, level.Verbosity(0))
		for range 5 {
			x, y := g.Randn(6, 4), g.Randn(6, 3)
			if plain {
				nn.MSELoss(l.Forward(x), y).Backward()
				base.Step()
				base.ZeroGrad()
				continue
			}
			loss := nn.MSELoss(model.Forward(x), y)
			apex.ScaleLoss(loss, opt, func(scaled *tensor.Tensor) {
				if level.String() == "O2: off" && scaled != loss {
					t.Error("disabled: got another tensor as the scaled loss")
				}
				scaled.Backward()
			})
			opt.Step()
			opt.ZeroGrad()
		}
		return l.Weight.Detach()
	}
	want := train(apex.O0, true)
	for _, level := range []apex.OptLevel{apex.O0, apex.O2.Enabled(false), apex.O0.LossScale(1024)} {
		if got := train(level, false); !tensor.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", level, got, want)
		}
	}
}
