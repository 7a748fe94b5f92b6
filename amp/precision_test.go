package amp_test

import (
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestParsePrecision checks the cases of jmp's policy_test.py.
func TestParsePrecision(t *testing.T) {
	const f16, bf16, f32, f64 = tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64
	for _, c := range []struct {
		text string
		want amp.Precision
	}{
		{"float16", amp.Precision{Param: f16, Compute: f16, Output: f16}},
		{"half", amp.Precision{Param: f16, Compute: f16, Output: f16}},
		{"f32", amp.Precision{Param: f32, Compute: f32, Output: f32}},
		{"full", amp.Precision{Param: f32, Compute: f32, Output: f32}},
		{"bfloat16", amp.Precision{Param: bf16, Compute: bf16, Output: bf16}},
		{"f64", amp.Precision{Param: f64, Compute: f64, Output: f64}},
		{"c=f16", amp.Precision{Param: f32, Compute: f16, Output: f16}},
		{"c=bfloat16,o=full", amp.Precision{Param: f32, Compute: bf16, Output: f32}},
		{"p=f16,c=bf16", amp.Precision{Param: f16, Compute: bf16, Output: bf16}},
		{"p=f16", amp.Precision{Param: f16, Compute: f16, Output: f16}},
		{"o=f16", amp.Precision{Param: f32, Compute: f32, Output: f16}},
		{"p=f32,c=f16,o=f32", amp.Precision{Param: f32, Compute: f16, Output: f32}},
		{"params=f32,compute=half,output=float32", amp.Precision{Param: f32, Compute: f16, Output: f32}},
		{"mixed_float16", amp.MixedFloat16},
		{"mixed_bfloat16", amp.Precision{Param: f32, Compute: bf16, Output: bf16}},
	} {
		got := amp.ParsePrecision(c.text)
		if got != c.want {
			t.Errorf("%q: got %v, want %v", c.text, got, c.want)
		}
		if again := amp.ParsePrecision(got.String()); again != got {
			t.Errorf("%q: got the string %q, which parses as %v", c.text, got, again)
		}
	}
	for text, want := range map[string]string{
		"compute_float16": `unknown dtype "compute_float16"`, "c=f17": `unknown dtype "f17"`, "x=f16": `unknown key "x"`, "c": `unknown dtype "c"`, "": `unknown dtype ""`, "c=f16,": `unknown dtype ""`,
	} {
		if err := caught(func() { amp.ParsePrecision(text) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if got := amp.MixedFloat16.WithOutput(f32).String(); got != "p=f32,c=f16,o=f32" {
		t.Errorf("WithOutput: got %s", got)
	}
}

// seen is a module that records the dtypes of its computation.
type seen struct {
	Weight     *tensor.Tensor
	x, w, norm tensor.DType
	Norm       *nn.BatchNorm1d
}

func (s *seen) Forward(x *tensor.Tensor) *tensor.Tensor {
	s.x, s.w = x.DType(), s.Weight.DType()
	y := x.MatMul(s.Weight)
	s.norm = s.Norm.Weight.DType()
	return s.Norm.Forward(y)
}

// TestWithPrecision checks that a module computes in its dtype, and that its parameters stay
// leaves with their names and gradients of their own dtype.
func TestWithPrecision(t *testing.T) {
	for _, text := range []string{"p=f32,c=f16,o=f32", "p=f32,c=bf16,o=bf16", "p=f16,c=f16,o=f32", "p=f64,c=f32,o=f16", "f32"} {
		p := amp.ParsePrecision(text)
		s := &seen{Weight: tensor.Randn(4, 3).RequireGrad(), Norm: nn.NewBatchNorm1d(3)}
		want := nn.NamedParameters(s)
		m := amp.WithPrecision(s, p)
		got := nn.NamedParameters(m)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: parameter %d: got %s, want %s", text, i, got[i].Name, want[i].Name)
			}
		}
		x := tensor.Randn(5, 4).RequireGrad()
		var y *tensor.Tensor
		amp.Autocast(amp.BFloat16, func() { y = m.Forward(x) }) // must not have an effect
		if s.x != p.Compute || s.w != p.Compute || s.norm != p.Compute || y.DType() != p.Output {
			t.Errorf("%s: got input %v, weight %v, norm %v and result %v", text, s.x, s.w, s.norm, y.DType())
		}
		y.Float().Pow(2).Sum().Backward()
		for _, n := range nn.NamedParameters(m) {
			if g := n.Tensor.Grad(); n.Tensor.DType() != p.Param || g == nil || g.DType() != p.Param {
				t.Errorf("%s: %s: got %v with gradient of %v, want %v", text, n.Name, n.Tensor.DType(), g, p.Param)
			}
		}
		if x.Grad().DType() != tensor.Float32 || s.Norm.RunningMean.DType() != tensor.Float32 || s.Norm.RunningMean.Float64s()[0] == 0 {
			t.Errorf("%s: got gradient of %v for the input, and running mean %v", text, x.Grad().DType(), s.Norm.RunningMean)
		}
		if state := nn.StateDict(m); len(state) != 6 || state["norm.running_var"] == nil || state["weight"] == nil {
			t.Errorf("%s: got state dict %v", text, state)
		}
	}
}

// TestPrecisionMatchesManualCasts checks that casting by hand gives the same bits, forward and
// backward.
func TestPrecisionMatchesManualCasts(t *testing.T) {
	g := tensor.NewGenerator(3)
	l := nn.NewLinear(6, 5, nn.InitFrom(g))
	x, dy := g.Randn(4, 6), g.Randn(4, 5)
	m := amp.WithPrecision(l, amp.MixedFloat16.WithOutput(tensor.Float32))
	m.Forward(x).BackwardWith(tensor.BackwardOptions{Gradient: dy})
	got := l.Weight.Grad().Clone()
	l.Weight.SetGrad(nil)
	want := tensor.Linear(x.Half(), l.Weight.Half(), l.Bias.Half()).Float()
	want.BackwardWith(tensor.BackwardOptions{Gradient: dy})
	if !tensor.Equal(m.Forward(x).Detach(), want.Detach()) || !tensor.Equal(got, l.Weight.Grad()) {
		t.Errorf("got %v and %v, want %v and %v", m.Forward(x), got, want, l.Weight.Grad())
	}
}

// TestNestedPrecisions checks that a module with a precision may contain a module with another one, for
// example a float16 network with a float32 softmax at its end.
func TestNestedPrecisions(t *testing.T) {
	inner := &seen{Weight: tensor.Randn(4, 4).RequireGrad(), Norm: nn.NewBatchNorm1d(4)}
	outer := &seen{Weight: tensor.Randn(4, 4).RequireGrad(), Norm: nn.NewBatchNorm1d(4)}
	value := inner.Weight.Detach().Clone()
	net := amp.WithPrecision(nn.NewSequential(outer, amp.WithPrecision(inner, amp.ParsePrecision("float32"))), amp.ParsePrecision("p=f16,c=f16,o=f16"))
	y := net.Forward(tensor.Randn(3, 4))
	if outer.w != tensor.Float16 || inner.w != tensor.Float32 || inner.x != tensor.Float32 || y.DType() != tensor.Float16 {
		t.Errorf("got %v outside, %v inside and a result of %v", outer.w, inner.w, y.DType())
	}
	if !tensor.Equal(inner.Weight.Detach(), value) {
		t.Error("the inner module's weight was rounded")
	}
	if outer.Weight.DType() != tensor.Float16 || inner.Weight.DType() != tensor.Float32 {
		t.Errorf("got parameters of %v and %v", outer.Weight.DType(), inner.Weight.DType())
	}
	twice := amp.WithPrecision(amp.WithPrecision(inner, amp.ParsePrecision("bf16")), amp.ParsePrecision("f32"))
	if d := twice.Forward(tensor.Randn(3, 4)).DType(); d != tensor.Float32 || inner.w != tensor.BFloat16 {
		t.Errorf("two precisions on one module: got %v inside and a result of %v, want those of the inner one", inner.w, d)
	}
}

// TestPrecisionTrains checks that training in float16 with a scaler gives nearly the loss of
// training in float32.
func TestPrecisionTrains(t *testing.T) {
	train := func(p amp.Precision) float64 {
		g := tensor.NewGenerator(1)
		body := amp.WithPrecision(nn.NewSequential(nn.NewLinear(8, 16, nn.InitFrom(g)), nn.NewTanh()), p)
		head := amp.WithPrecision(nn.NewLinear(16, 1, nn.InitFrom(g)), amp.ParsePrecision("float32"))
		net := nn.NewSequential(body, head)
		x := g.Randn(64, 8)
		y := x.Sum(1).Tanh().Unsqueeze(1)
		opt := optim.NewSGD(nn.Parameters(net), 0.2)
		scaler := amp.NewGradScaler(amp.InitScale(1024))
		last := 0.0
		for range 60 {
			loss := nn.MSELoss(net.Forward(x), y)
			scaler.Scale(loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			opt.ZeroGrad()
			last = loss.Item()
		}
		return last
	}
	full, half := train(amp.ParsePrecision("f32")), train(amp.MixedFloat16)
	if !(half < 0.1 && half > 0.9*full && half < 1.1*full) {
		t.Errorf("got loss %v in float16 and %v in float32", half, full)
	}
}

func TestPrecisionErrors(t *testing.T) {
	for want, f := range map[string]func(){
		"the module is nil": func() { amp.WithPrecision(nil, amp.MixedFloat16) },
		"among the precision's dtypes": func() {
			amp.WithPrecision(nn.NewLinear(1, 1), amp.Precision{Param: tensor.Float32, Compute: tensor.Float8E4M3, Output: tensor.Float32})
		},
	} {
		if err := caught(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPrecisionOfLayers checks that layers of every kind compute in float16 and bfloat16.
func TestPrecisionOfLayers(t *testing.T) {
	seq, image := tensor.Randn(5, 2, 8), tensor.Randn(2, 4, 8, 8)
	for name, c := range map[string]struct {
		module nn.Module
		x      *tensor.Tensor
	}{
		"lstm":        {nn.NewLSTM(8, 8, nn.NumLayers(2), nn.Bidirectional()), seq},
		"gru":         {nn.NewGRU(8, 8), seq},
		"rnn":         {nn.NewRNN(8, 8), seq},
		"lstm cell":   {nn.NewLSTMCell(8, 8), seq.Select(0, 0)},
		"attention":   {nn.NewMultiheadAttention(8, 2), seq},
		"encoder":     {nn.NewTransformerEncoderLayer(8, 2, nn.DimFeedforward(16)), seq},
		"layer norm":  {nn.NewLayerNorm([]int{8}), seq},
		"rms norm":    {nn.NewRMSNorm([]int{8}), seq},
		"batch norm":  {nn.NewBatchNorm2d(4), image},
		"group norm":  {nn.NewGroupNorm(2, 4), image},
		"conv":        {nn.NewConv2d(4, 4, 3), image},
		"transposed":  {nn.NewConvTranspose2d(4, 4, 3), image},
		"prelu":       {nn.NewPReLU(1, 0.25), image},
		"embedding":   {nn.NewEmbedding(4, 8), tensor.New([]float64{1, 3}, 2).Long()},
		"convolution": {nn.NewSequential(nn.NewConv2d(4, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(36, 2)), image},
	} {
		for _, p := range []string{"p=f32,c=f16,o=f32", "p=f32,c=bf16,o=bf16"} {
			precision := amp.ParsePrecision(p)
			m := amp.WithPrecision(c.module, precision)
			var y *tensor.Tensor
			if err := caught(func() { y = m.Forward(c.x); y.Float().Pow(2).Sum().Backward() }); err != nil {
				t.Errorf("%s, %s: got error %v", name, p, err)
				continue
			}
			if y.DType() != precision.Output {
				t.Errorf("%s, %s: got a result of %v", name, p, y.DType())
			}
			for _, n := range nn.NamedParameters(m) {
				if g := n.Tensor.Grad(); g == nil || g.DType() != tensor.Float32 {
					t.Errorf("%s, %s: gradient of %s: got %v", name, p, n.Name, g)
				}
			}
		}
	}
}
