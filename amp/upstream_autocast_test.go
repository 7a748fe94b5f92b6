package amp_test

import (
	"errors"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The tests of this file follow those of the same names in torch's test suite:
// TestUpstreamAutocast/<name> is test_autocast_… of test/test_cuda.py, and
// TestUpstreamAutocast/<class>/<name> of test/test_autocast.py. Those that run the operations of torch's lists are left out:
// TestOpLists runs them, on more mixtures of dtypes.

// leftOut maps torch's tests without a counterpart here to the reason.
var leftOut = map[string]string{
	"test_autocast_methods_…":                  "a method and a function are one operation here",
	"test_autocast_torch_…, _nn_…, _linalg_…":  "TestOpLists runs the operations of the lists",
	"test_generic_autocast":                    "TestOpLists runs the operations of the lists",
	"test_autocast_cat_jit":                    "there is no TorchScript; cat and stack are in torch_expect_builtin_promote",
	"TestTorchAutocast.test_non_string_device": "a policy is named by a value, not by a string",
	"TestTorchAutocast.test_invalid_device":    "a policy is named by a value, not by a string",
	"TestAutocastMPS":                          "there is no MPS backend",
	"test_cpu_autocast_deprecated_warning":     "there are no deprecated forms",
}

func TestUpstreamAutocast(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"test_autocast_torch_expect_builtin_promote", func(t *testing.T) { builtinPromote(t, amp.Float16, tensor.Float16) }},
		{"test_autocast_banned", banned},
		{"test_autocast_ignored_types", ignoredTypes},
		{"test_autocast_custom_enabled", customEnabled},
		{"test_autocast_custom_cast_inputs", customCastInputs},
		{"test_autocast_rnn", recurrentLayers},
		{"test_autocast_cache_leak", cacheLeak},
		{"test_autocast_checkpointing", checkpointing},

		{"TestAutocastCPU/test_autocast_torch_expect_builtin_promote", func(t *testing.T) {
			builtinPromote(t, amp.CPUBFloat16, tensor.BFloat16)
			builtinPromote(t, amp.CPUFloat16, tensor.Float16)
		}},
		{"TestAutocastCPU/test_autocast_rnn", recurrentOnCPU},
		{"TestAutocastCPU/test_autocast_disabled_with_fp32_dtype", disabledRegion},

		{"TestAutocastGPU/test_cast_cache_is_global", func(t *testing.T) { customBackwardCasts(t, amp.Float16, 1) }},
		{"TestAutocastGPU/test_cache_disabled", func(t *testing.T) { customBackwardCasts(t, amp.Float16.WithCache(false), 2) }},
		{"TestAutocastGPU/test_autocast_prioritize", prioritize},
		{"TestTorchAutocast/test_autocast_fast_dtype", fastDType},
		{"TestTorchAutocast/test_autocast_nograd_caching_issue_158232", eachPolicy(noGradFirst)},
		{"TestTorchAutocast/test_autocast_inference_mode_interaction", eachPolicy(inferenceMode)},
		{"TestTorchAutocast/test_autocast_caching_still_works_with_gradients", eachPolicy(cachingWithGradients)},
		{"TestTorchAutocast/test_autocast_mixed_grad_contexts", eachPolicy(mixedContexts)},
	} {
		t.Run(test.name, test.run)
		if why := leftOut[test.name]; why != "" {
			t.Errorf("%s is listed as left out, but exists: %s", test.name, why)
		}
	}
	if amp.Active() != amp.Off {
		t.Errorf("a region is still open: %v", amp.Active())
	}
}

