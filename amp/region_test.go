package amp_test

import (
	"errors"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestEnter checks that regions opened by Enter nest in regions of closures and share their cache.
func TestEnter(t *testing.T) {
	x, w := tensor.Ones(2, 2), tensor.Ones(2, 2).RequireGrad()
	active := func(want amp.Policy) {
		t.Helper()
		if got := amp.Active(); got != want {
			t.Errorf("got policy %v, want %v", got, want)
		}
	}
	r := amp.Float16.Enter()
	active(amp.Float16)
	x.MatMul(w)
	inner := amp.BFloat16.Enter()
	active(amp.BFloat16)
	if d := x.MatMul(w).DType(); d != tensor.BFloat16 {
		t.Errorf("inner region: got a result of %v", d)
	}
	off := amp.Off.Enter()
	active(amp.Off)
	off.Exit()
	inner.Exit()
	made, cached := casts(func() {
		tensor.NoGrad(func() { x.MatMul(w) })
		amp.Autocast(amp.Float16, func() { x.MatMul(w) })
	})
	if made != 2 || cached != 2 {
		t.Errorf("got %d casts and %d cache hits, want one cast for each operand that is not a weight, and 2 hits", made, cached)
	}
	r.Exit()
	active(amp.Off)
	made, _ = casts(func() { amp.Autocast(amp.Float16, func() { x.MatMul(w) }) })
	if made != 2 {
		t.Errorf("after the outermost region: got %d casts, want 2", made)
	}
}

func TestEnteredRegionEndsWithEnclosingScope(t *testing.T) {
	var r *amp.Region
	amp.Autocast(amp.BFloat16, func() {
		tensor.NoGrad(func() { r = amp.Float16.Enter() })
		if amp.Active() != amp.BFloat16 {
			t.Errorf("after NoGrad: got policy %v", amp.Active())
		}
	})
	for name, f := range map[string]func(){
		"ended": func() { r.Exit() },
		"twice": func() {
			r := amp.Float16.Enter()
			r.Exit()
			r.Exit()
		},
		"not the innermost": func() {
			outer, inner := amp.Float16.Enter(), amp.BFloat16.Enter()
			defer outer.Exit()
			defer inner.Exit()
			outer.Exit()
		},
		"another goroutine": func() {
			r := amp.Float16.Enter()
			defer r.Exit()
			failed := make(chan error)
			go func() { failed <- try(r.Exit) }()
			panic(<-failed)
		},
	} {
		var e *amp.Error
		if err := try(f); !errors.As(err, &e) || e.Code != "region_order" {
			t.Errorf("%s: got %v, want an error about the order of regions", name, err)
		}
		if amp.Active() != amp.Off {
			t.Fatalf("%s: a region of %v is still open", name, amp.Active())
		}
	}
	// The program that runs user code closes the regions that the code left open.
	amp.Float16.Enter()
	amp.BFloat16.Enter()
	if left := casting.CloseScopes(); len(left) != 2 || left[0].(interface{ String() string }).String() != "amp.BFloat16" || amp.Active() != amp.Off {
		t.Errorf("got %v left open and the active policy %v", left, amp.Active())
	}
}

func TestWrap(t *testing.T) {
	square := amp.Wrap(amp.Float16, func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(x) })
	if d := square(tensor.Ones(2, 2)).DType(); d != tensor.Float16 || amp.Active() != amp.Off {
		t.Errorf("got a result of %v, and policy %v after the call", d, amp.Active())
	}
}

// TestInference checks that operations are not recorded under NoGrad, and that dtypes are those of training.
func TestInference(t *testing.T) {
	x, w := tensor.Ones(2, 2), tensor.Ones(2, 2).RequireGrad()
	for name, run := range map[string]func(f func()){
		"NoGrad outside": func(f func()) { tensor.NoGrad(func() { amp.Autocast(amp.Float16, f) }) },
		"NoGrad inside":  func(f func()) { amp.Autocast(amp.Float16, func() { tensor.NoGrad(f) }) },
	} {
		run(func() {
			y := tensor.Linear(x, w, nil).Softmax(-1)
			if y.RequiresGrad() || y.DType() != tensor.Float32 {
				t.Errorf("%s: got %v, which requires a gradient: %v", name, y.DType(), y.RequiresGrad())
			}
			if s := amp.CacheStatistics(); s.Entries != 1 || s.Bytes != 8 || s.Misses != 1 {
				t.Errorf("%s: got cache %v", name, s)
			}
			amp.ClearCache()
			tensor.Linear(x, w, nil)
			if s := amp.CacheStatistics(); s.Entries != 1 || s.Misses != 2 {
				t.Errorf("%s: after ClearCache: got cache %v", name, s)
			}
		})
	}
}
