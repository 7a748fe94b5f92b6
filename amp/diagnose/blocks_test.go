package diagnose_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/diagnose"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
	"halfnote/tensor/quant"
)

// blockStep returns a net of two layers and a step under a policy.
func blockStep(p amp.Policy) (*nn.Sequential, func() *tensor.Tensor) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 96), nn.NewTanh(), nn.NewLinear(96, 32))
	x, y := tensor.Randn(48, 64), tensor.Randn(48, 32)
	return net, func() (loss *tensor.Tensor) {
		amp.Autocast(p, func() { loss = nn.MSELoss(net.Forward(x), y) })
		return loss
	}
}

// The statistics are those of Measure on the operands, which hooks of the test collect; they do not depend on the recipe in use.
func TestBlocks(t *testing.T) {
	for _, p := range []amp.Policy{amp.Off, amp.BFloat16, amp.MXFP8(), amp.BFloat16.QAT(nil, quant.Int{Bits: 4, Group: 32})} {
		net, step := blockStep(p)
		r := diagnose.Blocks(net, func() { step().Backward() }, quant.MXFP4, quant.NVFP4{})
		if len(r.Stats) != 2*(4+6) {
			t.Fatalf("%v: %d rows, want 20: four and six operands of two layers, two schemes\n%v", p, len(r.Stats), r.Stats)
		}
		weight := nn.Parameters(net)[0].Detach() // amp.Off and MXFP8 measure it as it is, others as bfloat16
		if p.DType() == tensor.BFloat16 && p.String() != "amp.MXFP8()" {
			weight = weight.BFloat16().Float()
		}
		for _, b := range r.Stats {
			if b.Module != "0" || b.Tensor != "weight" {
				continue
			}
			of := weight
			if b.Role == diagnose.InputGradient {
				of = weight.T().Contiguous()
			}
			if want := quant.Measure(of, b.Scheme); b.Stats != want && !strings.Contains(p.String(), "QAT") {
				t.Errorf("%v: %v: got %+v, want %+v", p, b, b.Stats, want)
			}
		}
		for _, role := range []diagnose.Role{diagnose.Forward, diagnose.InputGradient, diagnose.WeightGradient} {
			if n := len(slices.DeleteFunc(r.Of(quant.MXFP4), func(b diagnose.BlockStats) bool { return b.Role != role })); n != 4 && role != diagnose.InputGradient || n != 2 && role == diagnose.InputGradient {
				t.Errorf("%v: %d operands of the %s, want 4, or 2 for the input of the second layer", p, n, role)
			}
		}
	}
}

// Blocks changes nothing: the step takes effect as without it.
func TestBlocksLeavesTheStep(t *testing.T) {
	after := func(watched bool) []float64 {
		net, step := blockStep(amp.NVFP4())
		opt := optim.NewSGD(nn.Parameters(net), 0.1)
		train := func() {
			step().Backward()
			opt.Step()
			opt.ZeroGrad()
		}
		if watched {
			diagnose.Blocks(net, train)
		} else {
			train()
		}
		train()
		return nn.Parameters(net)[0].Float64s()
	}
	if !slices.Equal(after(true), after(false)) {
		t.Error("weights after a step with Blocks differ from those without")
	}
}

