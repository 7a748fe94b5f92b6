package amp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// The tests of this file do what those of torch's test suite do that have their names:
// TestUpstreamAutocast/<name> is test_autocast_… of test/test_cuda.py, and
// TestUpstreamAutocast/<class>/<name> of test/test_autocast.py. What they run on is in
// calls_test.go, as torch's is in torch/testing/_internal/autocast_test_lists.py.

// leftOut are the tests that have no counterpart here, and why.
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
			t.Errorf("%s is there, and is said to be left out: %s", test.name, why)
		}
	}
	if amp.Active() != amp.Off {
		t.Errorf("a region is still open: %v", amp.Active())
	}
}

// runUpstream runs each operation of the names in a region, in each form, on operands of
// the given dtypes, and compares with operands cast by hand, in a region switched off.
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
						t.Errorf("a region switched off is on")
					}
					results = append(results, c.forms[0](hand))
				})
				if !amp.Active().IsEnabled() {
					t.Errorf("the region is off after one inside it")
				}
			})
			for _, y := range results {
				if y.DType() != runsIn {
					t.Errorf("autocast for %s produced %v, should produce %v", name, y.DType(), runsIn)
				}
				if !sameBits(y, results[len(results)-1]) {
					t.Errorf("%s did not match operands cast by hand", name)
				}
			}
		}
		if !found {
			t.Errorf("there is no sample call of %s", name)
		}
	}
}

// builtinPromote: operations that promote by themselves, on no list.
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
				t.Errorf("%v: %s gives %v, want %v", p, name, got, want)
			}
		})
	}
	amp.Autocast(p, func() {
		if tensor.Equal(x, y) || !tensor.Equal(y.Float(), y) {
			t.Errorf("%v: equal does not compare in float32", p)
		}
	})
}

func banned(t *testing.T) {
	g := tensor.NewGenerator(1)
	x, y := g.Rand(side, side), g.Rand(side, side)
	var e *amp.Error
	if err := try(func() { amp.Autocast(amp.Float16, func() { x.BinaryCrossEntropy(y, eachLoss) }) }); !errors.As(err, &e) || e.Code != "banned" {
		t.Errorf("got %v, want a refusal", err)
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
				t.Error("mm of float64 and float16 is no error")
			}
		}
		for name, f := range calls {
			var got, want tensor.DType
			outside := try(func() { want = f().DType() })
			inside := try(func() { amp.Autocast(amp.Float16, func() { got = f().DType() }) })
			if got != want || (inside == nil) != (outside == nil) {
				t.Errorf("%s of %v gives %v, outside the region %v", name, d, got, want)
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
					t.Errorf("forward has %v and %v under %v", in[0].DType(), in[1].DType(), amp.Active())
				}
				c.Save(in...)
				return in[0].MM(in[1])
			},
			Backward: func(c *tensor.Context, dy ten) []ten {
				ran++
				a, b := c.Saved()[0], c.Saved()[1]
				ga, gb := dy.MM(b.T()), a.T().MM(dy)
				if amp.Active() != p || ga.DType() != p.DType() || gb.DType() != p.DType() {
					t.Errorf("backward gives %v and %v under %v", ga.DType(), gb.DType(), amp.Active())
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
				t.Errorf("the result is %v, want %v", out.DType(), p.DType())
			}
			loss = out.Sum()
		})
		loss.Backward()
		if ran != 1 || x.Grad().DType() != tensor.Float32 {
			t.Errorf("backward ran %d times, the leaf's gradient is %v", ran, x.Grad().DType())
		}
	}
}

