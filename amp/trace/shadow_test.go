package trace_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/amp/trace"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

func TestShadowOfSingleOperations(t *testing.T) {
	x := tensor.NewAs(tensor.Float16, []float64{1, 2, 300, 0x1p-14})
	y := tensor.NewAs(tensor.Float16, []float64{3, 3, 300, 0x1p-11})
	rec := trace.Start(trace.Shadow())
	x.Div(y)                                                                         // 1/3 and 2/3 round
	x.Mul(y)                                                                         // 300² is too large, 2⁻²⁵ too small
	tensor.New([]float64{1, 1e-30}).Exp()                                            // float32
	tensor.NewAs(tensor.Float16, []float64{1}).Tanh().Sub(tensor.Scalar(0.5).Half()) // exact, because the numbers are close
	rec.Stop()
	ops := rec.Ops()
	third := 1.0 / 3
	ulp := math.Abs(tensor.Scalar(third).Half().Item()-third) / 0x1p-12
	if s := ops[0].Shadow; s == nil || s.Compared != 4 || math.Abs(s.ULP-ulp) > 1e-9 || s.Own <= 0 || s.Own > 0x1p-11 || ops[0].Rounding != (trace.Rounding{}) {
		t.Errorf("div: got %+v, want an error of %v ulp", s, ulp)
	}
	if got, want := ops[1].Rounding, (trace.Rounding{Flushed: 1, Overflowed: 1}); got != want || !ops[1].Rounded || ops[1].Shadow.Dead != 1 || ops[1].Shadow.Blown != 1 {
		t.Errorf("mul: got %+v, %+v, want %+v", got, ops[1].Shadow, want)
	}
	if s := ops[2].Shadow; s == nil || s.ULP > 1 || s.ULP == 0 {
		t.Errorf("exp in float32: got %+v, want less than an ulp", s)
	}
	if last := ops[len(ops)-1]; last.Name != "sub" || last.Shadow.ULP > 0.5 {
		t.Errorf("sub: got %v", last)
	}
	if text := ops[1].String(); !strings.Contains(text, "own error") || !strings.Contains(text, "1 flushed to 0, 1 overflowed") {
		t.Errorf("got the operation's text\n%s", text)
	}
}

// TestShadowOfGradients compares float16 gradients with float64 gradients. With a small loss the float16
// gradients become 0 without a scaler, and survive with a scaler.
func TestShadowOfGradients(t *testing.T) {
	for _, scale := range []float64{1, 65536} {
		tensor.ManualSeed(1)
		net := nn.NewSequential(nn.NewLinear(16, 16), nn.NewTanh(), nn.NewLinear(16, 16), nn.NewTanh(), nn.NewLinear(16, 4))
		x, y := tensor.Randn(32, 16), tensor.Randn(32, 4)
		loss := func() (l *tensor.Tensor) {
			amp.Autocast(amp.Float16, func() { l = nn.MSELoss(net.Forward(x), y) })
			return l.MulScalar(1e-5 * scale)
		}
		rec := trace.Start(trace.Models(net), trace.Shadow())
		loss().Backward()
		rec.Stop()
		truth := gradients64(net, x, y, 1e-5*scale)
		for _, op := range rec.Ops() {
			if !op.Backward || op.Name != "cast" || op.Param == "" {
				continue
			}
			got, want := op.Shadow, truth[op.Param]
			dead := 0
			for i, g := range want.grad.Float64s() {
				if g != 0 && want.half[i] == 0 {
					dead++
				}
			}
			if got.Followed != want.grad.Numel() || got.Dead != dead {
				t.Errorf("%s at scale %v: got %d of %d dead, want %d of %d", op.Param, scale, got.Dead, got.Followed, dead, want.grad.Numel())
			}
			delete(truth, op.Param)
			if scale > 1 && (dead > 0 || got.Drift > 0.01) || scale == 1 && op.Param == "0.weight" && (dead == 0 || got.Drift < 0.05) {
				t.Errorf("%s at scale %v: got %d dead and drift %v", op.Param, scale, dead, got.Drift)
			}
		}
		if len(truth) > 0 {
			t.Errorf("got no gradients of %d parameters", len(truth))
		}
	}
}

type pair struct {
	grad *tensor.Tensor
	half []float64
}

// gradients64 returns the gradients of each parameter in float64 and in the dtype of net.
func gradients64(net *nn.Sequential, x, y *tensor.Tensor, scale float64) map[string]pair {
	h := x.Double()
	var w []*tensor.Tensor
	for _, p := range nn.Parameters(net) {
		w = append(w, p.Detach().Double().RequireGrad())
	}
	h = tensor.Linear(tensor.Linear(tensor.Linear(h, w[0], w[1]).Tanh(), w[2], w[3]).Tanh(), w[4], w[5])
	nn.MSELoss(h, y.Double()).MulScalar(scale).Backward()
	out := map[string]pair{}
	for i, p := range nn.NamedParameters(net) {
		out[p.Name] = pair{w[i].Grad(), p.Tensor.Grad().Float64s()}
	}
	return out
}

// TestShadowPreservesTraining checks that a shadow changes neither the bits of a training run nor its
// random numbers.
func TestShadowPreservesTraining(t *testing.T) {
	run := func(with ...trace.Option) []float64 {
		tensor.ManualSeed(7)
		net := nn.NewSequential(nn.NewConv2d(2, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewFlatten(), nn.NewDropout(0.3), nn.NewLinear(4*4*4, 8), nn.NewLayerNorm([]int{8}), nn.NewLinear(8, 3))
		x, y := tensor.Randn(4, 2, 6, 6), tensor.Randint(0, 3, 4)
		step := trained(net, optim.NewAdamW(nn.Parameters(net), 0.01), func() *tensor.Tensor {
			out := net.Forward(x)
			return nn.CrossEntropy(out, y).Add(out.Slice(1, 0, 2).Square().Mean()).Add(out.Slice(1, 1, 3).Abs().Mean())
		})
		if with != nil {
			rec := trace.Start(append(with, trace.Models(net))...)
			defer func() {
				rec.Stop()
				shadowed := 0
				for _, op := range rec.Ops() {
					if op.Shadow != nil {
						shadowed++
						// Batch norm cancels the convolution's bias, so its gradient is only rounding error.
						if op.Shadow.Drift > 0.2 && op.Param != "0.bias" && op.Name != "sum" {
							t.Errorf("step %d: %s: got a drift of %v from float64", op.Step, op.Name, op.Shadow.Drift)
						}
					} else if !op.InPlace && op.Out.IsFloat() {
						t.Errorf("step %d: %s: got no shadow", op.Step, op.Name)
					}
				}
			}()
		}
		for range 3 {
			step()
		}
		var all []float64
		for _, p := range nn.Parameters(net) {
			all = append(all, p.Float64s()...)
		}
		return append(all, tensor.Rand(3).Float64s()...)
	}
	if plain, shadowed := run(), run(trace.Shadow()); !slices.Equal(plain, shadowed) {
		t.Error("training with a shadow gave different numbers")
	}
}