// A page has the sentences, a picture and a row of each operand; without layers it says so.
func TestBlocksPage(t *testing.T) {
	net, step := blockStep(amp.BFloat16)
	r := diagnose.Blocks(net, func() { step().Backward() })
	html := r.HTML()
	for _, want := range []string{"gradient of the weight", "nvfp4", "<img", "error, rotated"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if none := diagnose.Blocks(nil, func() {}); !strings.Contains(none.HTML(), "No linear layer or product of matrices ran") {
		t.Errorf("without layers: %v", none)
	}
}

// Products of matrices are measured along the dimension that each sums over; a square matrix is not taken for a weight. Convolutions and attention in one
// operation are named.
func TestBlocksOfOtherProducts(t *testing.T) {
	tensor.ManualSeed(1)
	q, k := tensor.Randn(2, 32, 48).RequireGrad(), tensor.Randn(2, 48, 32).RequireGrad()
	square := tensor.Randn(32, 32).RequireGrad()
	r := diagnose.Blocks(nil, func() { q.MatMul(k).MatMul(square.Unsqueeze(0).Expand(2, 32, 32)).Square().Sum().Backward() }, quant.NVFP4{})
	rows := func(x *tensor.Tensor) *tensor.Tensor {
		return x.Detach().Contiguous().Reshape(-1, x.Shape()[x.Dim()-1])
	}
	want := map[string]*tensor.Tensor{
		"forward first": rows(q), "forward second": rows(k.Transpose(-1, -2)), "gradient of the input second": rows(k), "gradient of the weight first": rows(q.Transpose(-1, -2)),
	}
	if len(r.Stats) != 2*6 {
		t.Fatalf("%d rows, want six operands of two products: %v", len(r.Stats), r.Stats)
	}
	for _, b := range r.Stats[:2] {
		if m := quant.Measure(want[string(b.Role)+" "+b.Tensor], quant.NVFP4{}); b.Stats != m {
			t.Errorf("%v: want %v", b, m)
		}
	}
	found := 0
	for _, b := range r.Stats {
		if x := want[string(b.Role)+" "+b.Tensor]; x != nil && b.Stats == quant.Measure(x, quant.NVFP4{}) {
			found++
		}
	}
	if found != len(want) {
		t.Errorf("%d of the operands of the first product are among %v, want %d", found, r.Stats, len(want))
	}
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3), nn.NewFlatten(), nn.NewLinear(8*6*6, 16))
	r = diagnose.Blocks(net, func() {
		x := tensor.Randn(2, 3, 8, 8)
		y := net.Forward(x).Reshape(1, 2, 16)
		nn.ScaledDotProductAttention(y, y, y).Sum().Backward()
	}, quant.MXFP8)
	if len(r.Left) != 2 || r.Left[0].Op != "conv2d" || r.Left[0].Module != "0" || r.Left[1].Op != "scaled_dot_product_attention" {
		t.Errorf("left out: %v, want the convolution and attention", r.Left)
	}
	if text := r.String(); !strings.Contains(text, "Not measured: conv2d of module 0") || len(r.Stats) == 0 {
		t.Errorf("got %s", text)
	}
}

// An outlier channel costs a block its small numbers, and a rotation spreads it. Without an outlier a rotation does not help.
func TestOutliers(t *testing.T) {
	tensor.ManualSeed(1)
	x := tensor.Randn(64, 64)
	even := diagnose.Outliers(x, quant.MXFP4, 16)
	x.Slice(1, 5, 6).MulAssign(tensor.Scalar(100))
	r := diagnose.Outliers(x, quant.MXFP4, 16)
	if r.Before[5] < 50*r.Before[6] || r.After[5] > 5*r.After[6] {
		t.Errorf("channels %v become %v", r.Before[:8], r.After[:8])
	}
	if gain := even.Rotated.Error() / even.Plain.Error(); math.Abs(gain-1) > 0.2 {
		t.Errorf("without an outlier a rotation changes the error by a factor of %v", gain)
	}
	if tensor.Try(func() { diagnose.Outliers(x, quant.MXFP4, 3) }) == nil {
		t.Error("a rotation of 3 is accepted")
	}
	if !strings.Contains(r.HTML(), "channel") {
		t.Error("no chart of channels")
	}
}

