//go:build cuda && linux && cgo

package cuda_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"halfnote/cuda"
	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// TestGraphMemory checks that a graph keeps its memory, and that of tensors from outside, as long
// as the graph or a tensor needs it.
func TestGraphMemory(t *testing.T) {
	driver.CollectGarbage()
	before := tensor.CUDA.Memory()
	x, factor := numbers(1<<16), numbers(1<<16)
	var y *tensor.Tensor
	g := capture(t, func() {
		y = x.Mul(factor)
		for range 5 {
			y = y.AddScalar(1) // leaves garbage
		}
	})
	with := tensor.CUDA.Memory()
	if with.Reserved < with.Live || with.Live < before.Live+3<<18 {
		t.Errorf("with a graph: got %+v, before it %+v", with, before)
	}
	factor = nil // now only the graph keeps it
	driver.CollectGarbage()
	other := zeros(1 << 20)
	g.Replay()
	want := func(z *tensor.Tensor, i int, v float64) {
		t.Helper()
		if got := z.At(i); got != v {
			t.Errorf("element %d: got %v, want %v", i, got, v)
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
	zeros(3 << 20) // occupies the free memory
	want(y, 1000, 2005)
	x, y, other = nil, nil, nil
	if !collected(before.Live) {
		t.Errorf("after Free: got %d live bytes, want %d", tensor.CUDA.Memory().Live, before.Live)
	}
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	if after := tensor.CUDA.Memory(); after.Reserved > max(before.Reserved, 32<<20) {
		t.Errorf("after Free and EmptyCache: got %+v, before the capture %+v", after, before)
	}
}

// TestGraphKeepsOperands checks that a graph keeps the operands of a convolution, a product and
// an optimizer step that the program has released.
func TestGraphKeepsOperands(t *testing.T) {
	half := func(shape ...int) *tensor.Tensor {
		return tensor.Arange(0, float64(product(shape))).Sin().Reshape(shape...).BFloat16().ToDevice(tensor.CUDA)
	}
	var y, z *tensor.Tensor
	step := func(x, w, m *tensor.Tensor) {
		y = tensor.Conv2d(x, w, nil, tensor.ConvOptions{Padding: []int{1}})
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
	for range 20 { // could reuse their memory
		others = append(others, half(96).Fill(7), half(216).Fill(7), half(640).Fill(7))
	}
	g.Replay()
	if got := contents([]*tensor.Tensor{y, z}); !slices.Equal(got, want) {
		t.Errorf("got %v…, want %v…", got[:4], want[:4])
	}
	for _, x := range others {
		if !slices.Equal(x.Float64s(), slices.Repeat([]float64{7}, x.Numel())) {
			t.Fatal("the replay wrote to another tensor")
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

// TestGraphIsCollected checks that the memory of graphs is released without Free.
func TestGraphIsCollected(t *testing.T) {
	x := numbers(8)
	live := tensor.CUDA.Memory().Live
	for range 3 {
		capture(t, func() { x.Sum().Add(zeros(1 << 20)) }).Replay()
	}
	if !collected(live) {
		t.Errorf("got %d live bytes, want %d", tensor.CUDA.Memory().Live, live)
	}
	usable(t, tensor.CUDA)
}

// TestGraphConstants checks replays with constants that operations copy from the CPU.
func TestGraphConstants(t *testing.T) {
	x := numbers(4)
	var y *tensor.Tensor
	g := capture(t, func() {
		for range 20 {
			x.AddScalar(1) // releases memory that constants must not reuse
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
