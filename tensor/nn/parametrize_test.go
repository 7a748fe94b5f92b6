package nn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestParametrizedNames compares names of parameters and buffers with those of PyTorch 2.15.
func TestParametrizedNames(t *testing.T) {
	for _, c := range []struct {
		m                   any
		parameters, buffers string
	}{
		{nn.WeightNorm(nn.NewLinear(4, 3)), "bias parametrizations.weight.original0 parametrizations.weight.original1", ""},
		{nn.SpectralNorm(nn.NewConv2d(2, 3, 2)), "bias parametrizations.weight.original", "parametrizations.weight.0._u parametrizations.weight.0._v"},
		{nn.SpectralNorm(nn.NewLinear(4, 3), nn.TensorName("bias")), "weight parametrizations.bias.original", ""},
		{
			nn.NewSequential(nn.WeightNorm(nn.WeightNorm(nn.NewGRU(4, 3, nn.Bias(false)), nn.TensorName("weight_hh_l0")), nn.TensorName("weight_ih_l0"))),
			"0.parametrizations.weight_hh_l0.original0 0.parametrizations.weight_hh_l0.original1 0.parametrizations.weight_ih_l0.original0 0.parametrizations.weight_ih_l0.original1", "",
		},
	} {
		if got := names(nn.NamedParameters(c.m)); got != c.parameters {
			t.Errorf("parameters: got %s, want %s", got, c.parameters)
		}
		if got := names(nn.NamedBuffers(c.m)); got != c.buffers {
			t.Errorf("buffers: got %s, want %s", got, c.buffers)
		}
	}
}