func customCastInputs(t *testing.T) {
	var want tensor.DType
	ran := 0
	mm := amp.CustomBwd(amp.CustomFwd(tensor.Function{
		Forward: func(c *tensor.Context, in []ten) ten {
			if in[0].DType() != want || in[1].DType() != want || amp.Active().IsEnabled() {
				t.Errorf("forward has %v and %v under %v, want %v and no autocast", in[0].DType(), in[1].DType(), amp.Active(), want)
			}
			if in[2].DType() != tensor.Float64 || in[3].DType() != tensor.Int64 {
				t.Errorf("float64 and int64 came as %v and %v", in[2].DType(), in[3].DType())
			}
			c.Save(in[:2]...)
			return in[0].MM(in[1])
		},
		Backward: func(c *tensor.Context, dy ten) []ten {
			ran++
			if amp.Active().IsEnabled() {
				t.Errorf("backward runs under %v", amp.Active())
			}
			return []ten{dy.MM(c.Saved()[1].T()), nil, nil, nil}
		},
	}, tensor.Float32))
	g := tensor.NewGenerator(1)
	x, y := g.Randn(side, side).Half().RequireGrad(), g.Randn(side, side).Half()
	d, i := tensor.Ones(1).Double(), tensor.Ones(1).Long()
	var out ten
	want = tensor.Float32
	amp.Autocast(amp.Float16, func() {
		if out = mm.Apply(x, y, d, i); out.DType() != tensor.Float32 {
			t.Errorf("in a region the result is %v, want float32", out.DType())
		}
		out = out.Sum()
	})
	out.Backward()
	want = tensor.Float16
	if out = mm.Apply(x, y, d, i); out.DType() != tensor.Float16 {
		t.Errorf("outside the result is %v, want float16: cast_inputs has no effect there", out.DType())
	}
	out.Sum().Backward()
	if ran != 2 || x.Grad().DType() != tensor.Float16 {
		t.Errorf("backward ran %d times and left %v", ran, x.Grad().DType())
	}
}

