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

// stepped is a subject with an optimizer and a training step.
type stepped struct {
	*subject
	opt    *optim.Optimizer
	scaler *amp.GradScaler
	step   func()
	last   *tensor.Tensor // loss of the last step
}

func (c training) stepped(name string) *stepped {
	s := &stepped{subject: newSubject(name, tensor.CUDA)}
	s.opt = c.optimizer(nn.Parameters(s.net))
	s.scaler = amp.NewGradScaler(append(slices.Clone(c.scaler), amp.ScalerEnabled(c.scaler != nil))...)
	s.step = func() {
		s.opt.ZeroGrad()
		amp.Autocast(c.policy, func() { s.last = s.loss(s.net.Forward(s.x), s.y) })
		s.scaler.Scale(s.last).Backward()
		s.scaler.StepNonBlocking(s.opt)
		s.scaler.Update()
	}
	return s
}

// state returns the parameters, buffers, gradients, the loss and the loss scale.
func (s *stepped) state() []float64 {
	list := []*tensor.Tensor{s.last}
	for _, p := range nn.Parameters(s.net) {
		list = append(list, p, p.Grad())
	}
	for _, b := range nn.NamedBuffers(s.net) {
		list = append(list, b.Tensor)
	}
	return append(contents(list), s.scaler.CurrentScale(), float64(s.scaler.GrowthTracker()))
}

// same reports whether numbers are equal or both NaN. Gradients of a skipped step may be NaN.
func same(x, y float64) bool { return x == y || x != x && y != y }

// capture captures a step, and fails the test on an error.
func capture(t *testing.T, step func()) *cuda.Graph {
	t.Helper()
	g, err := cuda.Capture(step)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestReplays compares replays with steps bit for bit, also with a new batch and a garbage collection
// before each.
func TestReplays(t *testing.T) {
	for _, c := range []struct {
		name     string
		subjects []string
		training
	}{
		{"float32, SGD", []string{"mlp"}, training{policy: amp.Off}},
		{"bfloat16, AdamW", []string{"cnn", "bert"}, training{policy: amp.BFloat16, adam: true}},
		{"float16, AdamW", []string{"mlp"}, training{policy: amp.Float16, adam: true, scaler: []amp.ScalerOption{amp.InitScale(1 << 12), amp.GrowthFactor(32), amp.GrowthInterval(2)}}},
	} {
		for _, name := range c.subjects {
			t.Run(name+", "+c.name, func(t *testing.T) {
				const steps = 2
				var scales []float64
				eager, captured := c.stepped(name), c.stepped(name)
				eager.step()
				captured.step()
				g := capture(t, captured.step)
				defer g.Free()
				launches, allocs, syncs, graphs := fake.Launches(), fake.Allocs(), fake.Syncs(), fake.GraphLaunches()
				for range steps {
					g.Replay()
				}
				if !fake.Real() {
					if n := fake.Launches() - launches; n != 0 {
						t.Errorf("got %d launches outside the graph, want 0", n)
					}
					if n := fake.GraphLaunches() - graphs; n != steps {
						t.Errorf("got %d launches of graphs, want %d", n, steps)
					}
					if a, s := fake.Allocs()-allocs, fake.Syncs()-syncs; a != 0 || s != 0 {
						t.Errorf("got %d allocations and %d waits in replays, want none", a, s)
					}
				}
				for range steps {
					eager.step()
				}
				if got, want := captured.state(), eager.state(); !slices.EqualFunc(got, want, same) {
					t.Errorf("after %d replays: got %v…, want %v…", steps, got[:3], want[:3])
				}
				for i := range 2 {
					x, y := captured.x, captured.y
					if x.DType().IsFloat() {
						x.Assign(x.ToDevice(tensor.CPU).MulScalar(0.5))
						eager.x.Assign(eager.x.MulScalar(0.5))
					} else {
						x.Assign(x.Flip(1))
						eager.x.Assign(eager.x.Flip(1))
					}
					if !y.DType().IsFloat() {
						y.Assign(y.Flip(0).ToDevice(tensor.CPU))
						eager.y.Assign(eager.y.Flip(0))
					}
					runtime.GC()
					numbers(1000 * (i + 1)).Add(numbers(1)) // takes memory that the graph must not use
					g.Replay()
					eager.step()
					if got, want := captured.state(), eager.state(); !slices.EqualFunc(got, want, same) {
						t.Errorf("batch %d: got %v…, want %v…", i, got[:3], want[:3])
					}
					scales = append(scales, captured.scaler.CurrentScale())
				}
				if c.scaler != nil && slices.IsSorted(scales) {
					t.Errorf("got loss scales %v, want a skipped step", scales)
				}
				captured.step() // a step without the graph
				g.Replay()
				eager.step()
				eager.step()
				if got, want := contents(nn.Parameters(captured.net)), contents(nn.Parameters(eager.net)); !slices.Equal(got, want) {
					t.Errorf("after a step between replays: got %v…, want %v…", got[:3], want[:3])
				}
			})
		}
	}
}

// TestGraphOfGradients captures only forward and backward. The scaler and the optimizer step outside
// the graph, and the scale changes.
func TestGraphOfGradients(t *testing.T) {
	c := training{policy: amp.Float16, adam: true, scaler: []amp.ScalerOption{amp.InitScale(1 << 10), amp.GrowthFactor(1 << 6), amp.GrowthInterval(2)}}
	eager, captured := c.stepped("mlp"), c.stepped("mlp")
	gradients := func(s *stepped) {
		s.opt.ZeroGrad()
		amp.Autocast(c.policy, func() { s.last = s.loss(s.net.Forward(s.x), s.y) })
		s.scaler.Scale(s.last).Backward()
	}
	step := func(s *stepped) {
		s.scaler.Step(s.opt)
		s.scaler.Update()
	}
	gradients(eager)
	step(eager)
	gradients(captured)
	step(captured)
	g := capture(t, func() { gradients(captured) })
	defer g.Free()
	skipped := false
	for i := range 6 {
		g.Replay()
		step(captured)
		gradients(eager)
		before := eager.scaler.CurrentScale()
		step(eager)
		skipped = skipped || eager.scaler.CurrentScale() < before
		if got, want := captured.state(), eager.state(); !slices.EqualFunc(got, want, same) {
			t.Fatalf("step %d, scale %v: got %v…, want %v…", i, before, got[:3], want[:3])
		}
	}
	if !skipped {
		t.Error("got no skipped step, want one")
	}
}
