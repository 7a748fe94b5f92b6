//go:build cuda && linux && cgo

package cuda_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/driver"
	"halfnote/tensor/nn"
	"halfnote/tensor/optim"
)

// TestCannotCapture checks the errors for steps with operations that a graph cannot contain, and
// that the GPU stays usable.
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
		{"waits", cuda.Synchronize, []string{"Synchronize is not allowed during capture", "outside the captured step"}},
		{"is observed", func() {
			defer tensor.Observe(func(tensor.Event) {})()
			x.Mul(x)
		}, []string{"not allowed during capture", "trace recorder"}},
		{"copies a large batch", func() { tensor.Arange(0, 1<<19).ToDevice(tensor.CUDA) }, []string{"copying 2.0 MiB from the CPU", "Assign"}},
		{"replays", inner.Replay, []string{"Replay is not allowed during capture"}},
		{"allocates too much memory", func() { zeros(2, tensor.CUDA.Memory().Limit/4) }, []string{"cuda: alloc: ", "out of memory: requested"}},
		{"copies a batch", func() { batch.ToDevice(tensor.CUDA) }, []string{"to", "(8,)", "each replay would use its current values", "Assign"}},
		{"assigns a batch", func() { x.Assign(batch) }, []string{"Assign"}},
		{"draws random numbers", func() { tensor.Randn(3) }, []string{"randn: ", "drawn on the CPU"}},
		{"uses classes on the CPU", func() { nn.CrossEntropy(x.Reshape(2, 4), classes) }, []string{"cross_entropy: ", "(2,)", "Assign"}},
		{"takes the first step of an optimizer", func() {
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
		t.Errorf("step that panics: got %v, want %v", err, mine)
	}
	err = caught(func() {
		defer driver.SetHost(driver.Host{})
		cuda.Capture(func() {
			driver.SetHost(driver.Host{Poll: func() { panic(mine) }})
			x.Mul(x)
		})
	})
	if err != mine {
		t.Errorf("interrupted step: got %v, want %v", err, mine)
	}
	usable(t, tensor.CUDA)
	var outer error
	if _, err := cuda.Capture(func() { _, outer = cuda.Capture(func() {}) }); err != nil {
		t.Error(err)
	}
	says(t, outer, "inside another capture")
	says(t, func() error { _, err := cuda.CaptureOn(77, func() {}); return err }(), "GPU 77", "no GPU 77")
	usable(t, tensor.CUDA)
	if kept.Item() != 3 || capturing() {
		t.Errorf("after the captures: got %v and capturing %v, want 3 and false", kept.Item(), capturing())
	}
}

// TestCapturesExcludeOtherGoroutines checks that work of other goroutines does not become part of a
// graph. It runs before or after a capture.
func TestCapturesExcludeOtherGoroutines(t *testing.T) {
	x := numbers(4)
	var wait sync.WaitGroup
	var stop atomic.Bool
	for i := range 3 {
		wait.Go(func() {
			for round := 0; !stop.Load() || round < 2; round++ {
				z := tensor.Arange(0, float64(8+i)).ToDevice(tensor.CUDA)
				n := float64(7 + i)
				if got, want := z.Mul(tensor.Scalar(2)).Sum().Item(), n*(n+1); got != want {
					t.Errorf("goroutine %d: got %v, want %v", i, got, want)
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
				t.Errorf("got %d launched graphs, want 1", n)
			}
			if sum := y.Sum().Item(); sum != 1+4+9+16 {
				t.Errorf("replay: got %v, want 30", sum)
			}
		}
		g.Free()
	}
	stop.Store(true)
	wait.Wait()
}

// TestGraphFails checks the errors after a kernel of a graph has failed.
func TestGraphFails(t *testing.T) {
	if !child(t, fake.Options{FailLaunch: 5}) {
		return
	}
	x := numbers(8)
	var y *tensor.Tensor
	g := capture(t, func() {
		y = x
		for range 10 {
			y = y.AddScalar(1)
		}
	})
	g.Replay()
	words := []string{"CUDA_ERROR_LAUNCH_FAILED", "restart the kernel", "Tensors on the CPU stay usable"}
	says(t, caught(func() { y.Float64s() }), words...)
	says(t, caught(g.Replay), words...)
	_, err := cuda.Capture(func() { x.AddScalar(1) })
	says(t, err, words...)
	g.Free()
	usable(t, tensor.CPU)
}

// TestGraphTwoGPUs checks that a step can be captured on the second GPU, but not on both.
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
		t.Errorf("got %v on %s, want 14 on %s", sum, y.Device(), second)
	}
	_, err = cuda.Capture(func() { a.Mul(a); b.Mul(b) })
	says(t, err, "cuda: capture: the step also uses cuda:1")
	usable(t, tensor.CUDA)
	usable(t, second)
}
