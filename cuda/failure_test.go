//go:build cuda && linux && cgo

package cuda_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/cuda"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
)

// caught returns the error that f panics with, or nil.
func caught(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error)
		}
	}()
	f()
	return nil
}

// says checks that an error contains all of these words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not contain %q", err, w)
		}
	}
}

// usable checks that a device still computes.
func usable(t *testing.T, d tensor.Device) {
	t.Helper()
	x := tensor.Arange(0, 5).ToDevice(d)
	if got := x.Mul(x).Sum().Item(); got != 30 {
		t.Errorf("a sum on %s: got %v, want 30", d, got)
	}
}

func TestTooLarge(t *testing.T) {
	keep := numbers(1000)
	limit := tensor.CUDA.Memory().Limit
	var huge *tensor.Tensor
	err := tensor.Try(func() { huge = zeros(2, limit/4) })
	if huge != nil {
		t.Fatalf("there is room for twice of %d bytes", limit)
	}
	says(t, err, "tensor: new: ", "cuda: alloc: ", "out of memory: requested", "free on the GPU", "held by tensors", "use smaller batches")
	usable(t, tensor.CUDA)
	if got := keep.Sum().Item(); got != 499500 {
		t.Errorf("a tensor that was there: sum %v, want 499500", got)
	}
}

// TestMemoryRunsOut fills a GPU with unreachable tensors, whose memory is reclaimed, and then
// with reachable ones.
func TestMemoryRunsOut(t *testing.T) {
	if !child(t, fake.Options{Memory: 64 << 20}) {
		return
	}
	const n = 3 << 20 // elements: four or five such tensors fit
	for range 20 {
		zeros(n)
	}
	var held []*tensor.Tensor
	err := tensor.Try(func() {
		for range 20 {
			held = append(held, zeros(n))
		}
	})
	if len(held) < 4 || len(held) > 5 {
		t.Errorf("%d tensors of 12 MiB on 64 MiB, want 4 or 5", len(held))
	}
	says(t, err, "requested 12.0 MiB", "of 64.0 MiB free")
	usable(t, tensor.CPU)
	held = held[1:]
	zeros(n)
	usable(t, tensor.CUDA)
}

func TestLaunchFails(t *testing.T) {
	if !child(t, fake.Options{FailLaunch: 12}) {
		return
	}
	x, kept := numbers(8), tensor.Ones(3)
	err := caught(func() {
		for range 20 {
			x = x.AddScalar(1)
		}
		x.Float64s()
	})
	words := []string{"CUDA_ERROR_LAUNCH_FAILED", "restart the kernel", "Tensors on the CPU stay usable"}
	says(t, err, words...)
	for name, f := range map[string]func(){
		"an operation": func() { x.Mul(x) },
		"a read":       func() { x.Float64s() },
		"a new tensor": func() { numbers(3) },
		"a wait":       cuda.Synchronize,
		"a backward":   func() { tensor.Ones(2).ToDevice(tensor.CUDA).RequireGrad().Sum().Backward() },
	} {
		t.Log(name)
		says(t, tensor.Try(f), words...)
	}
	if got := kept.Sum().Item(); got != 3 {
		t.Errorf("a tensor on the CPU: sum %v, want 3", got)
	}
	usable(t, tensor.CPU)
	_ = tensor.CUDA.Memory()
}

func TestLostGPU(t *testing.T) {
	if !child(t, fake.Options{}) {
		return
	}
	x := numbers(4)
	fake.Use(t, fake.Options{Lost: true})
	says(t, caught(func() { x.Mul(x).Float64s() }), "restart the kernel")
	usable(t, tensor.CPU)
}

