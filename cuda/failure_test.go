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

// says checks that the text of an error contains all words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got error %q, want one with %q", err, w)
		}
	}
}

// usable checks that a device still computes.
func usable(t *testing.T, d tensor.Device) {
	t.Helper()
	x := tensor.Arange(0, 5).ToDevice(d)
	if got := x.Mul(x).Sum().Item(); got != 30 {
		t.Errorf("sum on %s: got %v, want 30", d, got)
	}
}

// TestTensorTooLarge checks the error for a tensor that exceeds the GPU's memory.
func TestTensorTooLarge(t *testing.T) {
	keep := numbers(1000)
	limit := tensor.CUDA.Memory().Limit
	var huge *tensor.Tensor
	err := tensor.Try(func() { huge = zeros(2, limit/4) })
	if huge != nil {
		t.Fatalf("got a tensor of twice the limit of %d bytes, want an error", limit)
	}
	says(t, err, "tensor: zeros: ", "cuda: alloc: ", "out of memory: requested", "free on the GPU", "held by tensors", "use smaller batches")
	usable(t, tensor.CUDA)
	if got := keep.Sum().Item(); got != 499500 {
		t.Errorf("earlier tensor: got sum %v, want 499500", got)
	}
}

// TestMemoryRunsOut checks that memory of unreachable tensors is reclaimed, and the error if
// reachable tensors fill the GPU.
func TestMemoryRunsOut(t *testing.T) {
	if !child(t, fake.Options{Memory: 64 << 20}) {
		return
	}
	const n = 3 << 20 // elements; 4 or 5 such tensors fit
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
		t.Errorf("got %d tensors of 12 MiB in 64 MiB, want 4 or 5", len(held))
	}
	says(t, err, "requested 12.0 MiB", "of 64.0 MiB free")
	usable(t, tensor.CPU)
	held = held[1:]
	zeros(n)
	usable(t, tensor.CUDA)
}

// TestLaunchFails checks that all calls on a GPU return the error of a kernel that failed, and that
// tensors on the CPU stay usable.
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
		"operation":   func() { x.Mul(x) },
		"read":        func() { x.Float64s() },
		"new tensor":  func() { numbers(3) },
		"synchronise": cuda.Synchronize,
		"backward":    func() { tensor.Ones(2).ToDevice(tensor.CUDA).RequireGrad().Sum().Backward() },
	} {
		t.Log(name)
		says(t, tensor.Try(f), words...)
	}
	if got := kept.Sum().Item(); got != 3 {
		t.Errorf("tensor on the CPU: got sum %v, want 3", got)
	}
	usable(t, tensor.CPU)
	_ = tensor.CUDA.Memory()
}

// TestLostGPU checks the error for a GPU that becomes unavailable.
func TestLostGPU(t *testing.T) {
	if !child(t, fake.Options{}) {
		return
	}
	x := numbers(4)
	fake.Use(t, fake.Options{Lost: true})
	says(t, caught(func() { x.Mul(x).Float64s() }), "restart the kernel")
	usable(t, tensor.CPU)
}

// TestNoGPU checks the functions and errors of a machine without a GPU.
func TestNoGPU(t *testing.T) {
	if !child(t, fake.Options{NoDevice: true}) {
		return
	}
	if cuda.Available() || cuda.DeviceCount() != 0 || tensor.Accelerator() != tensor.CPU {
		t.Errorf("got available %v, %d devices, accelerator %s; want false, 0 and cpu", cuda.Available(), cuda.DeviceCount(), tensor.Accelerator())
	}
	says(t, cuda.Err(), "everything runs on the CPU", "no CUDA-capable device is detected")
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

// TestMissingGPU checks the errors for device names of GPUs that do not exist.
func TestMissingGPU(t *testing.T) {
	x := tensor.Ones(2)
	says(t, tensor.Try(func() { x.ToDevice("cuda:77") }), `device "cuda:77" is not available`, "no GPU 77; the driver reports")
	says(t, tensor.Try(func() { x.ToDevice("cuda:x") }), `"x" is not a GPU number`)
	says(t, caught(func() { cuda.DeviceName(77) }), "GPU 77", "no GPU 77")
	if d := x.ToDevice("cuda:0").Device(); d != tensor.CUDA {
		t.Errorf("device of a tensor on cuda:0: got %q, want %q", d, tensor.CUDA)
	}
	if err := cuda.Err(); err != nil {
		t.Errorf("got error %v, want nil", err)
	}
}

// TestMixedDevices checks operations on operands of two devices: only scalars of the CPU are moved.
func TestMixedDevices(t *testing.T) {
	x, y := numbers(4), tensor.Ones(4)
	says(t, tensor.Try(func() { x.Add(y) }), "add", "operands are on cuda and cpu", "move them to one device")
	says(t, tensor.Try(func() { y.MatMul(x) }), "operands are on cuda and cpu")
	if got := x.Add(tensor.Scalar(1)).Sum().Item(); got != 10 {
		t.Errorf("sum with a scalar on the CPU: got %v, want 10", got)
	}
}

// TestTwoGPUs checks operations, copies, memory counters and gradients with two GPUs.
func TestTwoGPUs(t *testing.T) {
	if !child(t, fake.Options{Devices: 2}) {
		return
	}
	if n := cuda.DeviceCount(); n != 2 || cuda.DeviceName(1) != "Fake H100 1" {
		t.Errorf("got %d GPUs, the second %q; want 2, %q", n, cuda.DeviceName(1), "Fake H100 1")
	}
	const second tensor.Device = "cuda:1"
	usable(t, second)
	x := numbers(1 << 21) // copied in several parts
	y := x.ToDevice(second)
	if y.Device() != second || x.Device() != tensor.CUDA {
		t.Errorf("got devices %s and %s, want %s and %s", x.Device(), y.Device(), tensor.CUDA, second)
	}
	if back := y.AddScalar(1).ToDevice(tensor.CUDA).Sub(x); back.Sum().Item() != 1<<21 {
		t.Errorf("copy to the second GPU and back: got a sum of differences of %v, want %d", back.Sum().Item(), 1<<21)
	}
	says(t, tensor.Try(func() { x.Add(y) }), "operands are on cuda and cuda:1")
	if a, b := tensor.CUDA.Memory().Live, second.Memory().Live; a < 8<<20 || b < 8<<20 {
		t.Errorf("got %d and %d live bytes, want at least 8 MiB on each GPU", a, b)
	}
	tensor.OnDevice(second, func() {
		if z := tensor.Ones(3); z.Device() != second {
			t.Errorf("new tensor: got device %s, want %s", z.Device(), second)
		}
	})
	w := numbers(3).RequireGrad()
	w.ToDevice(second).Mul(y.Narrow(0, 5, 3)).Sum().Backward()
	if got := w.Grad(); got.Device() != tensor.CUDA || !slices.Equal(got.Float64s(), []float64{5, 6, 7}) {
		t.Errorf("gradient across GPUs: got %v on %s, want 5, 6, 7 on %s", got, got.Device(), tensor.CUDA)
	}
	cuda.Synchronize()
}