// TestParametrizedStrings compares the printed modules with PyTorch 2.15's.
func TestParametrizedStrings(t *testing.T) {
	for _, c := range []struct {
		m    nn.Module
		want string
	}{
		{nn.WeightNorm(nn.NewLinear(2, 3)), `ParametrizedLinear(
  in_features=2, out_features=3, bias=True
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): _WeightNorm()
    )
  )
)`},
		{nn.NewSequential(nn.SpectralNorm(nn.NewConv2d(2, 3, 2))), `Sequential(
  (0): ParametrizedConv2d(
    2, 3, kernel_size=(2, 2), stride=(1, 1)
    (parametrizations): ModuleDict(
      (weight): ParametrizationList(
        (0): _SpectralNorm()
      )
    )
  )
)`},
		{nn.NewAdaptiveLogSoftmaxWithLoss(8, 20, []int{4}, nn.DivValue(2)), `AdaptiveLogSoftmaxWithLoss(
  (head): Linear(in_features=8, out_features=5, bias=False)
  (tail): ModuleList(
    (0): Sequential(
      (0): Linear(in_features=8, out_features=4, bias=False)
      (1): Linear(in_features=4, out_features=16, bias=False)
    )
  )
)`},
	} {
		if got := nn.Print(c.m); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestLinearCrossEntropyLoss compares output and names with PyTorch 2.15's.
func TestLinearCrossEntropyLoss(t *testing.T) {
	l := nn.NewLinearCrossEntropyLoss(5, 3, nn.OutFeatures(2), nn.Bias(true), nn.LabelSmoothing(0.1), nn.Weight(tensor.Ones(3)))
	want := `LinearCrossEntropyLoss(
  in_features=5, num_classes=3, out_features=(2,), bias=True, reduction=mean, ignore_index=None, label_smoothing=0.1, options=None
  (linear): Linear(in_features=5, out_features=6, bias=True)
)`
	if got := nn.Print(l); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := names(nn.NamedParameters(l)) + ", " + names(nn.NamedBuffers(l)); got != "linear.weight linear.bias, weight" {
		t.Errorf("got names %s", got)
	}
	one := l.Forward(tensor.Ones(5), tensor.FromInts([]int{0, 2}))
	if two := l.Forward(tensor.Ones(1, 5), tensor.FromInts([]int{0, 2}, 1, 2)); !tensor.Equal(one, two) {
		t.Errorf("loss of one sample: got %v alone and %v in a batch, want equal", one, two)
	}
}

// TestParametrized checks that a layer with a norm can be trained, saved and loaded, and that
// removing the norm leaves its results unchanged.
func TestParametrized(t *testing.T) {
	x := tensor.Randn(5, 4)
	for name, norm := range map[string]func(nn.Module, ...nn.Option) *nn.Parametrized{"weight": nn.WeightNorm, "spectral": nn.SpectralNorm} {
		plain := nn.NewLinear(4, 3)
		before := plain.Forward(x)
		m := norm(plain)
		if got := m.Forward(x); name == "weight" && got.Sub(before).Abs().Amax().Item() > 1e-6 {
			t.Errorf("%s: got %v, want %v, the result without the norm", name, got, before)
		}
		m.Forward(x).Sum().Backward()
		for _, p := range nn.NamedParameters(m) {
			if p.Tensor.Grad() == nil {
				t.Errorf("%s: %s has no gradient", name, p.Name)
			}
		}
		if plain.Weight != nil {
			t.Errorf("%s: the layer still has its weight after a call", name)
		}
		other := norm(nn.NewLinear(4, 3))
		if err := nn.LoadStateDict(other, nn.StateDict(m)); err != nil {
			t.Fatal(err)
		}
		nn.Eval(m)
		nn.Eval(other)
		want := m.Forward(x)
		if got := other.Forward(x); !tensor.Equal(got, want) {
			t.Errorf("%s: a copy loaded from the state: got %v, want %v", name, got, want)
		}
		if got := m.Forward(x); !tensor.Equal(got, want) {
			t.Errorf("%s: the result changed in evaluation", name)
		}
		direction := map[string]string{"weight": "parametrizations.weight.original1", "spectral": "parametrizations.weight.original"}[name]
		nn.FunctionalCall(other, map[string]*tensor.Tensor{direction: tensor.Zeros(3, 4).AddScalar(1)}, func() {
			if tensor.Equal(other.Forward(x), want) {
				t.Errorf("%s: FunctionalCall did not replace %s", name, direction)
			}
		})
		nn.ToDType(other, tensor.Float64)
		if got := other.Forward(x.To(tensor.Float64)); got.DType() != tensor.Float64 {
			t.Errorf("%s: in float64: got dtype %v", name, got.DType())
		}
		if got := nn.RemoveParametrizations(m, "weight"); got != nn.Module(plain) || !tensor.Equal(plain.Forward(x), want) {
			t.Errorf("%s: after removing the norm, %v gives %v, want %v", name, got, plain.Forward(x), want)
		}
		if got := names(nn.NamedParameters(plain)); got != "weight bias" {
			t.Errorf("%s: parameters after removing the norm: got %s", name, got)
		}
	}
}

// TestSpectralNorm checks that the largest singular value is estimated only in training.
func TestSpectralNorm(t *testing.T) {
	m := nn.SpectralNorm(nn.NewLinear(6, 5))
	largest := func() float64 {
		var s *tensor.Tensor
		m.With(func() { s = m.Module.(*nn.Linear).Weight.Detach().SVDVals() })
		return s.At(0)
	}
	for range 50 {
		m.Forward(tensor.Zeros(1, 6))
	}
	if got := largest(); got < 0.9999 || got > 1.0001 {
		t.Errorf("largest singular value: got %v, want 1", got)
	}
	nn.Eval(m)
	vectors := nn.StateDict(m)["parametrizations.weight.0._u"].Clone()
	tensor.NoGrad(func() { nn.InitNormal(nn.Parameters(m)[1], 0, 1) })
	m.Forward(tensor.Zeros(1, 6))
	if !tensor.Equal(vectors, nn.StateDict(m)["parametrizations.weight.0._u"]) {
		t.Error("the vectors changed in evaluation")
	}
	nn.Train(m)
	m.Forward(tensor.Zeros(1, 6))
	if tensor.Equal(vectors, nn.StateDict(m)["parametrizations.weight.0._u"]) {
		t.Error("the vectors did not change in training")
	}
}

// TestParametrizedWith checks With for a network with more results than Forward returns.
func TestParametrizedWith(t *testing.T) {
	g := nn.NewGRU(3, 4)
	x := tensor.Randn(5, 2, 3)
	want, _ := g.ForwardState(x, nil)
	m := nn.WeightNorm(g, nn.TensorName("weight_hh_l0"), nn.NormOfWhole())
	var got *tensor.Tensor
	m.With(func() { got, _ = g.ForwardState(x, nil) })
	if got.Sub(want).Abs().Amax().Item() > 1e-6 {
		t.Errorf("got %v, want %v", got, want)
	}
	if s := nn.StateDict(m)["parametrizations.weight_hh_l0.original0"]; !slices.Equal(s.Shape(), nil) {
		t.Errorf("norm of the whole weight: got shape %v", s.Shape())
	}
}

// TestParametrizedWalks checks that a parametrized module stands for its inner module in
// walks over the model.
func TestParametrizedWalks(t *testing.T) {
	net := nn.NewSequential(nn.WeightNorm(nn.NewLinear(2, 3)), nn.SpectralNorm(nn.NewMultiheadAttention(4, 2), nn.TensorName("in_proj_weight")))
	var got []string
	for _, m := range nn.NamedModules(net) {
		got = append(got, m.Name)
	}
	if want := []string{"", "0", "1", "1.out_proj"}; !slices.Equal(got, want) {
		t.Errorf("modules: got %q, want %q", got, want)
	}
	if s := nn.Summarize(net).String(); !strings.Contains(s, "ParametrizedLinear") || !strings.Contains(s, "parametrizations.weight.original0 (3, 1)") {
		t.Errorf("got the summary\n%s", s)
	}
	n := 0
	nn.Apply(net, func(m any) {
		if l, ok := m.(*nn.Linear); ok && l.Weight == nil {
			t.Error("Apply visited a module without its weight")
		}
		n++
	})
	if n != 4 {
		t.Errorf("Apply visited %d modules, want 4", n)
	}
	if got := nn.Print(net); !strings.Contains(got, "(1): ParametrizedMultiheadAttention(\n    (out_proj): ") {
		t.Errorf("got the string\n%s", got)
	}
}

func TestParametrizedErrors(t *testing.T) {
	l := nn.NewLinear(2, 3)
	m := nn.WeightNorm(nn.NewLinear(2, 3))
	for want, f := range map[string]func(){
		"tensor: weight_norm: module is nil":                                                                                              func() { nn.WeightNorm(nil) },
		`tensor: weight_norm: Linear has no tensor "wait"; want one of weight, bias`:                                                      func() { nn.WeightNorm(l, nn.TensorName("wait")) },
		"tensor: weight_norm: shape (3, 2): dimension 2 is out of range; want -2 to 1":                                                    func() { nn.WeightNorm(l, nn.Dim(2)) },
		"tensor: spectral_norm: weight is already computed by _WeightNorm(); choose another tensor, or call RemoveParametrizations first": func() { nn.SpectralNorm(m) },
		"tensor: spectral_norm: NPowerIterations is 0":                                                                                    func() { nn.SpectralNorm(l, nn.NPowerIterations(0)) },
		`tensor: remove_parametrizations: "bias" is not computed; want one of [weight]`:                                                   func() { nn.RemoveParametrizations(m, "bias") },
		"tensor: fractional_max_pool2d: OutputSize () and OutputRatio ()":                                                                 func() { nn.NewFractionalMaxPool2d(2) },
		"tensor: fractional_max_pool2d: OutputRatio is (1, 1)":                                                                            func() { nn.NewFractionalMaxPool2d(2, nn.OutputRatio(1)) },
		"tensor: fractional_max_pool2d: windows of (2, 2) at (4, 4) positions in a plane of (4, 4)":                                       func() { nn.NewFractionalMaxPool2d(2, nn.OutputSize(4)).Forward(tensor.Zeros(1, 4, 4)) },
		"tensor: fractional_max_pool3d: shape (1, 4, 4): input is 3-D; want 4-D or 5-D":                                                   func() { nn.NewFractionalMaxPool3d(2, nn.OutputSize(4)).Forward(tensor.Zeros(1, 4, 4)) },
		"tensor: fractional_max_pool2d: shapes (1, 2, 4, 4) and (3,): RandomSamples has the wrong shape": func() {
			nn.NewFractionalMaxPool2d(2, nn.OutputSize(2), nn.RandomSamples(tensor.Zeros(3))).Forward(tensor.Zeros(1, 2, 4, 4))
		},
		"tensor: max_unpool2d: output size is (9, 4); want (4, 4), each plus or minus less than the stride (2, 2)": func() {
			nn.NewMaxUnpool2d(2).Forward(tensor.Zeros(1, 2, 2), tensor.FromInts([]int{0, 1, 2, 3}, 1, 2, 2), 9, 4)
		},
		"tensor: max_unpool1d: shapes (2, 2) and (4,)":                                                         func() { nn.NewMaxUnpool1d(2).Forward(tensor.Zeros(2, 2), tensor.FromInts([]int{0, 1, 2, 3})) },
		"tensor: max_unpool3d: MaxUnpool3d(kernel_size=(0, 0, 0)":                                              func() { nn.NewMaxUnpool3d(0) },
		"tensor: new_adaptive_log_softmax_with_loss: cutoffs (3, 3) for 5 classes":                             func() { nn.NewAdaptiveLogSoftmaxWithLoss(8, 5, []int{3, 3}) },
		"tensor: new_adaptive_log_softmax_with_loss: cutoffs () for 5 classes":                                 func() { nn.NewAdaptiveLogSoftmaxWithLoss(8, 5, nil) },
		"tensor: new_adaptive_log_softmax_with_loss: 8 features divided by DivValue 4 to the power 2 give 0.5": func() { nn.NewAdaptiveLogSoftmaxWithLoss(8, 20, []int{3, 9}) },
		"tensor: adaptive_log_softmax_with_loss: shapes (2, 8) and (2,): target 1 is 5": func() {
			nn.NewAdaptiveLogSoftmaxWithLoss(8, 5, []int{3}).ForwardLoss(tensor.Zeros(2, 8), tensor.FromInts([]int{1, 5}))
		},
		"tensor: adaptive_log_softmax_with_loss: shapes (2, 8) and (3,): want input (n, in) and integer targets (n), or input (in) and one target": func() {
			nn.NewAdaptiveLogSoftmaxWithLoss(8, 5, []int{3}).ForwardLoss(tensor.Zeros(2, 8), tensor.FromInts([]int{1, 2, 3}))
		},
		"tensor: fractional_max_pool2d: windows of (2, 2) at (9223372036854775807": func() { nn.NewFractionalMaxPool2d(2, nn.OutputSize(math.MaxInt)).Forward(tensor.Zeros(1, 4, 4)) },
		"tensor: gumbel_softmax: input is nil":                                     func() { nn.GumbelSoftmax(nil) },
		"tensor: max_unpool2d: indices is nil":                                     func() { nn.NewMaxUnpool2d(2).Forward(tensor.Zeros(1, 2, 2), nil) },
		"tensor: fractional_max_pool2d: input is nil":                              func() { nn.NewFractionalMaxPool2d(2, nn.OutputSize(2)).Forward(nil) },
		"tensor: adaptive_log_softmax_with_loss: target is nil":                    func() { nn.NewAdaptiveLogSoftmaxWithLoss(8, 5, []int{3}).ForwardLoss(tensor.Zeros(2, 8), nil) },
		"tensor: linear_cross_entropy: weight is nil":                              func() { nn.LinearCrossEntropy(tensor.Zeros(2), nil, nil) },
		"tensor: gumbel_softmax: Tau is 0; want a number above 0":                  func() { nn.GumbelSoftmax(tensor.Zeros(2), nn.Tau(0)) },
		"tensor: gumbel_softmax: shape (1,): logits have dtype int64":              func() { nn.GumbelSoftmax(tensor.FromInts([]int{1})) },
		"tensor: new_rrelu: slopes from lower 2 to upper 1":                        func() { nn.NewRReLU(2, 1) },
		"tensor: softmax2d: shape (2, 2): input is 2-D":                            func() { nn.NewSoftmax2d().Forward(tensor.Zeros(2, 2)) },
		"tensor: flatten: 3 arguments":                                             func() { nn.NewFlatten(1, 2, 3) },
		"tensor: new_linear_cross_entropy_loss: 3 classes, OutFeatures (0,)":       func() { nn.NewLinearCrossEntropyLoss(5, 3, nn.OutFeatures(0)) },
		"tensor: linear_cross_entropy: shapes (2, 5) and (3, 4): want input (n, in) or (in), weight (classes, d…, in) and bias (classes, d…) or none": func() { nn.LinearCrossEntropy(tensor.Zeros(2, 5), tensor.Zeros(3, 4), tensor.FromInts([]int{1, 2})) },
		"tensor: cosine_similarity: option P is not supported here":                                                                                   func() { nn.NewCosineSimilarity(nn.P(2)) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
