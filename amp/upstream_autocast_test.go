package amp_test

import (
	"errors"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The tests of this file follow those of the same names in torch's test suite:
// TestUpstreamAutocast/<name> is test_autocast_… of test/test_cuda.py, and
// TestUpstreamAutocast/<class>/<name> of test/test_autocast.py. The calls are in calls_test.go;
// torch's are in torch/testing/_internal/autocast_test_lists.py.

// leftOut maps torch's tests without a counterpart here to the reason.
var leftOut = map[string]string{
	"test_autocast_cat_jit":                    "there is no TorchScript; cat and stack are in torch_expect_builtin_promote",
	"TestTorchAutocast.test_non_string_device": "a policy is named by a value, not by a string",
	"TestTorchAutocast.test_invalid_device":    "a policy is named by a value, not by a string",
	"TestAutocastMPS":                          "there is no MPS backend",
	"test_cpu_autocast_deprecated_warning":     "there are no deprecated forms",
}

func TestUpstreamAutocast(t *testing.T) {
	const (
		torch16   = "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d prelu addmm addmv addr matmul einsum mm mv chain_matmul addbmm baddbmm bmm lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"
		torch32   = "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softmax log_softmax layer_norm group_norm norm cosine_similarity poisson_nll_loss cosine_embedding_loss hinge_embedding_loss kl_div margin_ranking_loss triplet_margin_loss binary_cross_entropy_with_logits cumprod cumsum dist pdist cdist prod renorm sum logsumexp"
		promoted  = "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add"
		nn32      = "softplus nll_loss nll_loss2d l1_loss smooth_l1_loss mse_loss multilabel_margin_loss soft_margin_loss multi_margin_loss"
		cpu16     = "conv1d conv2d conv3d bmm mm matmul baddbmm addmm addbmm conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d prelu"
		cpu32     = "poisson_nll_loss cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss binary_cross_entropy_with_logits"
		cpuNN32   = "avg_pool3d binary_cross_entropy reflection_pad1d nll_loss nll_loss2d l1_loss smooth_l1_loss mse_loss multilabel_margin_loss soft_margin_loss multi_margin_loss huber_loss"
		float32_  = tensor.Float32
		float16_  = tensor.Float16
		bfloat16_ = tensor.BFloat16
	)
	lists := func(names string, p amp.Policy, first, others, runsIn tensor.DType) func(t *testing.T) {
		return func(t *testing.T) { runUpstream(t, names, p, first, others, runsIn) }
	}
	both := func(fs ...func(t *testing.T)) func(t *testing.T) {
		return func(t *testing.T) {
			for _, f := range fs {
				f(t)
			}
		}
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"test_autocast_torch_fp16", lists(torch16, amp.Float16, float32_, float32_, float16_)},
		{"test_autocast_torch_bf16", lists(torch16, amp.BFloat16, float32_, float32_, bfloat16_)},
		{"test_autocast_torch_fp32", lists(torch32, amp.Float16, float16_, float16_, float32_)},
		{"test_autocast_torch_need_autocast_promote", both(
			lists(promoted, amp.Float16, float32_, float16_, float32_), lists(promoted, amp.Float16, float16_, float32_, float32_))},
		{"test_autocast_torch_expect_builtin_promote", func(t *testing.T) { builtinPromote(t, amp.Float16, float16_) }},
		{"test_autocast_nn_fp16", lists("linear", amp.Float16, float32_, float32_, float16_)},
		{"test_autocast_nn_bf16", lists("linear", amp.BFloat16, float32_, float32_, bfloat16_)},
		{"test_autocast_nn_fp32", lists(nn32, amp.Float16, float16_, float16_, float32_)},
		{"test_autocast_linalg_fp16", lists("linalg_vecdot linalg_multi_dot", amp.Float16, float32_, float32_, float16_)},
		{"test_autocast_methods_fp16", lists("matmul", amp.Float16, float32_, float32_, float16_)},
		{"test_autocast_methods_fp32", lists("pow", amp.Float16, float16_, float16_, float32_)},
		{"test_autocast_methods_expect_builtin_promote", func(t *testing.T) { builtinPromote(t, amp.Float16, float16_) }},
		{"test_autocast_banned", banned},
		{"test_autocast_ignored_types", ignoredTypes},
		{"test_autocast_custom_enabled", customEnabled},
		{"test_autocast_custom_cast_inputs", customCastInputs},
		{"test_autocast_rnn", recurrentLayers},
		{"test_autocast_cache_leak", cacheLeak},
		{"test_autocast_checkpointing", checkpointing},

		{"TestAutocastCPU/test_autocast_torch_expect_builtin_promote", func(t *testing.T) {
			builtinPromote(t, amp.CPUBFloat16, bfloat16_)
			builtinPromote(t, amp.CPUFloat16, float16_)
		}},
		{"TestAutocastCPU/test_autocast_methods_expect_builtin_promote", func(t *testing.T) {
			builtinPromote(t, amp.CPUBFloat16, bfloat16_)
			builtinPromote(t, amp.CPUFloat16, float16_)
		}},
		{"TestAutocastCPU/test_autocast_torch_16", both(
			lists(cpu16, amp.CPUBFloat16, float32_, float32_, bfloat16_), lists(cpu16, amp.CPUFloat16, float32_, float32_, float16_))},
		{"TestAutocastCPU/test_autocast_nn_16", both(
			lists("linear", amp.CPUBFloat16, float32_, float32_, bfloat16_), lists("linear", amp.CPUFloat16, float32_, float32_, float16_))},
		{"TestAutocastCPU/test_autocast_torch_fp32", both(
			lists(cpu32, amp.CPUBFloat16, bfloat16_, bfloat16_, float32_), lists(cpu32, amp.CPUFloat16, float16_, float16_, float32_))},
		{"TestAutocastCPU/test_autocast_nn_fp32", both(
			lists(cpuNN32, amp.CPUBFloat16, bfloat16_, bfloat16_, float32_), lists(cpuNN32, amp.CPUFloat16, float16_, float16_, float32_))},
		{"TestAutocastCPU/test_autocast_torch_need_autocast_promote", both(
			lists("cat stack", amp.CPUBFloat16, bfloat16_, float32_, float32_), lists("cat stack", amp.CPUFloat16, float16_, float32_, float32_))},
		{"TestAutocastCPU/test_autocast_rnn", recurrentOnCPU},
		{"TestAutocastCPU/test_autocast_disabled_with_fp32_dtype", disabledRegion},
		{"TestAutocastCPU/test_generic_autocast", both(
			lists(cpu16, amp.CPUBFloat16, float32_, float32_, bfloat16_), lists(cpu16, amp.CPUFloat16, float32_, float32_, float16_))},

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

// runUpstream runs each named operation in a region, in each form, on operands of the given dtypes. It
// compares the results with those of operands cast by hand in a disabled region.
func runUpstream(t *testing.T, names string, p amp.Policy, first, others, runsIn tensor.DType) {
	t.Helper()
	calls := opCalls()
	for _, name := range strings.Fields(names) {
		found := false
		for _, c := range calls {
			if c.op != name {
				continue
			}
			found = true
			in, hand := c.in(), c.in()
			n := 0
			for i, x := range in {
				if x.DType().IsFloat() {
					if in[i] = x.To(others); n == 0 {
						in[i] = x.To(first)
					}
					hand[i] = in[i].To(runsIn)
					n++
				}
			}
			var results []ten
			amp.Autocast(p, func() {
				for _, form := range c.forms {
					results = append(results, form(in))
				}
				amp.Autocast(p.Enabled(false), func() {
					if amp.Active().IsEnabled() {
						t.Errorf("a disabled region is enabled")
					}
					results = append(results, c.forms[0](hand))
				})
				if !amp.Active().IsEnabled() {
					t.Errorf("the region is disabled after an inner one ended")
				}
			})
			for _, y := range results {
				if y.DType() != runsIn {
					t.Errorf("%s under autocast: got %v, want %v", name, y.DType(), runsIn)
				}
				if !sameBits(y, results[len(results)-1]) {
					t.Errorf("%s: the result differs from that of operands cast by hand", name)
				}
			}
		}
		if !found {
			t.Errorf("%s has no sample call", name)
		}
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
