//go:build cuda && linux && cgo

package cuda_test

import (
	"runtime"
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// pass applies a linear layer to x with the weight cast by autocast.
func pass(p amp.Policy, w, x *tensor.Tensor) (y *tensor.Tensor) {
	amp.Autocast(p, func() { y = x.MatMul(w) })
	return y
}

// weights returns a weight with a gradient, an input, and the weight's optimizer.
func weights(options ...optim.Option) (w, x *tensor.Tensor, opt *optim.Optimizer) {
	w = numbers(64).Reshape(8, 8).MulScalar(0.01).RequireGrad()
	w.SetGrad(numbers(64).Reshape(8, 8).MulScalar(1e-3))
	return w, numbers(24).Reshape(3, 8).MulScalar(0.05), optim.NewSGD([]*tensor.Tensor{w}, 0.1, options...)
}

// launchesOf returns the number of launches of f.
func launchesOf(f func()) int {
	before := fake.Launches()
	f()
	return fake.Launches() - before
}

// uncached changes the weights in place, so that autocast does not use the copies that a step wrote.
func uncached(ps []*tensor.Tensor) {
	tensor.NoGrad(func() {
		for _, p := range ps {
			p.MulScalarAssign(1)
		}
	})
}

// TestWeightCopiesInTraining compares training with half-precision copies of weights that the
// optimizer writes with training that casts the weights in each step. All bits are equal, and each
// step has one launch less per weight.
func TestWeightCopiesInTraining(t *testing.T) {
	for _, c := range []struct {
		name string
		training
		guarded bool
	}{
		{"float16, SGD", training{policy: amp.Float16}, false},
		{"bfloat16, AdamW", training{policy: amp.BFloat16, adam: true}, false},
		{"bfloat16, AdamW, guarded", training{policy: amp.BFloat16, adam: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(hide bool) (bits []uint64, launches int) {
				s := newSubject("mlp", tensor.CUDA)
				params := nn.Parameters(s.net)
				opt := c.optimizer(params)
				for i := range 5 {
					launches = launchesOf(func() {
						opt.ZeroGrad()
						var loss *tensor.Tensor
						amp.Autocast(c.policy, func() { loss = s.loss(s.net.Forward(s.x), s.y) })
						loss.Backward()
						if c.guarded {
							opt.StepUnless([]*tensor.Tensor{zeros(1), numbers(2)}[i%3/2])
						} else {
							opt.Step()
						}
					})
					if hide {
						uncached(params)
					}
				}
				for _, p := range params {
					bits = append(bits, p.Detach().Bits()...)
				}
				return bits, launches
			}
			want, cast := run(true)
			got, copied := run(false)
			if !slices.Equal(got, want) {
				t.Error("bits of parameters differ from those with casts")
			}
			if !fake.Real() && copied != cast-6 {
				t.Errorf("got %d launches with copies and %d with casts, want one fewer for each of 6 parameters", copied, cast)
			}
		})
	}
}

// TestWeightCopy checks when a weight is cast again, and when the optimizer has written the copy.
func TestWeightCopy(t *testing.T) {
	same := func(what string, got, w *tensor.Tensor, d tensor.DType) {
		t.Helper()
		if want := w.Detach().Clone().To(d); got.DType() != d || !slices.Equal(got.Bits(), want.Bits()) {
			t.Errorf("%s: the %v copy differs from the weight cast to %v", what, got.DType(), d)
		}
	}
	// cast returns w as d from CastWeight, and reports whether it was computed now.
	cast := func(w *tensor.Tensor, d tensor.DType) (y *tensor.Tensor, computed bool) {
		n := launchesOf(func() { y = fused.CastWeight(w, d) })
		return y, n > 0 || fake.Real()
	}
	f16, bf16 := tensor.Float16, tensor.BFloat16
	for _, momentum := range []float64{0, 0.9} {
		w, _, opt := weights(optim.Momentum(momentum))
		expect := func(what string, d tensor.DType, want bool) {
			t.Helper()
			y, computed := cast(w, d)
			if same(what, y, w, d); computed != want && !fake.Real() {
				t.Errorf("%s: computed %v, want %v", what, computed, want)
			}
		}
		expect("first", f16, true)
		expect("again", f16, true)
		opt.Step()
		expect("after a step", f16, false)
		expect("second cast after a step", f16, true)
		expect("another dtype", bf16, true)
		opt.Step()
		expect("second of two dtypes", bf16, true)
		expect("first of two dtypes", f16, false)
		opt.Step() // writes bfloat16, which was requested first
		expect("dtype requested first", bf16, false)
		opt.Step()
		tensor.NoGrad(func() { w.MulScalarAssign(2) })
		expect("changed in place", bf16, true)
		opt.Step()
		w.SetData(w.Detach().Clone())
		expect("after SetData", bf16, true)
		opt.Step()
		opt.Step() // no cast has been requested since the last step
		expect("after a step without a cast", bf16, true)
		opt.StepUnless(zeros(1))
		expect("after a guarded step", bf16, false)
		opt.StepUnless(numbers(2))
		expect("after a skipped step", bf16, false)
		w.SetGrad(nil)
		opt.Step()
		expect("without a gradient", bf16, true)
	}
}

// TestUnusedWeightCopies checks that copies of weights that are no longer cast are released, and
// that steps allocate none.
func TestUnusedWeightCopies(t *testing.T) {
	w, x, opt := weights()
	opt.Step()
	pass(amp.BFloat16, w, x)
	runtime.GC()
	live := tensor.CUDA.Memory().Live
	opt.Step()
	if got := tensor.CUDA.Memory().Live - live; got <= 0 {
		t.Errorf("step after a cast: got %d more live bytes, want those of the copy", got)
	}
	opt.Step()
	if got := tensor.CUDA.Memory().Live - live; got > 0 {
		t.Errorf("steps without a cast: got %d more live bytes than before the copy, want none", got)
	}
}

// TestWeightCopyKeepsTape checks that backward through a tape recorded before a step uses the weight
// of that time.
func TestWeightCopyKeepsTape(t *testing.T) {
	gradients := func(hide bool) []uint64 {
		w, x, opt := weights()
		pass(amp.Float16, w, x)
		opt.Step()
		if hide {
			uncached([]*tensor.Tensor{w})
		}
		x = x.Detach().RequireGrad()
		y := pass(amp.Float16, w, x)
		y.Sum().BackwardWith(tensor.BackwardOptions{RetainGraph: true})
		opt.Step()
		opt.Step()
		y.Sum().Backward()
		return append(x.Grad().Bits(), w.Grad().Bits()...)
	}
	if got, want := gradients(false), gradients(true); !slices.Equal(got, want) {
		t.Error("gradients differ from those with casts")
	}
}

// TestWeightCopyInRegions compares copies with casts for weights that are used twice, in nested
// regions of two dtypes, after ClearCache, with LegacyCache, and with an observer.
func TestWeightCopyInRegions(t *testing.T) {
	run := func(p amp.Policy, hide, observe bool) (bits []uint64, seen []string) {
		w, x, opt := weights(optim.Momentum(0.9))
		if observe {
			defer tensor.Observe(func(e tensor.Event) {
				if e.Op.Name == "cast" {
					seen = append(seen, e.Op.Name+e.Result.DType().String())
				}
			})()
		}
		for range 4 {
			opt.ZeroGrad()
			amp.Autocast(p, func() {
				y := x.MatMul(w).MatMul(w) // tied weights
				amp.Autocast(amp.BFloat16, func() { y = y.MatMul(w) })
				amp.ClearCache()
				y = y.MatMul(w.T())
				y.Float().Square().Mean().Backward()
			})
			opt.Step()
			if hide {
				uncached([]*tensor.Tensor{w})
			}
		}
		return w.Detach().Bits(), seen
	}
	for name, p := range map[string]amp.Policy{"float16": amp.Float16, "legacy": amp.LegacyCache(amp.Float16)} {
		want, casts := run(p, true, true)
		got, copies := run(p, false, true)
		if !slices.Equal(got, want) || !slices.Equal(copies, casts) {
			t.Errorf("%s: got equal bits %v and observed casts %v, want true and %v", name, slices.Equal(got, want), copies, casts)
		}
		if got, _ := run(p, false, false); !slices.Equal(got, want) {
			t.Errorf("%s: bits differ without an observer", name)
		}
	}
}

// TestWeightCopiesBetweenReplays takes steps between replays of a graph that changes weights too.
func TestWeightCopiesBetweenReplays(t *testing.T) {
	run := func(replay bool) []uint64 {
		w, x, opt := weights()
		step := func() {
			opt.ZeroGrad()
			pass(amp.Float16, w, x).Float().Square().Mean().Backward()
			opt.Step()
		}
		step()
		step()
		again := step
		pass(amp.Float16, w, x) // makes the next step write a copy
		if replay {
			g, err := cuda.Capture(step)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Free()
			again = g.Replay
		}
		step() // before the first replay
		for range 2 {
			again()
			step()
			step()
			again()
			again()
			step()
		}
		return w.Detach().Bits()
	}
	if got, want := run(true), run(false); !slices.Equal(got, want) {
		t.Error("bits differ from those without replays")
	}
}

// TestWeightCopyWithoutMemory checks that a step succeeds without a copy if memory is short.
func TestWeightCopyWithoutMemory(t *testing.T) {
	if !child(t, fake.Options{Memory: 16 << 20}) {
		return
	}
	w := numbers(20_000).RequireGrad()
	w.SetGrad(numbers(20_000))
	opt := optim.NewSGD([]*tensor.Tensor{w}, 0.5)
	fused.CastWeight(w, tensor.Float16)
	var ballast []*tensor.Tensor
	for n := 4 << 20; n >= 128; n /= 2 {
		for tensor.Try(func() { ballast = append(ballast, zeros(n)) }) == nil {
		}
	}
	if err := tensor.Try(opt.Step); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(ballast)
	if y := fused.CastWeight(w, tensor.Float16); y.At(100) != 50 || w.Detach().At(100) != 50 {
		t.Errorf("got weight %v and cast %v, want 50", w.Detach().At(100), y.At(100))
	}
}
