//go:build cuda && linux && cgo

package cuda_test

import (
	"runtime"
	"testing"

	"halfnote/cuda"
	"halfnote/tensor"
)

func TestMemory(t *testing.T) {
	collected(0)
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	tensor.CUDA.ResetPeakMemory()
	before := tensor.CUDA.Memory()
	if before.Peak != before.Live || before.Limit < 1<<28 {
		t.Errorf("at first: %+v, want the peak at what is live", before)
	}
	const bytes = 12 << 20
	x := numbers(bytes / 4)
	one := tensor.CUDA.Memory()
	if one.Live-before.Live != bytes || one.Peak < one.Live || one.Reserved < one.Live {
		t.Errorf("with 12 MiB more: %+v, before %+v", one, before)
	}
	y := x.AddScalar(1)
	two := tensor.CUDA.Memory()
	if two.Live-one.Live != bytes || two.Peak < two.Live {
		t.Errorf("with 24 MiB more: %+v, before %+v", two, before)
	}
	runtime.KeepAlive(x)
	if y.At(1) != 2 {
		t.Errorf("x + 1: %v", y.At(1))
	}
	x, y = nil, nil
	if !collected(before.Live) {
		t.Errorf("after a collection %d bytes are live, want %d", tensor.CUDA.Memory().Live, before.Live)
	}
	after := tensor.CUDA.Memory()
	if after.Peak < two.Peak || after.Reserved < 2*bytes {
		t.Errorf("tensors are gone: %+v, want the peak %d and memory in reserve", after, two.Peak)
	}
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	tensor.CUDA.ResetPeakMemory()
	if last := tensor.CUDA.Memory(); last.Reserved > before.Reserved || last.Peak != last.Live {
		t.Errorf("after EmptyCache and ResetPeakMemory: %+v, at first %+v", last, before)
	}
	usable(t, tensor.CUDA)
}
