package diagnose_test

import (
	"fmt"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
	"halfnote/tensor/quant"
)

// narrow is a layer of a recipe by hand, whose gradients are rounded by the functions dgrad and wgrad.
type narrow struct {
	Weight       *tensor.Tensor
	dgrad, wgrad func(g *tensor.Tensor) *tensor.Tensor
}

func (l *narrow) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.Function{
		Name: "narrow_linear",
		Forward: func(c *tensor.Context, in []*tensor.Tensor) *tensor.Tensor {
			c.Save(in...)
			return in[0].MatMul(in[1].T())
		},
		Backward: func(c *tensor.Context, dy *tensor.Tensor) []*tensor.Tensor {
			x, w := c.Saved()[0], c.Saved()[1]
			return []*tensor.Tensor{l.dgrad(dy).MatMul(w), l.wgrad(dy).T().MatMul(x)}
		},
	}.Apply(x, l.Weight)
}

func same(g *tensor.Tensor) *tensor.Tensor { return g }

// without rounds to FP4 without a scale, which makes gradients below a quarter 0: the fault of a recipe whose scales are not computed.
func without(g *tensor.Tensor) *tensor.Tensor {
	return quant.FakeQuantize(g, quant.Cast{Element: quant.E2M1})
}

// with rounds to FP4 with scales of blocks.
func with(g *tensor.Tensor) *tensor.Tensor { return quant.FakeQuantize(g, quant.NVFP4{}) }

// signs keeps the signs of a gradient, as saturation does.
func signs(g *tensor.Tensor) *tensor.Tensor {
	return quant.FakeQuantize(g.MulScalar(1e30), quant.Cast{Element: quant.E2M1})
}

// A recipe that trains on gradients of zeros is named in its first step, by module and role.
func TestLintZeroGradients(t *testing.T) {
	for _, c := range []struct {
		name         string
		dgrad, wgrad func(g *tensor.Tensor) *tensor.Tensor
		want         []string
	}{
		{"scales", with, with, nil},
		{"no scales", without, without, []string{"all-zero 2 gradient of the input", "all-zero 2 gradient of the weight"}},
		{"no scales for weights", with, without, []string{"all-zero 0 gradient of the weight", "all-zero 2 gradient of the weight"}},
		{"saturated", same, func(g *tensor.Tensor) *tensor.Tensor { return signs(g.Mean(1)).Unsqueeze(1).Expand(g.Shape()...) }, []string{"all-alike 0 gradient of the weight", "all-alike 2 gradient of the weight"}},
	} {
		tensor.ManualSeed(1)
		layer := func() *narrow {
			return &narrow{tensor.Randn(32, 32).MulScalar(0.2).RequireGrad(), c.dgrad, c.wgrad}
		}
		net := nn.NewSequential(layer(), nn.NewTanh(), layer())
		x, y := tensor.Ones(1, 32).Mul(tensor.Randn(1, 1)), tensor.Randn(1, 32)
		opt := optim.NewSGD(nn.Parameters(net), 0.1)
		report := diagnose.Lint(net, func() {
			nn.MSELoss(net.Forward(x), y).MulScalar(0.01).Backward()
			opt.Step()
			opt.ZeroGrad()
		})
		var got []string
		for _, f := range report.Findings {
			if (f.Code == "all-zero" || f.Code == "all-alike") && f.Role != "" {
				got = append(got, fmt.Sprintf("%s %s %s", f.Code, f.Module, f.Role))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v\n%v", c.name, got, c.want, report)
		}
	}
}

// The recipes of package amp have no such finding, nor has a layer that is 0 in float64 too; float16 without a scale has.
func TestLintZerosOfRecipes(t *testing.T) {
	for _, c := range []struct {
		name    string
		policy  amp.Policy
		loss    float64
		prepare func(net *nn.Sequential)
		want    bool
	}{
		{"MXFP8", amp.MXFP8(), 1e-4, nil, false},
		{"NVFP4", amp.NVFP4(), 1e-4, nil, false},
		{"BlockFP8", amp.BlockFP8(), 1e-4, nil, false},
		{"bfloat16", amp.BFloat16, 1e-4, nil, false},
		{"float16", amp.Float16, 1e-7, nil, true},
		{"a last layer of zeros", amp.BFloat16, 1, func(net *nn.Sequential) { nn.InitConstant(nn.Parameters(net)[2], 0) }, false},
		{"equal weights", amp.BFloat16, 1, func(net *nn.Sequential) {
			for _, p := range nn.Parameters(net) {
				nn.InitConstant(p, 0.01)
			}
		}, false},
	} {
		tensor.ManualSeed(1)
		net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewTanh(), nn.NewLinear(64, 64))
		if c.prepare != nil {
			c.prepare(net)
		}
		x, y := tensor.Randn(64, 64), tensor.Randn(64, 64)
		opt := optim.NewSGD(nn.Parameters(net), 0.1)
		codes := diagnose.Lint(net, func() {
			var loss *tensor.Tensor
			amp.Autocast(c.policy, func() { loss = nn.MSELoss(net.Forward(x), y) })
			loss.MulScalar(c.loss).Backward()
			opt.Step()
			opt.ZeroGrad()
		}).Codes()
		if got := slices.Contains(codes, "all-zero") || slices.Contains(codes, "all-alike"); got != c.want {
			t.Errorf("%s: findings %v; want all-zero: %v", c.name, codes, c.want)
		}
	}
}

// A gradient that is 0 in float64 too is not a finding: only rows of zeros reach the loss.
func TestLintZerosInFloat64(t *testing.T) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64))
	x, y := tensor.Randn(64, 64), tensor.Randn(32, 64)
	x.Slice(0, 0, 32).Fill(0)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	codes := diagnose.Lint(net, func() {
		var loss *tensor.Tensor
		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x).Slice(0, 0, 32), y) })
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
	}).Codes()
	if slices.Contains(codes, "all-zero") || slices.Contains(codes, "all-alike") {
		t.Errorf("findings %v", codes)
	}
}

// A recipe in FP4 that forgets its scales trains its last layer on gradients of zeros; the first step shows it.
func ExampleLint_zeros() {
	tensor.ManualSeed(1)
	layer := func() *narrow { return &narrow{tensor.Randn(32, 32).MulScalar(0.2).RequireGrad(), without, without} }
	net := nn.NewSequential(layer(), nn.NewTanh(), layer())
	x, y := tensor.Randn(1, 32), tensor.Randn(1, 32)
	opt := optim.NewSGD(nn.Parameters(net), 0.1)
	report := diagnose.Lint(net, func() {
		nn.MSELoss(net.Forward(x), y).MulScalar(0.01).Backward()
		opt.Step()
		opt.ZeroGrad()
	})
	for _, f := range report.Findings {
		if f.Code == "all-zero" && f.Role != "" {
			fmt.Printf("%s: module %s, %s\n", f.Code, f.Module, f.Role)
		}
	}
	// Unordered output:
	// all-zero: module 2, gradient of the input
	// all-zero: module 2, gradient of the weight
}
