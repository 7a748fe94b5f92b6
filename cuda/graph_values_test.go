//go:build cuda && linux && cgo

package cuda_test

import (
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/cuda"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestSeveralGraphs alternates replays of two graphs. Each reads what the other wrote.
func TestSeveralGraphs(t *testing.T) {
	x := numbers(4)
	var y, z *tensor.Tensor
	first := capture(t, func() { y = x.AddScalar(1) })
	second := capture(t, func() { z = y.Mul(y); x.AddAssign(z) })
	defer first.Free()
	defer second.Free()
	want := []float64{0, 1, 2, 3}
	for range 3 {
		first.Replay()
		second.Replay()
		for i, v := range want {
			want[i] = v + (v+1)*(v+1)
		}
		if got := x.Float64s(); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	first.Replay()
	second.Replay()
	first.Free() // while its replays are pending
	second.Free()
	zeros(1 << 10)
	if got, want := x.At(0), want[0]+(want[0]+1)*(want[0]+1); got != want {
		t.Errorf("after Free: got %v, want %v", got, want)
	}
}

// TestGraphSettings checks the errors for optimizer settings that change after a capture, and for
// optimizers that depend on the step count.
func TestGraphSettings(t *testing.T) {
	w := numbers(4).RequireGrad()
	step := func(opt *optim.Optimizer) func() {
		return func() {
			opt.ZeroGrad()
			w.Mul(w).Sum().Backward()
			opt.Step()
		}
	}
	opt := optim.NewAdamW([]*tensor.Tensor{w}, 0.1)
	step(opt)()
	g := capture(t, step(opt))
	defer g.Free()
	g.Replay()
	before := w.Detach().Float64s()
	opt.SetLR(0.05)
	says(t, caught(g.Replay), "adamw: lr was 0.1 in group 0", "is now 0.05", "capture it again")
	if !slices.Equal(w.Detach().Float64s(), before) {
		t.Error("a replay with other settings changed the weights")
	}
	opt.SetLR(0.1)
	g.Replay()
	if got := opt.StateDict()["state.0.step"]; got != 3.0 {
		t.Errorf("step count after a step and two replays: got %v, want 3", got)
	}
	if err := opt.LoadStateDict(opt.StateDict()); err != nil {
		t.Fatal(err)
	}
	says(t, caught(g.Replay), "the state dict changed after the graph was captured")
	for _, opt := range []*optim.Optimizer{optim.NewAdam([]*tensor.Tensor{w}, 0.1, optim.AMSGrad()), optim.NewNAdam([]*tensor.Tensor{w}, 0.1)} {
		step(opt)()
		_, err := cuda.Capture(step(opt))
		says(t, err, "a step depends on the step count", "AdamW")
	}
	rms := optim.NewRMSprop([]*tensor.Tensor{w}, 0.1)
	step(rms)()
	capture(t, step(rms)).Free()
	usable(t, tensor.CUDA)
}

// TestGraphDropout checks that each replay draws a new mask, and that the masks depend only on the
// seed.
func TestGraphDropout(t *testing.T) {
	x := numbers(64).AddScalar(1)
	run := func() (all [][]float64) {
		tensor.ManualSeed(5)
		var y *tensor.Tensor
		g := capture(t, func() { y = tensor.Dropout(x, 0.5, true) })
		defer g.Free()
		for range 3 {
			g.Replay()
			all = append(all, y.Float64s())
		}
		return all
	}
	a, b := run(), run()
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Errorf("replay %d differs between graphs with the same seed", i)
		}
		if i > 0 && slices.Equal(a[i], a[0]) {
			t.Errorf("replay %d has the mask of replay 0", i)
		}
		kept := 0
		for j, v := range a[i] {
			if v != 0 {
				kept++
				if v != 2*float64(j+1) {
					t.Errorf("element %d: got %v, want %v", j, v, 2*(j+1))
				}
			}
		}
		if kept < 16 || kept > 48 {
			t.Errorf("replay %d: got %d of 64 elements kept, want 16 to 48", i, kept)
		}
	}
}

// TestGraphClasses checks that cross entropy in replays equals that of steps, with ignored targets,
// class weights and label smoothing.
func TestGraphClasses(t *testing.T) {
	x, weight := tensor.Arange(0, 24).Reshape(6, 4).Sin().ToDevice(tensor.CUDA), tensor.New([]float64{1, 2, 0.5, 4}).ToDevice(tensor.CUDA)
	target := tensor.FromInts([]int{0, 1, 2, 3, 0, 1}).ToDevice(tensor.CUDA)
	for i, o := range [][]nn.Option{
		{nn.IgnoreIndex(2), nn.LabelSmoothing(0.1)}, {}, {nn.Reduction("sum")}, {nn.Reduction("none")}, {nn.Weight(weight), nn.LabelSmoothing(0.25)},
	} {
		w := x.Clone().RequireGrad()
		var loss *tensor.Tensor
		step := func() {
			w.ZeroGrad()
			loss = nn.CrossEntropy(w, target, o...)
			loss.Sum().Backward()
		}
		g := capture(t, step)
		captured, grad := loss, w.Grad()
		for _, classes := range [][]int{{0, 1, 2, 3, 0, 1}, {3, 2, -100, 2, 1, 0}} {
			if i == 0 {
				classes[2] = 2 // ignored instead of -100
			}
			target.Assign(tensor.FromInts(classes))
			g.Replay()
			step()
			if got, want := contents([]*tensor.Tensor{captured, grad}), contents([]*tensor.Tensor{loss, w.Grad()}); !slices.Equal(got, want) {
				t.Errorf("options %d, %v: got %v, want %v", i, classes, got, want)
			}
		}
		g.Free()
	}
}

// TestGraphInRegion captures inside an autocast region that caches a cast of a weight, and
// changes the weight in the graph.
func TestGraphInRegion(t *testing.T) {
	w, x := tensor.Ones(2, 2).ToDevice(tensor.CUDA).RequireGrad(), tensor.Ones(1, 2).ToDevice(tensor.CUDA)
	var captured *tensor.Tensor
	amp.Autocast(amp.BFloat16, func() {
		if got := x.MatMul(w).At(0, 0); got != 2 {
			t.Errorf("before the capture: got %v, want 2", got)
		}
		g := capture(t, func() {
			captured = x.MatMul(w)
			tensor.NoGrad(func() { w.AddScalarAssign(1) })
		})
		defer g.Free()
		for i := range 3 {
			g.Replay()
			if got, want := captured.At(0, 0), float64(2+2*i); got != want {
				t.Errorf("replay %d: got %v, want %v", i, got, want)
			}
			if got, want := x.MatMul(w).At(0, 0), float64(4+2*i); got != want {
				t.Errorf("after replay %d: got %v, want %v", i, got, want)
			}
		}
	})
}
