package amp_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestSumRunsInFloat32 checks that a sum that overflows in float16 is finite inside a region.
func TestSumRunsInFloat32(t *testing.T) {
	ones := tensor.Ones(65536).Half()
	if got := ones.Sum().Item(); !math.IsInf(got, 1) {
		t.Errorf("outside: got %v, want +Inf", got)
	}
	amp.Autocast(amp.Float16, func() {
		if got := ones.Sum().Item(); got != 65536 {
			t.Errorf("inside: got %v, want 65536", got)
		}
	})
}

// TestCacheSumsGradientsInFloat16 checks that with the cache the gradients of two uses of a
// weight are summed in float16, at their common cast, and without it in float32. torch 1.13 and,
// in a float16 region on the CPU, torch 2.15 do the same.
func TestCacheSumsGradientsInFloat16(t *testing.T) {
	for _, tt := range []struct {
		cache bool
		want  float64
	}{{true, math.Inf(1)}, {false, 120000}} {
		v, big := tensor.Ones(1, 1).RequireGrad(), tensor.New([]float64{60000}, 1, 1)
		var a, b *tensor.Tensor
		amp.Autocast(amp.Float16.WithCache(tt.cache), func() { a, b = big.MatMul(v), big.MatMul(v) })
		a.Float().Sum().Add(b.Float().Sum()).Backward()
		if got := v.Grad().Item(); got != tt.want {
			t.Errorf("cache %v: got gradient %v, want %v", tt.cache, got, tt.want)
		}
	}
}

// casts counts the casts that autocast makes while f runs, and its cache hits.
func casts(f func()) (made, cached int) {
	stop := tensor.Observe(func(e tensor.Event) {
		for _, c := range e.Casts {
			switch {
			case c.Promotion:
			case c.Cached:
				cached++
			default:
				made++
			}
		}
	})
	defer stop()
	f()
	return made, cached
}

func TestCache(t *testing.T) {
	x, w := tensor.Randn(4, 4), tensor.Randn(4, 4).RequireGrad()
	mm := func() { x.MatMul(w) }
	tests := []struct {
		name         string
		f            func()
		made, cached int
	}{
		{"one region", func() { amp.Autocast(amp.Float16, func() { mm(); mm() }) }, 3, 1},
		{"nested regions share", func() {
			amp.Autocast(amp.Float16, func() { mm(); amp.Autocast(amp.Float16, mm); mm() })
		}, 4, 2},
		{"filled inside, used outside", func() {
			amp.Autocast(amp.Float16, func() { amp.Autocast(amp.Float16, mm); mm() })
		}, 3, 1},
		{"two regions do not share", func() { amp.Autocast(amp.Float16, mm); amp.Autocast(amp.Float16, mm) }, 4, 0},
		{"no cache", func() { amp.Autocast(amp.Float16.WithCache(false), func() { mm(); mm() }) }, 4, 0},
		{"views are not cached", func() { amp.Autocast(amp.Float16, func() { x.MatMul(w.T()); x.MatMul(w.T()) }) }, 4, 0},
		{"each dtype has its own entry", func() {
			amp.Autocast(amp.Float16, func() {
				mm()
				amp.Autocast(amp.BFloat16, func() {
					if got := x.MatMul(w).DType(); got != tensor.BFloat16 {
						t.Errorf("nested region: got dtype %v", got)
					}
				})
			})
		}, 4, 0},
		{"a changed weight is cast again", func() {
			amp.Autocast(amp.Float16, func() {
				before := tensor.Eye(4).MatMul(w).Float64s()
				tensor.NoGrad(func() { w.AddAssign(tensor.Ones(4, 4)) })
				if slices.Equal(before, tensor.Eye(4).MatMul(w).Float64s()) {
					t.Error("the product used the old weight after it changed")
				}
			})
		}, 4, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if made, cached := casts(tt.f); made != tt.made || cached != tt.cached {
				t.Errorf("got %d casts and %d cache hits, want %d and %d", made, cached, tt.made, tt.cached)
			}
		})
	}
}

// TestCacheKeepsHistory checks that a weight first used without recording still gets a gradient
// from later uses (PR 165068).
func TestCacheKeepsHistory(t *testing.T) {
	x, w := tensor.Randn(4, 4), tensor.Randn(4, 4).RequireGrad()
	amp.Autocast(amp.Float16, func() {
		tensor.NoGrad(func() { x.MatMul(w) })
		if y := x.MatMul(w); !y.RequiresGrad() {
			t.Error("the product has no history")
		}
	})
}

