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

// stepped is a subject with an optimizer and a step of its training.
type stepped struct {
	*subject
	opt  *optim.Optimizer
	step func()
	last *tensor.Tensor // the loss
}

func (c training) stepped(name string) *stepped {
	s := &stepped{subject: newSubject(name, tensor.CUDA)}
	s.opt = c.optimizer(nn.Parameters(s.net))
	s.step = func() {
		s.opt.ZeroGrad()
		amp.Autocast(c.policy, func() { s.last = s.loss(s.net.Forward(s.x), s.y) })
		s.last.Backward()
		s.opt.Step()
	}
	return s
}

// state are the parameters, buffers, gradients and the loss.
func (s *stepped) state() []float64 {
	list := []*tensor.Tensor{s.last}
	for _, p := range nn.Parameters(s.net) {
		list = append(list, p, p.Grad())
	}
	for _, b := range nn.NamedBuffers(s.net) {
		list = append(list, b.Tensor)
	}
	return contents(list)
}

// capture captures a step, and says so if it cannot.
func capture(t *testing.T, step func()) *cuda.Graph {
	t.Helper()
	g, err := cuda.Capture(step)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestReplays compares steps with replays of one, bit for bit, with a new batch for each
// and garbage collected between.
func TestReplays(t *testing.T) {
	for _, c := range []struct {
		name string
		training
	}{
		{"float32", training{policy: amp.Off}},
		{"bfloat16", training{policy: amp.BFloat16}},
	} {
		for _, name := range []string{"mlp", "cnn", "bert"} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				const steps = 2
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
						t.Errorf("%d launches beside the graph's", n)
					}
					if n := fake.GraphLaunches() - graphs; n != steps {
						t.Errorf("%d launches of graphs, want %d", n, steps)
					}
					if a, s := fake.Allocs()-allocs, fake.Syncs()-syncs; a != 0 || s != 0 {
						t.Errorf("%d allocations and %d waits in replays, want none", a, s)
					}
				}
				for range steps {
					eager.step()
				}
				if got, want := captured.state(), eager.state(); !slices.Equal(got, want) {
					t.Errorf("after %d replays: %v…, want %v…", steps, got[:3], want[:3])
				}
				for i := range 3 {
					x, y := captured.x, captured.y
					if x.DType().IsFloat() {
						x.Assign(x.ToDevice(tensor.CPU).Scale(0.5))
						eager.x.Assign(eager.x.Scale(0.5))
					} else {
						x.Assign(x.Flip(1))
						eager.x.Assign(eager.x.Flip(1))
					}
					if !y.DType().IsFloat() {
						y.Assign(y.Flip(0).ToDevice(tensor.CPU))
						eager.y.Assign(eager.y.Flip(0))
					}
					runtime.GC()
					numbers(1000 * (i + 1)).Add(numbers(1)) // takes memory that a graph might use
					g.Replay()
					eager.step()
					if got, want := captured.state(), eager.state(); !slices.Equal(got, want) {
						t.Errorf("batch %d: %v…, want %v…", i, got[:3], want[:3])
					}
				}
			})
		}
	}
}
