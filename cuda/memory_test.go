//go:build cuda && linux && cgo

package cuda_test

import (
	"runtime"
	"testing"
	"time"

	"halfnote/cuda"
	"halfnote/tensor"
)

// TestMemory checks the memory counters, EmptyCache and ResetPeakMemory.
func TestMemory(t *testing.T) {
	for range 100 { // releases what other tests have left
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	tensor.CUDA.ResetPeakMemory()
	before := tensor.CUDA.Memory()
	if before.Peak != before.Live || before.Limit < 1<<28 {
		t.Errorf("at first: got %+v, want equal peak and live bytes, and a limit of 256 MiB or more", before)
	}
	const bytes = 12 << 20
	x := numbers(bytes / 4)
	one := tensor.CUDA.Memory()
	if one.Live-before.Live != bytes || one.Peak < one.Live || one.Reserved < one.Live {
		t.Errorf("with 12 MiB more: got %+v, before %+v", one, before)
	}
	y := x.AddScalar(1)
	two := tensor.CUDA.Memory()
	if two.Live-one.Live != bytes || two.Peak < two.Live {
		t.Errorf("with 24 MiB more: got %+v, before %+v", two, before)
	}
	runtime.KeepAlive(x)
	if y.At(1) != 2 {
		t.Errorf("x + 1: got %v, want 2", y.At(1))
	}
	x, y = nil, nil
	if !collected(before.Live) {
		t.Errorf("after a garbage collection: got %d live bytes, want %d", tensor.CUDA.Memory().Live, before.Live)
	}
	after := tensor.CUDA.Memory()
	if after.Peak < two.Peak || after.Reserved < 2*bytes {
		t.Errorf("after the release of all tensors: got %+v, want a peak of %d and at least %d reserved", after, two.Peak, 2*bytes)
	}
	if err := cuda.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	tensor.CUDA.ResetPeakMemory()
	if last := tensor.CUDA.Memory(); last.Reserved > before.Reserved || last.Peak != last.Live {
		t.Errorf("after EmptyCache and ResetPeakMemory: got %+v, at first %+v", last, before)
	}
	usable(t, tensor.CUDA)
}
