package experiment_test

import (
	"slices"
	"testing"

	"halfnote/amp"
	"halfnote/amp/experiment"
	"halfnote/tensor"
)

// TestDTypeWalk checks the dtypes of the PyTorch recipe: linear and relu in float16, the loss in
// float32, gradients of activations in float16 and of parameters in float32.
func TestDTypeWalk(t *testing.T) {
	for _, p := range []amp.Policy{amp.Float16, amp.BFloat16, amp.Off} {
		low, lists := p.DType(), []string{"lower_precision_fp", "unlisted", "lower_precision_fp", "fp32"}
		casts := []int{3, 0, 2, 1}
		if p == amp.Off {
			low, casts = tensor.Float32, []int{0, 0, 0, 0}
		}
		r := experiment.DTypeWalk(p)
		var ops, on []string
		for i, s := range r.Forward {
			ops, on = append(ops, s.Op), append(on, s.List)
			want := low
			if s.Op == "mse_loss" {
				want = tensor.Float32
			}
			if s.Computed != want || s.Out != want || s.Casts != casts[i] {
				t.Errorf("%v: got %+v, want %v with %d casts", p, s, want, casts[i])
			}
		}
		if !slices.Equal(ops, []string{"linear", "relu", "linear", "mse_loss"}) || p != amp.Off && !slices.Equal(on, lists) {
			t.Errorf("%v: got operations %v on %v", p, ops, on)
		}
		if r.Activations != low || r.Weights != tensor.Float32 {
			t.Errorf("%v: got gradients of %v and %v", p, r.Activations, r.Weights)
		}
		shows(t, r, "mse_loss")
	}
}

// TestMultiplesOf8 checks that on a V100 a row of a batch of 513 costs several times a row of one of
// 512, unless the batch is padded to 520.
func TestMultiplesOf8(t *testing.T) {
	r := experiment.MultiplesOf8("V100", 4096, 4096, 512, 513, 520)
	near(t, "512", r.Batches[0].PerRow, 1, 0)
	near(t, "520", r.Batches[2].PerRow, 1, 0.02)
	if odd := r.Batches[1]; odd.PerRow < 2 || odd.Padded != 520 || odd.PerFill > 1.03 || odd.PerFill < 1 {
		t.Errorf("%v", r)
	}
	shows(t, r, "not measured")
}

func TestTime(t *testing.T) {
	a := tensor.Ones(64, 32).Half()
	calls := 0
	r := experiment.Time("product", 3, func() {
		calls++
		a.MatMul(a.T())
	})
	if calls != 5 || len(r.Seconds) != 3 || r.Operations != 1 || r.Median <= 0 || r.Lowest > r.Median || r.Median > r.Highest {
		t.Errorf("got %d calls: %+v", calls, r)
	}
	equal(t, "arithmetic", r.FLOPsByDType["float16"], 2*64*64*32)
	equal(t, "bytes", float64(r.BytesByDType["float16"]), 2*64*64)
	if r.Peak < 2*64*64 {
		t.Errorf("got a peak of %d bytes, less than the result", r.Peak)
	}
	shows(t, r, "no GPU was timed")
}