func TestNoGPU(t *testing.T) {
	if !child(t, fake.Options{NoDevice: true}) {
		return
	}
	if cuda.Available() || cuda.DeviceCount() != 0 || tensor.Accelerator() != tensor.CPU {
		t.Errorf("available %v, %d devices, accelerator %s; want none", cuda.Available(), cuda.DeviceCount(), tensor.Accelerator())
	}
	says(t, cuda.Err(), "tensors and autocast run on the CPU", "no CUDA-capable device is detected")
	says(t, tensor.Try(func() { numbers(1) }), `device "cuda" is not available`, "no CUDA-capable device is detected", "use tensor.CPU")
	says(t, caught(func() { cuda.DeviceName(0) }), "GPU 0", "no CUDA-capable device is detected")
	_, err := cuda.Capture(func() {})
	says(t, err, "cuda: capture on GPU 0: ", "no CUDA-capable device is detected")
	cuda.Synchronize()
	if err := cuda.EmptyCache(); err != nil {
		t.Error(err)
	}
	usable(t, tensor.CPU)
}

func TestNoSuchGPU(t *testing.T) {
	x := tensor.Ones(2)
	says(t, tensor.Try(func() { x.ToDevice("cuda:77") }), `device "cuda:77" is not available`, "no GPU 77; the driver reports")
	says(t, tensor.Try(func() { x.ToDevice("cuda:x") }), `"x" is not a GPU number`)
	says(t, caught(func() { cuda.DeviceName(77) }), "GPU 77", "no GPU 77")
	if d := x.ToDevice("cuda:0").Device(); d != tensor.CUDA {
		t.Errorf("the device of a tensor on cuda:0 is %q, want %q", d, tensor.CUDA)
	}
	if err := cuda.Err(); err != nil {
		t.Errorf("got error %v, want nil", err)
	}
}

func TestMixedDevices(t *testing.T) {
	x, y := numbers(4), tensor.Ones(4)
	says(t, tensor.Try(func() { x.Add(y) }), "add", "operands are on cuda and cpu", "move them to one device")
	says(t, tensor.Try(func() { y.MatMul(x) }), "operands are on cuda and cpu")
	if got := x.Add(tensor.Scalar(1)).Sum().Item(); got != 10 {
		t.Errorf("with a scalar of the CPU: %v, want 10", got)
	}
}

func TestTwoGPUs(t *testing.T) {
	if !child(t, fake.Options{Devices: 2}) {
		return
	}
	if n := cuda.DeviceCount(); n != 2 || cuda.DeviceName(1) != "Fake H100 1" {
		t.Errorf("%d GPUs, the second is %q", n, cuda.DeviceName(1))
	}
	const second tensor.Device = "cuda:1"
	usable(t, second)
	x := numbers(1 << 21) // copies of several parts
	y := x.ToDevice(second)
	if y.Device() != second || x.Device() != tensor.CUDA {
		t.Errorf("devices %s and %s", x.Device(), y.Device())
	}
	if back := y.AddScalar(1).ToDevice(tensor.CUDA).Sub(x); back.Sum().Item() != 1<<21 {
		t.Errorf("there and back: differences add up to %v, want %d", back.Sum().Item(), 1<<21)
	}
	says(t, tensor.Try(func() { x.Add(y) }), "operands are on cuda and cuda:1")
	if a, b := tensor.CUDA.Memory().Live, second.Memory().Live; a < 8<<20 || b < 8<<20 {
		t.Errorf("live bytes %d and %d, want 8 MiB on each", a, b)
	}
	tensor.OnDevice(second, func() {
		if z := tensor.Ones(3); z.Device() != second {
			t.Errorf("a new tensor is on %s", z.Device())
		}
	})
	w := numbers(3).RequireGrad()
	w.ToDevice(second).Mul(y.Narrow(0, 5, 3)).Sum().Backward()
	if got := w.Grad(); got.Device() != tensor.CUDA || !slices.Equal(got.Float64s(), []float64{5, 6, 7}) {
		t.Errorf("the gradient across devices is %v on %s", got, got.Device())
	}
	cuda.Synchronize()
}
