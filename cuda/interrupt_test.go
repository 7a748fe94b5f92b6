//go:build cuda && linux && cgo

package cuda_test

import (
	"errors"
	"math"
	"sync"
	"testing"

	"halfnote/amp"
	"halfnote/cuda/cudatest"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// TestInterrupt interrupts a read that waits for a long queue, and checks that the GPU stays usable.
func TestInterrupt(t *testing.T) {
	size := 8
	if cudatest.Real() {
		size = 4096
	}
	fake.Use(t, fake.Options{Queue: 1 << 20})
	defer fake.Use(t, fake.Options{})
	x := tensor.Eye(size).ToDevice(tensor.CUDA)
	x.MatMul(x).At(0, 0) // loads the kernels
	y := x.MulScalar(3)
	for range 50 {
		y = y.MatMul(x)
	}
	y = y.Double()
	runs, stop := fake.Runs(), errors.New("interrupted")
	driver.SetHost(driver.Host{Poll: func() { panic(stop) }})
	err := caught(func() { y.Float64s() })
	driver.SetHost(driver.Host{})
	if err != stop {
		t.Fatalf("the read ended with %v, want the interrupt", err)
	}
	if n := fake.Runs() - runs; n != 0 {
		t.Errorf("got %d operations before the interrupt took effect, want 0", n)
	}
	if got := y.Sum().Item(); got != float64(3*size) {
		t.Errorf("sum after the interrupt: got %v, want %d", got, 3*size)
	}
	usable(t, tensor.CUDA)
}

// TestGoroutines trains several networks concurrently on one GPU and compares each with the same
// training on the CPU.
func TestGoroutines(t *testing.T) {
	c := training{policy: amp.Float16, scaler: []amp.ScalerOption{}}
	names := []string{"mlp", "cnn", "mlp", "mlp"}
	var wait sync.WaitGroup
	for i, name := range names {
		want, s := c.run(newSubject(name, tensor.CPU), 5), newSubject(name, tensor.CUDA)
		wait.Go(func() {
			got := c.run(s, 5)
			for k := range want.losses {
				if off := math.Abs(got.losses[k]-want.losses[k]) / want.losses[k]; !(off <= 1e-3) {
					t.Errorf("goroutine %d, step %d: loss %v, want %v", i, k, got.losses[k], want.losses[k])
				}
			}
		})
	}
	wait.Wait()
}
