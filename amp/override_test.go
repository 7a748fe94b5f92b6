package amp_test

import (
	"fmt"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// dtypes returns the dtypes of the results of each linear and relu in a nested chain under p.
func dtypes(p amp.Policy) string {
	net := nn.NewSequential(nn.NewLinear(2, 2), nn.NewReLU(), nn.NewSequential(nn.NewLinear(2, 2), nn.NewLinear(2, 2)))
	text := ""
	watch := func(m nn.Module) *nn.Hooked {
		h := nn.NewHooked(m)
		h.OnForward(func(_ nn.Module, _, y *tensor.Tensor) *tensor.Tensor {
			text += fmt.Sprint(y.DType(), " ")
			return nil
		})
		return h
	}
	inner := net.Modules[2].(*nn.Sequential)
	net.Modules[0], net.Modules[1] = watch(net.Modules[0]), watch(net.Modules[1])
	inner.Modules[0], inner.Modules[1] = watch(inner.Modules[0]), watch(inner.Modules[1])
	amp.Autocast(p, func() { net.Forward(tensor.Ones(1, 2)) })
	return text
}

func TestWithIn(t *testing.T) {
	p := amp.Float16
	for _, c := range []struct {
		policy amp.Policy
		want   string
	}{
		{p.WithCache(false), "float16 float16 float16 float16 "},
		{p.WithIn("0", "linear", amp.FP32), "float32 float32 float16 float16 "},
		{p.WithIn("2", "linear", amp.FP32), "float16 float16 float32 float32 "},
		{p.WithIn("2.1", "linear", amp.FP32), "float16 float16 float16 float32 "},
		{p.WithIn("2", "linear", amp.FP32).WithIn("2.1", "linear", amp.LowerPrecision), "float16 float16 float32 float16 "},
		{p.WithIn("2", "linear", amp.FP32).With("linear", amp.LowerPrecision), "float16 float16 float16 float16 "},
		{p.With("linear", amp.FP32).WithIn("2.1", "linear", amp.LowerPrecision), "float32 float32 float32 float16 "},
		{p.WithIn("20", "linear", amp.FP32), "float16 float16 float16 float16 "},
		{p.WithIn("1", "relu", amp.FP32), "float16 float32 float16 float16 "},
		{p.WithIn("", "relu", amp.FP32), "float16 float32 float16 float16 "},
	} {
		if got := dtypes(c.policy); got != c.want {
			t.Errorf("%#v: got %s, want %s", c.policy, got, c.want)
		}
	}
}

func TestOverridePolicy(t *testing.T) {
	run := func() (d tensor.DType) {
		amp.Autocast(amp.Float16, func() { d = tensor.Ones(1, 1).MatMul(tensor.Ones(1, 1)).DType() })
		return d
	}
	to := func(p amp.Policy) func(amp.Policy) amp.Policy { return func(amp.Policy) amp.Policy { return p } }
	got := []tensor.DType{run()}
	amp.OverridePolicy(to(amp.Off), func() { got = append(got, run()) })
	amp.OverridePolicy(func(p amp.Policy) amp.Policy {
		if p.IsEnabled() {
			return amp.BFloat16
		}
		return p
	}, func() {
		got = append(got, run())
		amp.OverridePolicy(to(amp.Off), func() { got = append(got, run()) })
		amp.OverridePolicy(to(amp.Float16), func() { got = append(got, run()) })
	})
	tensor.Try(func() {
		amp.OverridePolicy(to(amp.Off), func() { panic(&tensor.Error{}) })
	})
	got = append(got, run())
	if fmt.Sprint(got) != "[float16 float32 bfloat16 float32 bfloat16 float16]" {
		t.Errorf("got %v", got)
	}
}

func TestPolicyAsCode(t *testing.T) {
	for want, p := range map[string]amp.Policy{
		"amp.Off":     amp.Float16.With("exp", amp.Unlisted).Enabled(false),
		"amp.Float16": amp.Float16,
		`amp.CPUBFloat16.With("exp", amp.Unlisted).WithIn("2.1", "linear", amp.FP32).With("linear", amp.Promote).WithCache(false)`: amp.CPUBFloat16.With("exp", amp.Unlisted).
			WithCache(false).WithIn("2.1", "linear", amp.FP32).With("linear", amp.Promote),
	} {
		if got := fmt.Sprintf("%#v", p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestNormsMovedToFloat16 checks that a normalisation that With moves to float16 gives the result for
// float16 operands: autocast does not cast its float32 statistics.
func TestNormsMovedToFloat16(t *testing.T) {
	x := tensor.Randn(4, 6, 5)
	w, b := tensor.Randn(6), tensor.Randn(6)
	last := func(x *tensor.Tensor) []int { return x.Shape()[1:] }
	for name, f := range map[string]func(x, w, b *tensor.Tensor) *tensor.Tensor{
		"layer_norm": func(x, w, b *tensor.Tensor) *tensor.Tensor {
			w = w.Reshape(6, 1).Mul(tensor.Ones(5).To(w.DType()))
			return tensor.LayerNorm(x, last(x), w, nil, tensor.NormOptions{})
		},
		"group_norm": func(x, w, b *tensor.Tensor) *tensor.Tensor { return tensor.GroupNorm(x, 2, w, b, tensor.NormOptions{}) },
		"batch_norm": func(x, w, b *tensor.Tensor) *tensor.Tensor {
			return tensor.BatchNorm(x, nil, nil, w, b, tensor.BatchNormOptions{Training: true})
		},
		"instance_norm": func(x, w, b *tensor.Tensor) *tensor.Tensor {
			return tensor.InstanceNorm(x, nil, nil, w, b, tensor.BatchNormOptions{Training: true})
		},
	} {
		half, single := x.Half().RequireGrad(), x.Half().Float().RequireGrad()
		want := f(half, w.Half(), b.Half())
		want.Float().Sum().Backward()
		var got *tensor.Tensor
		amp.Autocast(amp.Float16.With(name, amp.LowerPrecision), func() { got = f(single, w, b) })
		got.Float().Sum().Backward()
		if fmt.Sprint(got.DType(), got.Bits()) != fmt.Sprint(want.DType(), want.Bits()) || fmt.Sprint(single.Grad().Half().Bits()) != fmt.Sprint(half.Grad().Bits()) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