func TestRegionEndsOnPanic(t *testing.T) {
	err := try(func() { amp.Autocast(amp.Float16, func() { panic(errors.New("out")) }) })
	if err == nil || amp.Active() != amp.Off {
		t.Errorf("got error %v and policy %v, want the panic and amp.Off", err, amp.Active())
	}
}

func TestNewGoroutineIsOutsideRegion(t *testing.T) {
	amp.Autocast(amp.Float16, func() {
		got := make(chan amp.Policy)
		go func() { got <- amp.Active() }()
		if p := <-got; p != amp.Off {
			t.Errorf("a goroutine started in a region: got policy %v, want amp.Off", p)
		}
		if amp.Active() != amp.Float16 {
			t.Errorf("the region itself: got policy %v", amp.Active())
		}
	})
}

func TestWith(t *testing.T) {
	h := tensor.Ones(4).Half()
	amp.Autocast(amp.Float16.With("sum", amp.Unlisted), func() {
		if got := h.Sum().DType(); got != tensor.Float16 {
			t.Errorf("sum moved to Unlisted: got %v", got)
		}
	})
	amp.Autocast(amp.Float16.With("relu", amp.Banned), func() {
		err := try(func() { h.ReLU() })
		var e *amp.Error
		if !errors.As(err, &e) || e.Code != "banned" || !strings.Contains(err.Error(), "relu") {
			t.Errorf("got %v, want an error that bans relu", err)
		}
	})
	amp.Autocast(amp.Float16.With("add", amp.Promote), func() {
		if got := h.Add(tensor.Ones(4)).DType(); got != tensor.Float32 {
			t.Errorf("add moved to Promote: got %v", got)
		}
		err := try(func() { h.Add(tensor.Ones(4).BFloat16()) })
		var e *amp.Error
		if !errors.As(err, &e) || e.Code != "foreign_dtype" {
			t.Errorf("got %v, want an error about bfloat16", err)
		}
	})
}

// TestLists checks that every operation is in the category of torch's list for CUDA and for the
// CPU.
func TestLists(t *testing.T) {
	cuda, cpu := readLists(t)
	category := map[string]amp.Category{
		"lower_precision_fp": amp.LowerPrecision, "fp32": amp.FP32, "fp32_set_opt_dtype": amp.FP32,
		"fp32_append_dtype": amp.FP32, "promote": amp.Promote, "banned": amp.Banned,
	}
	for policy, list := range map[amp.Policy]map[string][]string{amp.Float16: cuda, amp.CPUFloat16: cpu} {
		want := map[string]amp.Category{}
		for name, ops := range list {
			c, ok := category[name]
			if !ok {
				t.Fatalf("no category for list %q", name)
			}
			for _, op := range ops {
				want[op] = c
			}
		}
		made := map[string]amp.Category{"affine_grid_generator": amp.LowerPrecision, "linalg_matrix_power": amp.LowerPrecision, "local_response_norm": amp.FP32, "rms_norm": amp.FP32}
		if policy == amp.CPUFloat16 {
			made = map[string]amp.Category{"affine_grid_generator": amp.LowerPrecision, "chain_matmul": amp.LowerPrecision, "einsum": amp.LowerPrecision,
				"linalg_matrix_power": amp.LowerPrecision, "linalg_multi_dot": amp.LowerPrecision, "tensordot": amp.LowerPrecision, "local_response_norm": amp.FP32,
				"gru_cell": amp.LowerPrecision, "lstm_cell": amp.LowerPrecision, "rnn_relu_cell": amp.LowerPrecision, "rnn_tanh_cell": amp.LowerPrecision}
		}
		maps.Copy(want, made)             // composed of listed operations, according to torch's results in testdata/dtypes.json
		want["lstm"] = amp.LowerPrecision // a layer of oneDNN and cuDNN in torch
		for _, op := range tensor.Ops() {
			if got := policy.Category(op); got != want[op.Name] {
				t.Errorf("%v: %s: got %v, want %v", policy, op.Name, got, want[op.Name])
			}
		}
		for _, row := range policy.Ops().Rows { // includes the functions that are composed here
			if row.Category != want[row.Op] {
				t.Errorf("%v: %s is %v, want %v", policy, row.Op, row.Category, want[row.Op])
			}
		}
	}
}