// Search keeps the layer whose numbers do not fit, and no other; without a budget that can be met it says so; the net is as before.
func TestSearch(t *testing.T) {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64))
	x := tensor.Randn(32, 64)
	w := nn.Parameters(net)[2] // of layer 2: each block has one large number that is multiplied by an input of 0
	tensor.NoGrad(func() {
		nn.Parameters(net)[0].Slice(0, 0, 1).MulAssign(tensor.Scalar(0))
		nn.Parameters(net)[1].Slice(0, 0, 1).MulAssign(tensor.Scalar(0))
		w.Slice(1, 0, 1).AddAssign(tensor.Scalar(1e5))
	})
	before := w.Float64s()
	step := func() (y *tensor.Tensor) {
		amp.Autocast(amp.BFloat16, func() { y = net.Forward(x) })
		return y
	}
	r := diagnose.Search(net, step, diagnose.PrecisionSetOptions{Budget: 0.1}, amp.MXFP8())
	s := r.Sets[0]
	if !s.Found || len(s.Keep) != 1 || s.Keep[0].Module != "2" || s.After > 0.1 || s.Before <= 0.1 || len(s.Layers) != 3 {
		t.Errorf("got %v", r)
	}
	if want := `amp.MXFP8().WithIn("2", "linear", amp.LowerPrecision)`; s.Code != want {
		t.Errorf("code %s, want %s", s.Code, want)
	}
	if r = diagnose.Search(net, step, diagnose.PrecisionSetOptions{Budget: 1e-9}, amp.MXFP8()); r.Sets[0].Found || !strings.Contains(r.String(), "exceeded even with all 3 layers in bfloat16") {
		t.Errorf("got %v", r)
	}
	if r = diagnose.Search(net, step, diagnose.PrecisionSetOptions{Budget: 0.9}); len(r.Sets) != 2 || len(r.Sets[0].Keep) > 0 || !strings.Contains(r.HTML(), "all 3 layers may be quantised") {
		t.Errorf("got %v", r)
	}
	if !slices.Equal(w.Float64s(), before) {
		t.Error("the net has changed")
	}
	for _, wrong := range []func(){
		func() {
			diagnose.Search(net, func() *tensor.Tensor { return net.Forward(x) }, diagnose.PrecisionSetOptions{})
		},
		func() { diagnose.Search(net, step, diagnose.PrecisionSetOptions{}, amp.BFloat16) },
		func() { diagnose.Search(net, nil, diagnose.PrecisionSetOptions{}) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*amp.Error); !ok {
					t.Error("a wrong call does not panic with an amp.Error")
				}
			}()
			wrong()
		}()
	}
}

// What would NVFP4 lose in a step in bfloat16? The products of the gradients have other blocks than the forward pass.
func ExampleBlocks() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64))
	x, y := tensor.Randn(64, 64), tensor.Randn(64, 64)
	report := diagnose.Blocks(net, func() {
		var loss *tensor.Tensor
		amp.Autocast(amp.BFloat16, func() { loss = nn.MSELoss(net.Forward(x), y) })
		loss.Backward()
	}, quant.NVFP4{}, quant.MXFP8)
	for _, b := range report.Of(quant.NVFP4{})[:4] {
		fmt.Printf("%s, %s, %s: error %.3f\n", b.Module, b.Role, b.Tensor, b.Error())
	}
	// Output:
	// 0, forward, input: error 0.095
	// 0, forward, weight: error 0.100
	// 2, forward, input: error 0.087
	// 2, forward, weight: error 0.101
}

// Which layers must stay in bfloat16?
func ExampleSearch() {
	tensor.ManualSeed(1)
	net := nn.NewSequential(nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64), nn.NewReLU(), nn.NewLinear(64, 64))
	x := tensor.Randn(32, 64)
	report := diagnose.Search(net, func() (y *tensor.Tensor) {
		amp.Autocast(amp.BFloat16, func() { y = net.Forward(x) })
		return y
	}, diagnose.PrecisionSetOptions{Budget: 0.15})
	for _, s := range report.Sets {
		fmt.Printf("error %.2f, then %.2f: %s\n", s.Before, s.After, s.Code)
	}
	// Output:
	// error 0.04, then 0.04: amp.MXFP8()
	// error 0.18, then 0.14: amp.NVFP4().WithIn("0", "linear", amp.LowerPrecision)
}

// A channel that is 50 times as large as the others costs FP4 the small numbers of its blocks.
func ExampleOutliers() {
	tensor.ManualSeed(1)
	x := tensor.Randn(64, 64)
	x.Slice(1, 5, 6).MulAssign(tensor.Scalar(50))
	r := diagnose.Outliers(x, quant.MXFP4, 16)
	fmt.Printf("flushed %.0f %%, after a rotation %.0f %%\n", 100*r.Plain.FlushedShare(), 100*r.Rotated.FlushedShare())
	// Output:
	// flushed 40 %, after a rotation 13 %
}