// recurrentLayers compares layers under autocast with layers of float16.
func recurrentLayers(t *testing.T) {
	const T, B, F, H = 3, 4, 5, 6
	halves := []tensor.DType{tensor.Float16, tensor.Float32}
	for _, kind := range []string{"RNN", "GRU", "LSTM"} {
		for _, layers := range []int{1, 2} {
			for _, bias := range []bool{true, false} {
				for _, layout := range []string{"seq_first", "batch_first", "packed"} {
					for _, both := range []bool{true, false} {
						for _, xd := range halves {
							for _, hd := range halves {
								for _, wd := range halves {
									what := fmt.Sprintf("%s, %d layers, bias %v, %s, bidirectional %v, input %v, state %v, weights %v", kind, layers, bias, layout, both, xd, hd, wd)
									options := []nn.Option{nn.Layers(layers)}
									directions := 1
									if !bias {
										options = append(options, nn.NoBias())
									}
									if both {
										directions = 2
										options = append(options, nn.Bidirectional())
									}
									g := tensor.NewGenerator(8)
									x := g.Randn(T, B, F)
									if layout == "batch_first" {
										x = g.Randn(B, T, F)
										options = append(options, nn.BatchFirst())
									}
									var lengths []int
									if layout == "packed" {
										lengths = []int{3, 3, 2, 1}
									}
									h, c := g.Randn(layers*directions, B, H), g.Randn(layers*directions, B, H)
									run := func(x, h, c ten, cast bool) (out ten, last []ten, grads []ten) {
										m, run := newRecurrent(kind, F, H, append(options, nn.InitFrom(tensor.NewGenerator(7))))
										nn.ToDType(m, wd)
										if !cast {
											nn.Half(m)
										}
										out, last = run(x, h, c, lengths)
										out.Sum().Backward()
										for _, p := range nn.Parameters(m) {
											grads = append(grads, p.Grad())
										}
										return out, last, grads
									}
									var out ten
									var last, grads []ten
									amp.Autocast(amp.Float16, func() { out, last, grads = run(x.To(xd), h.To(hd), c.To(hd), true) })
									wantOut, wantLast, wantGrads := run(x.Half(), h.Half(), c.Half(), false)
									for i, y := range append(slices.Clone(last), out) {
										if w := append(slices.Clone(wantLast), wantOut)[i]; y.DType() != tensor.Float16 || !sameBits(y, w) {
											t.Fatalf("%s: result %d is %v, want %v", what, i, y.DType(), w.DType())
										}
									}
									for i, g := range grads {
										if g.DType() != wd || !tensor.AllClose(g.Float(), wantGrads[i].Float(), 1e-3, 1e-3) {
											t.Fatalf("%s: gradient %d, %v: got %v, want %v", what, i, g.DType(), g, wantGrads[i])
										}
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

// newRecurrent returns layers and a way to run them.
func newRecurrent(kind string, in, hidden int, options []nn.Option) (m nn.Module, run func(x, h, c ten, lengths []int) (ten, []ten)) {
	switch kind {
	case "LSTM":
		l := nn.NewLSTM(in, hidden, options...)
		return l, func(x, h, c ten, lengths []int) (ten, []ten) {
			out, lastH, lastC := l.RunLengths(x, h, c, lengths)
			return out, []ten{lastH, lastC}
		}
	case "GRU":
		l := nn.NewGRU(in, hidden, options...)
		return l, func(x, h, _ ten, lengths []int) (ten, []ten) {
			out, last := l.RunLengths(x, h, lengths)
			return out, []ten{last}
		}
	}
	l := nn.NewRNN(in, hidden, options...)
	return l, func(x, h, _ ten, lengths []int) (ten, []ten) {
		out, last := l.RunLengths(x, h, lengths)
		return out, []ten{last}
	}
}

func recurrentOnCPU(t *testing.T) {
	g := tensor.NewGenerator(1)
	x, h, c := g.Randn(1, 2, 1), g.Randn(2, 2, 1), g.Randn(2, 2, 1)
	m := nn.NewLSTM(1, 1, nn.Layers(2))
	nn.ToDType(m, tensor.BFloat16)
	if err := try(func() { m.Run(x, h, c) }); err == nil {
		t.Error("float32 input to layers of bfloat16 is no error outside a region")
	}
	amp.Autocast(amp.CPUBFloat16, func() {
		if out, _, _ := m.Run(x, h, c); out.DType() != tensor.BFloat16 {
			t.Errorf("the result is %v, want bfloat16", out.DType())
		}
	})
}

// cacheLeak: what runs repeatedly under NoGrad casts its weights once, and holds no more.
func cacheLeak(t *testing.T) {
	m, x := nn.NewLinear(10, 10), tensor.Randn(1, 10)
	amp.Autocast(amp.Float16, func() {
		tensor.NoGrad(func() {
			m.Forward(x)
			first := amp.Cache()
			made, _ := casts(func() {
				for range 3 {
					m.Forward(x)
				}
			})
			if now := amp.Cache(); now.Entries != first.Entries || now.Bytes != first.Bytes || first.Entries != 2 || made != 3 {
				t.Errorf("after three more runs: %v, %d casts; want what there was after one, %v, and a cast of each input", now, made, first)
			}
		})
	})
	if s := amp.Cache(); s != (amp.CacheStats{}) {
		t.Errorf("outside the region: %v", s)
	}
}

func checkpointing(t *testing.T) {
	g := tensor.NewGenerator(3)
	m := nn.Sequential(nn.NewLinear(8, 8, nn.InitFrom(g)), nn.NewLinear(8, 8, nn.InitFrom(g)), nn.NewLinear(8, 8, nn.InitFrom(g)))
	x := g.Rand(8, 8).Half().RequireGrad()
	run := func(forward func() ten) (y ten, grads [][]float64) {
		amp.Autocast(amp.Float16, func() { y = forward() })
		y.Sum().Backward()
		for _, p := range append(nn.Parameters(m), x) {
			grads = append(grads, p.Grad().Float64s())
			p.ZeroGrad()
		}
		return y, grads
	}
	want, wantGrads := run(func() ten { return m.Forward(x) })
	for _, segments := range []int{1, 2, 3} {
		y, grads := run(func() ten { return nn.CheckpointSequential(m, segments, x) })
		if !y.RequiresGrad() || y.DType() != tensor.Float16 || !sameBits(y, want) {
			t.Errorf("%d segments: got %v, want %v", segments, y, want)
		}
		if fmt.Sprint(grads) != fmt.Sprint(wantGrads) {
			t.Errorf("%d segments: the gradients differ", segments)
		}
	}
}

// disabledRegion: what is switched off may have any dtype.
func disabledRegion(t *testing.T) {
	amp.Autocast(amp.Float16.Enabled(false), func() {
		if d := tensor.Ones(10).Add(tensor.Ones(10)).DType(); d != tensor.Float32 {
			t.Errorf("got %v", d)
		}
	})
}

// customBackwardCasts counts the casts of a weight that a custom function uses in forward
// and, in a region of its own, in backward.
func customBackwardCasts(t *testing.T, p amp.Policy, want int) {
	linear := tensor.Function{
		Name: "custom_linear",
		Forward: func(c *tensor.Context, in []ten) ten {
			c.Save(in...)
			return in[0].Linear(in[1], nil)
		},
		Backward: func(c *tensor.Context, dy ten) (grads []ten) {
			x, w := c.Saved()[0], c.Saved()[1]
			amp.Autocast(p, func() { grads = []ten{dy.MatMul(w), x.T().MatMul(dy).T()} })
			return grads
		},
	}
	data, weight := tensor.Randn(2, 3).RequireGrad(), tensor.Randn(4, 3).RequireGrad()
	n := 0
	stop := tensor.Observe(func(e tensor.Event) {
		if e.Op.Name == "cast" && e.In[0].ID == weight.ID() && e.Out.DType == tensor.Float16 {
			n++
		}
	})
	defer stop()
	// The region is still open in Backward, where torch's test keeps the cache from
	// being cleared.
	amp.Autocast(p, func() { linear.Apply(data, weight).Sum().Backward() })
	if n != want {
		t.Errorf("the weight was cast %d times, want %d", n, want)
	}
}

// prioritize: the derivative of index_put in bfloat16 does not meet another region's
// dtype.
func prioritize(t *testing.T) {
	amp.Autocast(amp.BFloat16, func() {
		x := tensor.Randn(3, 4, 5).BFloat16().RequireGrad()
		index := tensor.Randint(0, 3, 3, 4, 5)
		y := x.IndexPut(tensor.Randn(1).BFloat16(), index)
		y.Mean().Backward()
		if y.DType() != tensor.BFloat16 || x.Grad().DType() != tensor.BFloat16 {
			t.Errorf("the result is %v, the gradient %v", y.DType(), x.Grad().DType())
		}
	})
}

func fastDType(t *testing.T) {
	if amp.Float16.DType() != tensor.Float16 || amp.CPUBFloat16.DType() != tensor.BFloat16 {
		t.Errorf("got %v and %v", amp.Float16.DType(), amp.CPUBFloat16.DType())
	}
}

func eachPolicy(f func(t *testing.T, p amp.Policy, m nn.Module, x ten)) func(t *testing.T) {
	return func(t *testing.T) {
		for _, p := range []amp.Policy{amp.CPUBFloat16, amp.Float16} {
			g := tensor.NewGenerator(1)
			f(t, p, nn.NewLinear(2, 2, nn.InitFrom(g)), g.Randn(8, 2))
		}
	}
}

func wantsGrad(t *testing.T, y ten, want bool) {
	t.Helper()
	if y.RequiresGrad() != want || y.IsLeaf() == want {
		t.Errorf("requires a gradient: %v, want %v", y.RequiresGrad(), want)
	}
}

func noGradFirst(t *testing.T, p amp.Policy, m nn.Module, x ten) {
	amp.Autocast(p, func() {
		tensor.NoGrad(func() { wantsGrad(t, m.Forward(x), false) })
		y := m.Forward(x)
		wantsGrad(t, y, true)
		y.Mean().Backward()
	})
	for _, w := range nn.NamedParameters(m) {
		if w.Tensor.Grad() == nil {
			t.Errorf("%v: %s has no gradient", p, w.Name)
		}
	}
}

// inferenceMode: tensor.NoGrad stands for torch's inference_mode.
func inferenceMode(t *testing.T, p amp.Policy, m nn.Module, x ten) {
	amp.Autocast(p, func() {
		amp.ClearCache()
		tensor.NoGrad(func() {
			y := m.Forward(x)
			wantsGrad(t, y, false)
			if y.DType() != p.DType() {
				t.Errorf("got %v, want %v", y.DType(), p.DType())
			}
		})
		y := m.Forward(x)
		wantsGrad(t, y, true)
		y.Mean().Backward()
	})
	tensor.NoGrad(func() {
		amp.Autocast(p, func() {
			y := m.Forward(x)
			wantsGrad(t, y, false)
			if y.DType() != p.DType() {
				t.Errorf("got %v, want %v", y.DType(), p.DType())
			}
		})
	})
}

func cachingWithGradients(t *testing.T, p amp.Policy, m nn.Module, x ten) {
	amp.Autocast(p, func() {
		made, cached := casts(func() {
			for range 3 {
				y := m.Forward(x)
				wantsGrad(t, y, true)
				y.Mean().BackwardWith(tensor.BackwardOptions{RetainGraph: true})
			}
		})
		if made != 3+2 || cached != 2*2 {
			t.Errorf("%d casts and %d from the cache, want 5 and 4", made, cached)
		}
	})
}

func mixedContexts(t *testing.T, p amp.Policy, m nn.Module, x ten) {
	amp.Autocast(p, func() {
		var ys []ten
		for pass := range 4 {
			if pass%2 == 0 {
				tensor.NoGrad(func() { wantsGrad(t, m.Forward(x), false) })
				continue
			}
			y := m.Forward(x)
			wantsGrad(t, y, true)
			ys = append(ys, y.Mean())
		}
		ys[0].Add(ys[1]).Backward()
	})
	if nn.Parameters(m)[0].Grad() == nil {
		t.Error("the weight has no gradient")
	}
}