// builtinPromote checks operations that are not on any list and promote their operands themselves.
func builtinPromote(t *testing.T, p amp.Policy, low tensor.DType) {
	t.Helper()
	g := tensor.NewGenerator(1)
	x, y := g.Randn(side), g.Randn(side).To(low)
	for name, f := range map[string]func(x, y ten) ten{
		"eq": ten.Eq, "ge": ten.Ge, "gt": ten.Gt, "le": ten.Le, "lt": ten.Lt, "ne": ten.Ne, "add": ten.Add, "div": ten.Div, "mul": ten.Mul,
		"cat": func(x, y ten) ten { return tensor.Cat(0, y, x) }, "stack": func(x, y ten) ten { return tensor.Stack(0, y, x) },
	} {
		want := f(x, y.Float())
		amp.Autocast(p, func() {
			if got := f(x, y); got.DType() != want.DType() || !sameBits(got, want) {
				t.Errorf("%v: %s: got %v, want %v", p, name, got, want)
			}
		})
	}
	amp.Autocast(p, func() {
		if tensor.Equal(x, y) || !tensor.Equal(y.Float(), y) {
			t.Errorf("%v: Equal did not compare in float32", p)
		}
	})
}

func banned(t *testing.T) {
	g := tensor.NewGenerator(1)
	x, y := g.Rand(side, side), g.Rand(side, side)
	var e *amp.Error
	if err := try(func() { amp.Autocast(amp.Float16, func() { nn.BinaryCrossEntropy(x, y) }) }); !errors.As(err, &e) || e.Code != "banned" {
		t.Errorf("got %v, want an error", err)
	}
}

func ignoredTypes(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float64, tensor.Int32} {
		a, b, low := tensor.OnesAs(d, side, side), tensor.OnesAs(d, side, side), tensor.OnesAs(tensor.Float16, side, side)
		calls := map[string]func() ten{
			"pow": func() ten { return a.Pow(2) }, "sum": func() ten { return a.Sum() }, "norm": func() ten { return a.Norm() },
		}
		if d == tensor.Float64 {
			calls["mm"] = func() ten { return a.MM(b) }
			if err := try(func() { amp.Autocast(amp.Float16, func() { a.MM(low) }) }); err == nil {
				t.Error("mm of float64 and float16: got no error")
			}
		}
		for name, f := range calls {
			var got, want tensor.DType
			outside := try(func() { want = f().DType() })
			inside := try(func() { amp.Autocast(amp.Float16, func() { got = f().DType() }) })
			if got != want || (inside == nil) != (outside == nil) {
				t.Errorf("%s of %v: got %v, want %v as outside the region", name, d, got, want)
			}
		}
	}
}

func customEnabled(t *testing.T) {
	for _, p := range []amp.Policy{amp.Float16, amp.BFloat16} {
		ran := 0
		mm := amp.CustomBwd(amp.CustomFwd(tensor.Function{
			Name: "mymm",
			Forward: func(c *tensor.Context, in []ten) ten {
				if in[0].DType() != tensor.Float32 || in[1].DType() != tensor.Float32 || amp.Active() != p {
					t.Errorf("forward: got operands of %v and %v under %v", in[0].DType(), in[1].DType(), amp.Active())
				}
				c.Save(in...)
				return in[0].MM(in[1])
			},
			Backward: func(c *tensor.Context, dy ten) []ten {
				ran++
				a, b := c.Saved()[0], c.Saved()[1]
				ga, gb := dy.MM(b.T()), a.T().MM(dy)
				if amp.Active() != p || ga.DType() != p.DType() || gb.DType() != p.DType() {
					t.Errorf("backward: got gradients of %v and %v under %v", ga.DType(), gb.DType(), amp.Active())
				}
				return []ten{ga, gb}
			},
		}))
		g := tensor.NewGenerator(1)
		x, y := g.Randn(side, side).RequireGrad(), g.Randn(side, side).RequireGrad()
		var loss ten
		amp.Autocast(p, func() {
			out := mm.Apply(x, y)
			if out.DType() != p.DType() {
				t.Errorf("got a result of %v, want %v", out.DType(), p.DType())
			}
			loss = out.Sum()
		})
		loss.Backward()
		if ran != 1 || x.Grad().DType() != tensor.Float32 {
			t.Errorf("got %d calls of backward and a gradient of %v for the leaf", ran, x.Grad().DType())
		}
	}
}
