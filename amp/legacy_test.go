package amp_test

import (
	"strings"
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
)

// TestLegacyCache checks that LegacyCache has the faults of torch's cache before PR 165068, as measured on
// torch 1.13, and that the default cache does not. torch 2.15 has only the first fault corrected: a changed
// weight still gives the old product, and a nested region of another dtype an error about two dtypes.
func TestLegacyCache(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy amp.Policy
		legacy bool
	}{{"legacy", amp.LegacyCache(amp.Float16), true}, {"today", amp.Float16, false}} {
		x := tensor.Eye(4)

		// A first use under NoGrad.
		w := tensor.Ones(4, 4).RequireGrad()
		amp.Autocast(c.policy, func() {
			tensor.NoGrad(func() { x.MatMul(w) })
			if y := x.MatMul(w); y.RequiresGrad() == c.legacy {
				t.Errorf("%s: after a use under NoGrad: got a product that requires a gradient: %v", c.name, y.RequiresGrad())
			}
			amp.ClearCache() // the workaround of issue 65766
			if y := x.MatMul(w); !y.RequiresGrad() {
				t.Errorf("%s: after ClearCache: got a product that does not require a gradient", c.name)
			}
		})

		// A weight that changes in the region.
		amp.Autocast(c.policy, func() {
			before := x.MatMul(w).At(0, 0)
			tensor.NoGrad(func() { w.AddAssign(tensor.Ones(4, 4)) })
			if after := x.MatMul(w).At(0, 0); (after == before) != c.legacy {
				t.Errorf("%s: got the product %v, and %v after the weight grew by 1", c.name, before, after)
			}
		})

		// A nested region of another dtype.
		amp.Autocast(c.policy, func() {
			x.MatMul(w)
			inner := amp.BFloat16
			if c.legacy {
				inner = amp.LegacyCache(inner)
			}
			err := try(func() {
				amp.Autocast(inner, func() {
					if d := x.MatMul(w).DType(); d != tensor.BFloat16 {
						t.Errorf("%s: nested region: got dtype %v", c.name, d)
					}
				})
			})
			if (err != nil) != c.legacy || err != nil && !strings.Contains(err.Error(), "bfloat16 and float16") {
				t.Errorf("%s: nested region: got error %v", c.name, err)
			}
		})

		// Properties of both caches.
		for name, want := range map[string][2]int{"one region": {3, 1}, "two regions": {4, 0}} {
			made, cached := casts(func() {
				if name == "one region" {
					amp.Autocast(c.policy, func() { x.MatMul(w); amp.Autocast(c.policy, func() { x.MatMul(w) }) })
				} else {
					amp.Autocast(c.policy, func() { x.MatMul(w) })
					amp.Autocast(c.policy, func() { x.MatMul(w) })
				}
			})
			if made != want[0] || cached != want[1] {
				t.Errorf("%s, %s: got %d casts and %d cache hits, want %v", c.name, name, made, cached, want)
			}
		}
	}
}
