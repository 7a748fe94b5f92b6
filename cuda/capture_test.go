//go:build cuda && linux && cgo

package cuda_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/optim"
)

// TestCannotCapture has steps do what a graph cannot, after work that it can.
func TestCannotCapture(t *testing.T) {
	x, kept, batch := numbers(8), tensor.Scalar(3), tensor.Arange(0, 8)
	classes := tensor.FromInts([]int{1, 2})
	w := numbers(8).RequireGrad()
	later := optim.NewSGD([]*tensor.Tensor{w}, 0.1, optim.Momentum(0.9))
	inner, err := cuda.Capture(func() { x.Add(x) })
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Free()
	for _, c := range []struct {
		name string
		step func()
		want []string
	}{
		{"reads a value", func() { x.Sum().Item() }, []string{"cuda: capture: reading values", "Item", "after a Replay"}},
		{"prints", func() { _ = fmt.Sprint(x) }, []string{"reading values"}},
		{"counts", func() { x.Stats() }, []string{"reading values"}},
		{"reads and recovers", func() { _ = tensor.Try(func() { x.At(0) }) }, []string{"reading values"}},
		{"waits", cuda.Synchronize, []string{"waiting for the GPU", "outside of the step"}},
		{"is observed", func() {
			defer tensor.Observe(func(tensor.Event) {})()
			x.Mul(x)
		}, []string{"waiting for the GPU", "observers"}},
		{"brings a large batch", func() { tensor.Arange(0, 1<<19).ToDevice(tensor.CUDA) }, []string{"2.0 MiB brought from the CPU", "Assign"}},
		{"replays", inner.Replay, []string{"a Replay in the step"}},
		{"takes too much memory", func() { zeros(2, tensor.CUDA.Memory().Limit/4) }, []string{"cuda: alloc: ", "GiB asked for"}},
		{"brings a batch", func() { batch.ToDevice(tensor.CUDA) }, []string{"to", "(8,)", "each replay would take the values of now", "Assign"}},
		{"assigns a batch", func() { x.Assign(batch) }, []string{"Assign"}},
		{"draws", func() { tensor.Randn(3) }, []string{"normal: ", "drawn on the CPU"}},
		{"takes classes of the CPU", func() { x.Reshape(2, 4).CrossEntropy(classes, tensor.LossOptions{}) }, []string{"nll_loss: ", "(2,)", "Assign"}},
		{"takes a first step", func() {
			w.Mul(w).Sum().Backward()
			later.Step()
		}, []string{"sgd: ", "a step before the capture"}},
	} {
		_, err := cuda.Capture(func() {
			x.Mul(x)
			c.step()
			x.Mul(x)
		})
		t.Log(c.name, "-", err)
		says(t, err, c.want...)
		usable(t, tensor.CUDA)
	}
	mine := errors.New("mine")
	if err := caught(func() { cuda.Capture(func() { x.Mul(x); panic(mine) }) }); err != mine {
		t.Errorf("a step that panics: %v, want its own panic", err)
	}
	var outer error
	if _, err := cuda.Capture(func() { _, outer = cuda.Capture(func() {}) }); err != nil {
		t.Error(err)
	}
	says(t, outer, "inside another capture")
	says(t, func() error { _, err := cuda.CaptureOn(77, func() {}); return err }(), "GPU 77", "there is no GPU number 77")
	usable(t, tensor.CUDA)
	if kept.Item() != 3 || tensor.Capturing() {
		t.Errorf("afterwards: %v, capturing %v", kept.Item(), tensor.Capturing())
	}
}

// TestGraphMemory looks at a graph's memory: it is its own as long as the graph or a tensor
// needs it, and that of tensors from outside stays as long.
func TestGraphMemory(t *testing.T) {
	driver.CollectGarbage()
	before := tensor.CUDA.Memory()
	x, factor := numbers(1<<16), numbers(1<<16)
	var y *tensor.Tensor
	g := capture(t, func() {
		y = x.Mul(factor)
		for range 5 {
			y = y.AddScalar(1) // the garbage collector's
		}
	})
	with := tensor.CUDA.Memory()
	if with.Reserved < with.Live || with.Live < before.Live+3<<18 {
		t.Errorf("with a graph: %+v, before %+v", with, before)
	}
	factor = nil // the graph holds it
	driver.CollectGarbage()
	other := zeros(1 << 20)
	g.Replay()
	want := func(z *tensor.Tensor, i int, v float64) {
		t.Helper()
		if got := z.At(i); got != v {
			t.Errorf("element %d is %v, want %v", i, got, v)
		}
	}
	want(y, 1000, 1e6+5)
	want(other, 1000, 0)
	x.Fill(2)
	g.Replay()
	want(y, 1000, 2005)
	g.Free()
	g.Free()
	says(t, func() (err error) {
		defer func() { err = errors.New(fmt.Sprint(recover())) }()
		g.Replay()
		return nil
	}(), "the graph has been freed")
	zeros(3 << 20) // takes what is free
	want(y, 1000, 2005)
	x, y, other = nil, nil, nil
	if !collected(before.Live) {
		t.Errorf("after Free %d bytes are live, want %d", tensor.CUDA.Memory().Live, before.Live)
	}
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	if after := tensor.CUDA.Memory(); after.Reserved > max(before.Reserved, 32<<20) {
		t.Errorf("after Free and EmptyCache: %+v, before %+v", after, before)
	}
}

