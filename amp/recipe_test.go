package amp_test

import (
	"math"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/data"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
	"halfnote/tensor/quant"
)

// blockRecipes are the policies with block formats.
var blockRecipes = map[string]func() amp.Policy{"MXFP8": amp.MXFP8, "NVFP4": amp.NVFP4, "BlockFP8": amp.BlockFP8}

// near reports an error unless got is want but for the rounding of sums.
func near(t *testing.T, what string, got, want *tensor.Tensor, share float64) {
	t.Helper()
	g, w := got.Float().Float64s(), want.Float().Float64s()
	scale := want.Float().Counts().AbsMax
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= share*(math.Abs(w[i])+scale*0x1p-10)) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g[i], w[i])
		}
	}
}

// A linear layer and its gradients have the numbers of torchao's quantisers, by testdata/blocks.py.
func TestBlockRecipes(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/blocks.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	for name, policy := range blockRecipes {
		x, w, b := f["x"].Clone().RequireGrad(), f["w"].Float().RequireGrad(), f["b"].Float().RequireGrad()
		var y *tensor.Tensor
		amp.Autocast(policy(), func() { y = tensor.Linear(x, w, b) })
		if y.DType() != tensor.BFloat16 {
			t.Errorf("%s: the result is %v, want bfloat16", name, y.DType())
		}
		near(t, name+" y", y.Detach().Slice(0, 0, 8), f[name+"/y"], 0x1p-7)
		y.BackwardWith(tensor.BackwardOptions{Gradient: f["dy"]})
		near(t, name+" db", b.Grad(), f["dy"].Float().Sum(0), 0x1p-18)
		if name == "NVFP4" {
			continue
		}
		near(t, name+" dx", x.Grad().Slice(0, 0, 8), f[name+"/dx"], 0x1p-8) // x is bfloat16
		near(t, name+" dw", w.Grad().Slice(0, 0, 8), f[name+"/dw"], 0x1p-14)
	}
}

// NVFP4's gradients are rounded stochastically: their mean over many draws is the gradient of rounded operands, and a seed repeats them.
func TestNVFP4Gradients(t *testing.T) {
	f, err := data.LoadSafetensors("testdata/blocks.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	grads := func(seed int64) (dx, dw *tensor.Tensor) {
		tensor.ManualSeed(seed)
		x, w := f["x"].Float().RequireGrad(), f["w"].Float().RequireGrad()
		var y *tensor.Tensor
		amp.Autocast(amp.NVFP4(), func() { y = tensor.Linear(x, w, nil) })
		y.BackwardWith(tensor.BackwardOptions{Gradient: f["dy"]})
		return x.Grad(), w.Grad()
	}
	a, aw := grads(1)
	b, bw := grads(1)
	c, _ := grads(2)
	if !tensor.Equal(a, b) || !tensor.Equal(aw, bw) || tensor.Equal(a, c) {
		t.Error("a seed does not repeat its gradients, or another one does")
	}
	const draws = 48
	sum, sumW := a.MulScalar(0), aw.MulScalar(0)
	for seed := range int64(draws) {
		dx, dw := grads(seed)
		sum, sumW = sum.Add(dx), sumW.Add(dw)
	}
	off := func(got, want *tensor.Tensor) float64 {
		return got.Sub(want).Square().Sum().Item() / want.Square().Sum().Item()
	}
	x, w, dy := f["x"].Float(), f["w"].Float(), f["dy"].Float()
	if one, mean := off(a, dy.MatMul(w)), off(sum.DivScalar(draws), dy.MatMul(w)); mean > 0.02 || mean > one/2 {
		t.Errorf("dx: relative squared error %.4f, of the mean %.4f", one, mean)
	}
	if one, mean := off(aw, dy.T().MatMul(x)), off(sumW.DivScalar(draws), dy.T().MatMul(x)); mean > 0.02 || mean > one/2 {
		t.Errorf("dw: relative squared error %.4f, of the mean %.4f", one, mean)
	}
}

