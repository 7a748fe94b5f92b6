package tensor_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestDerivativesAtEdges compares gradients where functions have corners, ties or poles with those of PyTorch 2.15.
func TestDerivativesAtEdges(t *testing.T) {
	gradient := func(x *tensor.Tensor, f func(x *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
		x = x.Detach().RequireGrad()
		f(x).Sum().Backward()
		return x.Grad()
	}
	zeros := tensor.Zeros(2)
	bag := func(x *tensor.Tensor, ids ...int) *tensor.Tensor {
		return tensor.EmbeddingBag(tensor.FromInts(ids), x, tensor.EmbeddingBagOptions{Offsets: tensor.FromInts([]int{0}), Mode: "max"})
	}
	ignored := func(shape ...int) *tensor.Tensor { return tensor.Full(-100, shape...).Long() }
	for name, c := range map[string]struct {
		got  *tensor.Tensor
		want string
	}{
		"atan2, first operand at the origin":  {gradient(zeros, func(y *tensor.Tensor) *tensor.Tensor { return y.Atan2(tensor.Zeros(2)) }), "[0 0]"},
		"atan2, second operand at the origin": {gradient(zeros, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Zeros(2).Atan2(x) }), "[0 0]"},
		"renorm of a row of zeros": {gradient(tensor.New([]float64{3, 4, 0, 0, 0.1, 0}, 3, 2), func(x *tensor.Tensor) *tensor.Tensor { return x.Renorm(2, 0, 1) }),
			"[0.032 -0.024 1 1 1 1]"},
		"renorm below order 1":                      {gradient(tensor.New([]float64{4, 0, 0, 0}, 2, 2), func(x *tensor.Tensor) *tensor.Tensor { return x.Renorm(0.5, 0, 1) }), "[0 0.25 1 1]"},
		"embedding_bag, equal rows":                 {gradient(tensor.New([]float64{1, 1, 1, 5}, 2, 2), func(x *tensor.Tensor) *tensor.Tensor { return bag(x, 0, 1, 0) }), "[1 0 0 1]"},
		"logit at 0 and 1":                          {gradient(tensor.New([]float64{0, 1, 0.5}), func(x *tensor.Tensor) *tensor.Tensor { return x.Logit(0) }), "[+Inf +Inf 4]"},
		"logit out of range":                        {gradient(tensor.New([]float64{-1, 2, math.NaN()}), func(x *tensor.Tensor) *tensor.Tensor { return x.Logit(0) }), "[NaN NaN NaN]"},
		"logit with eps":                            {gradient(tensor.New([]float64{-1, 0.25, 0.75, 2}), func(x *tensor.Tensor) *tensor.Tensor { return x.Logit(0.25) }), "[0 5.333 5.333 0]"},
		"leaky_relu above 0 with an infinite slope": {gradient(tensor.Ones(2), func(x *tensor.Tensor) *tensor.Tensor { return x.LeakyReLU(math.Inf(1)) }), "[1 1]"},
		"elu far below 0":                           {gradient(tensor.Full(-50, 1), func(x *tensor.Tensor) *tensor.Tensor { return x.ELU(1) }), "[1.929e-22]"},
		"nll_loss, all targets ignored":             {gradient(tensor.Ones(2, 3), func(x *tensor.Tensor) *tensor.Tensor { return nn.NLLLoss(x, ignored(2)) }), "[0 0 0 0 0 0]"},
		"cross_entropy, all ignored, with smoothing": {gradient(tensor.Ones(1, 2), func(x *tensor.Tensor) *tensor.Tensor {
			return nn.CrossEntropy(x, ignored(1), nn.LabelSmoothing(0.1))
		}), "[0 0]"},
		"cross_entropy of images, all ignored": {gradient(tensor.Ones(1, 2, 2, 1), func(x *tensor.Tensor) *tensor.Tensor { return nn.CrossEntropy(x, ignored(1, 2, 1)) }), "[0 0 0 0]"},
	} {
		var list []string
		for _, v := range c.got.Float64s() {
			list = append(list, fmt.Sprintf("%.4g", v+0))
		}
		if got := "[" + strings.Join(list, " ") + "]"; got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestRMSNormEpsOfHalves checks that the default of eps is that of the dtype that RMSNorm computes in, as in PyTorch 2.15.
func TestRMSNormEpsOfHalves(t *testing.T) {
	x := tensor.New([]float64{1e-3, 2e-3, -1e-3}, 1, 3)
	for d, want := range map[tensor.DType]float64{tensor.Float16: 0.6870, tensor.BFloat16: 0.6875, tensor.Float32: 0.6869, tensor.Float64: 0.70711} {
		if got := tensor.RMSNorm(x.To(d), []int{3}, nil, tensor.NormOptions{}).At(0, 0); math.Abs(got-want) > 6e-5 {
			t.Errorf("%v: got %v, want %v", d, got, want)
		}
	}
}

// TestGradientInOperandsDType checks that the derivative of a running sum or product is computed in the operand's dtype where the caller chose
// another for the result.
func TestGradientInOperandsDType(t *testing.T) {
	for name, f := range map[string]func(x *tensor.Tensor, d tensor.DType) *tensor.Tensor{
		"cumsum":  func(x *tensor.Tensor, d tensor.DType) *tensor.Tensor { return x.CumsumAs(d, 0) },
		"cumprod": func(x *tensor.Tensor, d tensor.DType) *tensor.Tensor { return x.CumprodAs(d, 0) },
	} {
		of := func(d tensor.DType) []float64 {
			x := tensor.NewAs(tensor.Float64, []float64{1.001, 0.999, 1.003, 1.007}, 4).RequireGrad()
			f(x, d).Sum().Backward()
			return x.Grad().Float64s()
		}
		for i, want := range of(tensor.Float64) {
			if got := of(tensor.BFloat16)[i]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

// TestPinvSecondDerivative checks that second derivatives of symmetric matrices are symmetric.
func TestPinvSecondDerivative(t *testing.T) {
	x := tensor.NewAs(tensor.Float64, []float64{2, 1, 0, 1, 3, 1, 0, 1, 4}, 3, 3).RequireGrad()
	g := tensor.GradWith(x.Pinv(tensor.RankOptions{Hermitian: true}).Square().Sum(), []*tensor.Tensor{x}, tensor.BackwardOptions{CreateGraph: true})[0]
	g.Square().Sum().Backward()
	if h := x.Grad(); h.Sub(h.T()).Abs().Amax().Item() > 1e-9 {
		t.Errorf("got %v, want a symmetric matrix", h)
	}
}

// TestSetGradRefuses checks that a gradient has its tensor's dtype.
func TestSetGradRefuses(t *testing.T) {
	err := tensor.Try(func() { tensor.Zeros(2).SetGrad(tensor.Zeros(2).Double()) })
	if err == nil || !strings.Contains(err.Error(), "set_grad: ") || !strings.Contains(err.Error(), "the gradient is float64; want the tensor's dtype, float32") {
		t.Errorf("got %v", err)
	}
}

// TestViewsOfNoGrad checks that a view made in NoGrad of a tensor that requires a gradient changes only there.
func TestViewsOfNoGrad(t *testing.T) {
	w := tensor.Zeros(4).RequireGrad()
	var v, deep, detached *tensor.Tensor
	tensor.NoGrad(func() { v, detached = w.View(2, 2), w.Detach().View(2, 2); deep = v.Select(0, 1) })
	for name, x := range map[string]*tensor.Tensor{"view": v, "view of a view": deep} {
		if err := tensor.Try(func() { x.Fill(1) }); err == nil || !strings.Contains(err.Error(), "change it inside tensor.NoGrad too") {
			t.Errorf("%s: got %v", name, err)
		}
		tensor.NoGrad(func() { x.Fill(2) })
	}
	detached.Fill(3)
	if got := w.Detach().Sum().Item(); got != 12 {
		t.Errorf("the sum is %v, want 12", got)
	}
}

// TestFloat8Moves checks that tensors of 8-bit floating-point dtypes are shown, joined, picked, padded and checked without a change of bits.
func TestFloat8Moves(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float8E4M3, tensor.Float8E5M2} {
		x := tensor.New([]float64{1, -2, math.NaN(), 0.5, 3, -0.25}, 2, 3)
		y := x.To(d)
		ids := tensor.FromInts([]int{1, 0, 1})
		for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
			"cat":          func(x *tensor.Tensor) *tensor.Tensor { return tensor.Cat(1, x, x) },
			"stack":        func(x *tensor.Tensor) *tensor.Tensor { return tensor.Stack(0, x, x) },
			"index_select": func(x *tensor.Tensor) *tensor.Tensor { return x.IndexSelect(0, ids) },
			"index":        func(x *tensor.Tensor) *tensor.Tensor { return x.Index(ids) },
			"gather":       func(x *tensor.Tensor) *tensor.Tensor { return x.Gather(1, ids.Unsqueeze(0)) },
			"flip":         func(x *tensor.Tensor) *tensor.Tensor { return x.Flip(1) },
			"roll":         func(x *tensor.Tensor) *tensor.Tensor { return x.Roll(1, 1) },
			"where":        func(x *tensor.Tensor) *tensor.Tensor { return x.IsNaN().Where(x.Flip(1), x) },
			"pad":          func(x *tensor.Tensor) *tensor.Tensor { return x.Pad([]int{1, 2}, tensor.PadOptions{Value: -3}) },
			"transposed":   func(x *tensor.Tensor) *tensor.Tensor { return tensor.Cat(0, x.T(), x.T()) },
			"isfinite":     func(x *tensor.Tensor) *tensor.Tensor { return x.IsFinite() },
			"scatter":      func(x *tensor.Tensor) *tensor.Tensor { return x.Scatter(0, ids.Unsqueeze(0), x) },
		} {
			got, want := f(y), f(x)
			if want.DType().IsFloat() && got.DType() != d {
				t.Errorf("%s of %v: got %v", name, d, got.DType())
			}
			if g, w := fmt.Sprint(got.Float64s()), fmt.Sprint(want.Float64s()); g != w || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
				t.Errorf("%s of %v: got %v %s, want %v %s", name, d, got.Shape(), g, want.Shape(), w)
			}
		}
		if err := tensor.Try(func() { y.Add(y) }); err == nil {
			t.Errorf("%v adds", d)
		}
	}
	if got, want := tensor.Zeros(1001).To(tensor.Float8E4M3).String(), "tensor([0., 0., 0.,  ..., 0., 0., 0.], dtype=float8_e4m3fn)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