// TestGraphHolds lets go of what a convolution, a product and a step of an optimizer read.
func TestGraphHolds(t *testing.T) {
	half := func(shape ...int) *tensor.Tensor {
		return tensor.Arange(0, float64(product(shape))).Sin().Reshape(shape...).BFloat16().ToDevice(tensor.CUDA)
	}
	var y, z *tensor.Tensor
	step := func(x, w, m *tensor.Tensor) {
		y = x.Conv2d(w, nil, tensor.ConvOptions{Padding: []int{1}})
		z = y.Flatten(1).MatMul(m)
	}
	x, w, m := half(2, 3, 4, 4), half(8, 3, 3, 3), half(128, 5)
	step(x, w, m)
	want := contents([]*tensor.Tensor{y, z})
	g := capture(t, func() { step(x, w, m) })
	defer g.Free()
	x, w, m = nil, nil, nil
	driver.CollectGarbage()
	var others []*tensor.Tensor
	for range 20 { // which might be where those were
		others = append(others, half(96).Fill(7), half(216).Fill(7), half(640).Fill(7))
	}
	g.Replay()
	if got := contents([]*tensor.Tensor{y, z}); !slices.Equal(got, want) {
		t.Errorf("got %v…, want %v…", got[:4], want[:4])
	}
	for _, x := range others {
		if !slices.Equal(x.Float64s(), slices.Repeat([]float64{7}, x.Numel())) {
			t.Fatal("the replay has written to another tensor")
		}
	}
}

func product(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// TestGraphIsCollected lets go of graphs without Free.
func TestGraphIsCollected(t *testing.T) {
	x := numbers(8)
	live := tensor.CUDA.Memory().Live
	for range 3 {
		capture(t, func() { x.Sum().Add(zeros(1 << 20)) }).Replay()
	}
	if !collected(live) {
		t.Errorf("%d bytes are live, want %d", tensor.CUDA.Memory().Live, live)
	}
	usable(t, tensor.CUDA)
}

// TestSeveralGraphs replays two steps in turns, one of which reads what the other wrote.
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
}

// TestGraphConstants replays what operations bring from the CPU by themselves.
func TestGraphConstants(t *testing.T) {
	x := numbers(4)
	var y *tensor.Tensor
	g := capture(t, func() {
		for range 20 {
			x.AddScalar(1) // leaves memory that constants are not to be put into
		}
		driver.CollectGarbage()
		y = x.Add(tensor.FromFloat32s([]float32{1, 10, 100, 1000}).ToDevice(tensor.CUDA))
		y = y.Mul(tensor.Scalar(2)).IndexSelect(0, tensor.FromInts([]int{3, 0}).ToDevice(tensor.CUDA))
	})
	defer g.Free()
	for i := range 3 {
		x.Fill(float64(i))
		g.Replay()
		if got, want := y.Float64s(), []float64{2000 + 2*float64(i), 2 + 2*float64(i)}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestGraphSettings changes settings of an optimizer after a capture, and captures those that
// depend on the number of a step.
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
	says(t, caught(g.Replay), "adamw: a replay has lr 0.1 of group 0", "set to 0.05 since", "another capture")
	if !slices.Equal(w.Detach().Float64s(), before) {
		t.Error("the replay was done")
	}
	opt.SetLR(0.1)
	g.Replay()
	if got := opt.StateDict()["state.0.step"]; got != 3.0 {
		t.Errorf("after a step and two replays the state tells of %v", got)
	}
	for _, opt := range []*optim.Optimizer{optim.NewAdam([]*tensor.Tensor{w}, 0.1, optim.AMSGrad()), optim.NewNAdam([]*tensor.Tensor{w}, 0.1)} {
		step(opt)()
		_, err := cuda.Capture(step(opt))
		says(t, err, "a step depends on how many there have been", "AdamW")
	}
	rms := optim.NewRMSprop([]*tensor.Tensor{w}, 0.1)
	step(rms)()
	capture(t, step(rms)).Free()
	usable(t, tensor.CUDA)
}

// TestGraphDropout draws another mask in each replay, the same ones from the same seed.
func TestGraphDropout(t *testing.T) {
	x := numbers(64).AddScalar(1)
	run := func() (all [][]float64) {
		tensor.ManualSeed(5)
		var y *tensor.Tensor
		g := capture(t, func() { y = x.Dropout(0.5, true) })
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
			t.Errorf("replay %d differs from that of the same seed", i)
		}
		if i > 0 && slices.Equal(a[i], a[0]) {
			t.Errorf("replay %d has the mask of the first", i)
		}
		kept := 0
		for j, v := range a[i] {
			if v != 0 {
				kept++
				if v != 2*float64(j+1) {
					t.Errorf("element %d is %v, want %v", j, v, 2*(j+1))
				}
			}
		}
		if kept < 16 || kept > 48 {
			t.Errorf("replay %d keeps %d of 64", i, kept)
		}
	}
}