// A network of odd sizes learns with each recipe as in bfloat16, and a layer can be kept in bfloat16.
func TestBlockRecipesTrain(t *testing.T) {
	train := func(p amp.Policy) float64 {
		tensor.ManualSeed(3)
		net := nn.NewSequential(nn.NewLinear(20, 70), nn.NewReLU(), nn.NewLinear(70, 3))
		x := tensor.Randn(50, 20)
		y := x.Slice(1, 0, 3).Mul(x.Slice(1, 3, 6))
		opt := optim.NewAdam(nn.Parameters(net), 0.01)
		var loss *tensor.Tensor
		for range 60 {
			opt.ZeroGrad()
			amp.Autocast(p, func() { loss = nn.MSELoss(net.Forward(x), y) })
			loss.Backward()
			opt.Step()
		}
		return loss.Item()
	}
	half := train(amp.BFloat16)
	for name, policy := range blockRecipes {
		loss := train(policy())
		t.Logf("%s: loss %.4f, bfloat16 %.4f", name, loss, half)
		if !(loss < 2*half+0.1) || loss == half {
			t.Errorf("%s: loss %v, and %v in bfloat16", name, loss, half)
		}
		kept := policy().WithIn("0", "linear", amp.LowerPrecision).WithIn("2", "linear", amp.LowerPrecision)
		if got := train(kept); got != half {
			t.Errorf("%s with both layers kept: loss %v, want %v as in bfloat16", name, got, half)
		}
		if got := policy().String(); got != "amp."+name+"()" {
			t.Errorf("%s is shown as %s", name, got)
		}
	}
}

// In quantisation-aware training a layer has rounded operands in the forward pass, and their gradients: those of integers at the ends of a range are 0.
func TestQAT(t *testing.T) {
	tensor.ManualSeed(5)
	x, w := tensor.Randn(8, 64), tensor.Randn(16, 64)
	input, weight := quant.Int{Bits: 8, Asymmetric: true}, quant.Int{Bits: 4, Group: 32}
	run := func(p amp.Policy, layer func(x, w *tensor.Tensor) *tensor.Tensor) (y, dx, dw *tensor.Tensor) {
		x, w := x.Clone().RequireGrad(), w.Clone().RequireGrad()
		amp.Autocast(p, func() { y = layer(x, w) })
		y.Float().Square().Sum().Backward()
		return y.Detach(), x.Grad(), w.Grad()
	}
	y, dx, dw := run(amp.BFloat16.QAT(input, weight), func(x, w *tensor.Tensor) *tensor.Tensor { return tensor.Linear(x, w, nil) })
	wy, wdx, wdw := run(amp.BFloat16, func(x, w *tensor.Tensor) *tensor.Tensor {
		return tensor.Linear(quant.FakeQuantize(x, input), quant.FakeQuantize(w, weight), nil)
	})
	if !tensor.Equal(y, wy) || !tensor.Equal(dx, wdx) || !tensor.Equal(dw, wdw) {
		t.Error("a layer under QAT differs from one whose operands are rounded before")
	}
	if plain, _, _ := run(amp.BFloat16, func(x, w *tensor.Tensor) *tensor.Tensor { return tensor.Linear(x, w, nil) }); tensor.Equal(plain, y) {
		t.Error("QAT rounds nothing")
	}
	if got := amp.BFloat16.QAT(nil, weight).String(); got != "amp.BFloat16.QAT(nil, quant.Int{Bits:4, Group:32, Asymmetric:false})" {
		t.Errorf("shown as %s", got)
	}
}

// The derivative can be recorded and differentiated again, as a gradient penalty does, and a checkpointed layer has the gradients of a plain one.
func TestBlockRecipesDerivatives(t *testing.T) {
	tensor.ManualSeed(6)
	x, w := tensor.Randn(20, 40).RequireGrad(), tensor.Randn(24, 40).RequireGrad()
	for name, policy := range blockRecipes {
		run := func(layer func(in ...*tensor.Tensor) *tensor.Tensor) []*tensor.Tensor {
			tensor.ManualSeed(7)
			var y *tensor.Tensor
			amp.Autocast(policy(), func() { y = layer(x, w) })
			return tensor.GradGraph(y.Float().Square().Sum(), x, w)
		}
		plain := func(in ...*tensor.Tensor) *tensor.Tensor { return tensor.Linear(in[0], in[1], nil) }
		g := run(plain)
		kept := run(func(in ...*tensor.Tensor) *tensor.Tensor { return tensor.Checkpoint(plain, in...) })
		if !tensor.Equal(g[0], kept[0]) || !tensor.Equal(g[1], kept[1]) {
			t.Errorf("%s: a checkpointed layer has other gradients", name)
		}
		second := tensor.Grad(g[0].Square().Sum(), w)[0].Stats()
		if second.AbsMax == 0 || second.NaNs+second.Infs > 0 {
			t.Errorf("%s: the second derivative is %+v", name, second)
		}
	}
}
