package amp_test

import (
	"fmt"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func customCastInputs(t *testing.T) {
	var want tensor.DType
	ran := 0
	mm := amp.CustomBwd(amp.CustomFwd(tensor.Function{
		Forward: func(c *tensor.Context, in []ten) ten {
			if in[0].DType() != want || in[1].DType() != want || amp.Active().IsEnabled() {
				t.Errorf("forward: got operands of %v and %v under %v, want %v and no autocast", in[0].DType(), in[1].DType(), amp.Active(), want)
			}
			if in[2].DType() != tensor.Float64 || in[3].DType() != tensor.Int64 {
				t.Errorf("operands of float64 and int64: got %v and %v", in[2].DType(), in[3].DType())
			}
			c.Save(in[:2]...)
			return in[0].MM(in[1])
		},
		Backward: func(c *tensor.Context, dy ten) []ten {
			ran++
			if amp.Active().IsEnabled() {
				t.Errorf("backward: got policy %v", amp.Active())
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
			t.Errorf("in a region: got a result of %v, want float32", out.DType())
		}
		out = out.Sum()
	})
	out.Backward()
	want = tensor.Float16
	if out = mm.Apply(x, y, d, i); out.DType() != tensor.Float16 {
		t.Errorf("outside a region: got a result of %v, want float16, since the dtype has no effect there", out.DType())
	}
	out.Sum().Backward()
	if ran != 2 || x.Grad().DType() != tensor.Float16 {
		t.Errorf("got %d calls of backward and a gradient of %v", ran, x.Grad().DType())
	}
}

// recurrentLayers compares layers under autocast with float16 layers.
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
									options := []nn.Option{nn.NumLayers(layers)}
									directions := 1
									if !bias {
										options = append(options, nn.Bias(false))
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
											t.Fatalf("%s: result %d: got %v, want %v", what, i, y.DType(), w.DType())
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

// newRecurrent returns layers and a function that runs them.
func newRecurrent(kind string, in, hidden int, options []nn.Option) (m nn.Module, run func(x, h, c ten, lengths []int) (ten, []ten)) {
	switch kind {
	case "LSTM":
		l := nn.NewLSTM(in, hidden, options...)
		return l, func(x, h, c ten, lengths []int) (ten, []ten) {
			out, lastH, lastC := l.ForwardLengths(x, h, c, lengths)
			return out, []ten{lastH, lastC}
		}
	case "GRU":
		l := nn.NewGRU(in, hidden, options...)
		return l, func(x, h, _ ten, lengths []int) (ten, []ten) {
			out, last := l.ForwardLengths(x, h, lengths)
			return out, []ten{last}
		}
	}
	l := nn.NewRNN(in, hidden, options...)
	return l, func(x, h, _ ten, lengths []int) (ten, []ten) {
		out, last := l.ForwardLengths(x, h, lengths)
		return out, []ten{last}
	}
}

func recurrentOnCPU(t *testing.T) {
	g := tensor.NewGenerator(1)
	x, h, c := g.Randn(1, 2, 1), g.Randn(2, 2, 1), g.Randn(2, 2, 1)
	m := nn.NewLSTM(1, 1, nn.NumLayers(2))
	nn.ToDType(m, tensor.BFloat16)
	if err := try(func() { m.ForwardState(x, h, c) }); err == nil {
		t.Error("float32 input to bfloat16 layers outside a region: got no error")
	}
	amp.Autocast(amp.CPUBFloat16, func() {
		if out, _, _ := m.ForwardState(x, h, c); out.DType() != tensor.BFloat16 {
			t.Errorf("got a result of %v, want bfloat16", out.DType())
		}
	})
}

// cacheLeak checks that repeated runs under NoGrad cast weights once and do not grow the cache.
func cacheLeak(t *testing.T) {
	m, x := nn.NewLinear(10, 10), tensor.Randn(1, 10)
	amp.Autocast(amp.Float16, func() {
		tensor.NoGrad(func() {
			m.Forward(x)
			first := amp.CacheStatistics()
			made, _ := casts(func() {
				for range 3 {
					m.Forward(x)
				}
			})
			if now := amp.CacheStatistics(); now.Entries != first.Entries || now.Bytes != first.Bytes || first.Entries != 2 || made != 3 {
				t.Errorf("after three more runs: got %v and %d casts, want %v as after one run, and one cast of each input", now, made, first)
			}
		})
	})
	if s := amp.CacheStatistics(); s != (amp.CacheStats{}) {
		t.Errorf("outside the region: got %v", s)
	}
}

func checkpointing(t *testing.T) {
	g := tensor.NewGenerator(3)
	m := nn.NewSequential(nn.NewLinear(8, 8, nn.InitFrom(g)), nn.NewLinear(8, 8, nn.InitFrom(g)), nn.NewLinear(8, 8, nn.InitFrom(g)))
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
			t.Errorf("%d segments: the gradients differ from those without checkpoints", segments)
		}
	}
}

// disabledRegion checks that a disabled policy may have any dtype.
func disabledRegion(t *testing.T) {
	amp.Autocast(amp.Float16.Enabled(false), func() {
		if d := tensor.Ones(10).Add(tensor.Ones(10)).DType(); d != tensor.Float32 {
			t.Errorf("got %v", d)
		}
	})
}

// customBackwardCasts counts the casts of a weight that a custom function uses in forward
// and, in a separate region, in backward.
func customBackwardCasts(t *testing.T, p amp.Policy, want int) {
	linear := tensor.Function{
		Name: "custom_linear",
		Forward: func(c *tensor.Context, in []ten) ten {
			c.Save(in...)
			return tensor.Linear(in[0], in[1], nil)
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
	// The region is still open in Backward; torch's test keeps the cache from being cleared.
	amp.Autocast(p, func() { linear.Apply(data, weight).Sum().Backward() })
	if n != want {
		t.Errorf("got %d casts of the weight, want %d", n, want)
	}
}

// prioritize checks that the derivative of index_put in bfloat16 does not depend on the dtype of another
// region.
func prioritize(t *testing.T) {
	amp.Autocast(amp.BFloat16, func() {
		x := tensor.Randn(3, 4, 5).BFloat16().RequireGrad()
		index := tensor.Randint(0, 3, 3, 4, 5)
		y := x.IndexPut(tensor.Randn(1).BFloat16(), index)
		y.Mean().Backward()
		if y.DType() != tensor.BFloat16 || x.Grad().DType() != tensor.BFloat16 {
			t.Errorf("got a result of %v and a gradient of %v", y.DType(), x.Grad().DType())
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
		t.Errorf("requires a gradient: got %v, want %v", y.RequiresGrad(), want)
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

// inferenceMode uses tensor.NoGrad in place of torch's inference_mode.
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
			t.Errorf("got %d casts and %d cache hits, want 5 and 4", made, cached)
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