// TestGraphClasses has replays ignore targets, weigh classes and smooth labels as steps do.
func TestGraphClasses(t *testing.T) {
	x, weight := tensor.Arange(0, 24).Reshape(6, 4).Sin().ToDevice(tensor.CUDA), tensor.New([]float64{1, 2, 0.5, 4}).ToDevice(tensor.CUDA)
	target := tensor.FromInts([]int{0, 1, 2, 3, 0, 1}).ToDevice(tensor.CUDA)
	for _, o := range []tensor.LossOptions{
		{}, {Reduction: tensor.ReduceSum}, {Reduction: tensor.ReduceNone}, {Weight: weight, LabelSmoothing: 0.25}, {IgnoreIndex: []int{2}, LabelSmoothing: 0.1},
	} {
		w := x.Clone().RequireGrad()
		var loss *tensor.Tensor
		step := func() {
			w.ZeroGrad()
			loss = w.CrossEntropy(target, o)
			loss.Sum().Backward()
		}
		g := capture(t, step)
		captured, grad := loss, w.Grad()
		for _, classes := range [][]int{{0, 1, 2, 3, 0, 1}, {3, 2, -100, 2, 1, 0}} {
			if o.IgnoreIndex != nil {
				classes[2] = 2
			}
			target.Assign(tensor.FromInts(classes))
			g.Replay()
			step()
			if got, want := contents([]*tensor.Tensor{captured, grad}), contents([]*tensor.Tensor{loss, w.Grad()}); !slices.Equal(got, want) {
				t.Errorf("%+v, %v: got %v, want %v", o, classes, got, want)
			}
		}
		g.Free()
	}
}

// TestOthersWait has other goroutines use the GPU while one captures and replays: their work
// comes before or behind, and is no part of a graph.
func TestOthersWait(t *testing.T) {
	x := numbers(4)
	var wait sync.WaitGroup
	var stop atomic.Bool
	for i := range 3 {
		wait.Go(func() {
			for round := 0; !stop.Load() || round < 2; round++ {
				z := tensor.Arange(0, float64(8+i)).ToDevice(tensor.CUDA)
				n := float64(7 + i)
				if got, want := z.Mul(tensor.Scalar(2)).Sum().Item(), n*(n+1); got != want {
					t.Errorf("goroutine %d has %v, want %v", i, got, want)
				}
				cuda.Synchronize()
			}
		})
	}
	for range 5 {
		var y *tensor.Tensor
		g := capture(t, func() {
			y = x.AddScalar(1)
			time.Sleep(time.Millisecond)
			y = y.Mul(y)
		})
		for range 3 {
			launches := fake.GraphLaunches()
			g.Replay()
			if n := fake.GraphLaunches() - launches; !fake.Real() && n != 1 {
				t.Errorf("%d graphs were launched", n)
			}
			if sum := y.Sum().Item(); sum != 1+4+9+16 {
				t.Errorf("the graph gives %v, want 30", sum)
			}
		}
		g.Free()
	}
	stop.Store(true)
	wait.Wait()
}

// TestGraphTwoGPUs captures on the second GPU, and not on both.
func TestGraphTwoGPUs(t *testing.T) {
	if !child(t, fake.Options{Devices: 2}) {
		return
	}
	const second tensor.Device = "cuda:1"
	a, b := numbers(4), numbers(4).ToDevice(second)
	var y *tensor.Tensor
	g, err := cuda.CaptureOn(1, func() { y = b.Mul(b) })
	if err != nil {
		t.Fatal(err)
	}
	g.Replay()
	if sum := y.Sum().Item(); y.Device() != second || sum != 14 {
		t.Errorf("%v on %s", sum, y.Device())
	}
	_, err = cuda.Capture(func() { a.Mul(a); b.Mul(b) })
	says(t, err, "cuda: capture: the step uses cuda:1 as well")
	usable(t, tensor.CUDA)
	usable(t, second)
}
