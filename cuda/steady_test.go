//go:build cuda && linux && cgo

package cuda_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestSteadyState checks the overhead of repeated training steps: no driver allocations, one wait
// for the scaler's flags, and one for the norm that clipping returns.
func TestSteadyState(t *testing.T) {
	if fake.Real() {
		t.Skip("needs the fake driver's counters")
	}
	fake.Use(t, fake.Options{Queue: 1 << 20}) // work runs only when waited for
	defer fake.Use(t, fake.Options{})
	scaled := func(adam, fused bool) training {
		return training{policy: amp.Float16, scaler: []amp.ScalerOption{}, adam: adam, fused: fused}
	}
	all, small := []string{"mlp", "cnn", "bert"}, []string{"mlp"}
	for _, c := range []struct {
		name        string
		subjects    []string
		clip, batch bool // clips gradients; copies the batch from the CPU
		ahead       bool // the scaler does not wait
		syncs       int  // waits per step
		training
	}{
		{name: "float32 with a batch", subjects: all, batch: true, training: training{policy: amp.Off}},
		{name: "bfloat16, AdamW", subjects: small, training: training{policy: amp.BFloat16, adam: true}},
		{name: "float16", subjects: small, syncs: 1, training: scaled(false, false)},
		{name: "float16, fused AdamW", subjects: small, syncs: 1, training: scaled(true, true)},
		{name: "float16 ahead, momentum", subjects: small, batch: true, ahead: true, training: scaled(false, false)},
		{name: "float16 ahead, AdamW", subjects: all, ahead: true, training: scaled(true, false)},
		{name: "float16, clipping", subjects: small, clip: true, syncs: 2, training: scaled(false, false)},
	} {
		for _, name := range c.subjects {
			t.Run(name+", "+c.name, func(t *testing.T) {
				s := newSubject(name, tensor.CUDA)
				x, y := s.x, s.y
				if c.batch {
					x, y = x.ToDevice(tensor.CPU), y.ToDevice(tensor.CPU)
				}
				opt := c.optimizer(nn.Parameters(s.net))
				scaler := amp.NewGradScaler(append(c.scaler, amp.ScalerEnabled(c.scaler != nil))...)
				step := func() {
					opt.ZeroGrad()
					if c.batch {
						s.x, s.y = x.ToDevice(tensor.CUDA), y.ToDevice(tensor.CUDA)
					}
					var loss *tensor.Tensor
					amp.Autocast(c.policy, func() { loss = s.loss(s.net.Forward(s.x), s.y) })
					scaler.Scale(loss).Backward()
					if c.clip {
						scaler.Unscale(opt)
						nn.ClipGradNorm(opt.Params(), 1)
					}
					if c.ahead {
						scaler.StepNonBlocking(opt)
					} else {
						scaler.Step(opt)
					}
					scaler.Update()
				}
				for range 2 {
					step()
				}
				tensor.CUDA.Synchronize()
				const steps = 3
				live := tensor.CUDA.Memory().Live
				allocs, pinned, syncs, copies, launches := fake.Allocs(), fake.PinnedAllocs(), fake.Syncs(), fake.Copies(), fake.Launches()
				for range steps {
					if !collected(live) {
						t.Errorf("after a garbage collection: got %[2]d live bytes, want at most %[1]d", live, tensor.CUDA.Memory().Live)
					}
					step()
				}
				allocs, pinned, syncs = fake.Allocs()-allocs, fake.PinnedAllocs()-pinned, fake.Syncs()-syncs
				t.Logf("a step has %d launches, %.1f copies, %.1f waits", (fake.Launches()-launches)/steps, float64(fake.Copies()-copies)/steps, float64(syncs)/steps)
				if allocs != 0 || pinned != 0 {
					t.Errorf("got %d allocations on the GPU and %d of pinned memory, want none", allocs, pinned)
				}
				if syncs > c.syncs*steps {
					t.Errorf("got %d waits in %d steps, want at most %d per step", syncs, steps, c.syncs)
				}
			})
		}
	}
}
