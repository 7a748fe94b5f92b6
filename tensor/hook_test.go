package tensor

import (
	"slices"
	"testing"
)

// TestOnReady checks when the gradient of a leaf is announced: after the oldest operation that uses it, before older ones run.
func TestOnReady(t *testing.T) {
	w1, w2 := Full(2).RequireGrad(), Full(3).RequireGrad()
	var log []string
	watch := func(name string, x *Tensor) *Tensor {
		return Function{Forward: func(_ *Context, in []*Tensor) *Tensor { return in[0].Clone() },
			Backward: func(_ *Context, dy *Tensor) []*Tensor { log = append(log, "derivative of "+name); return []*Tensor{dy} }}.Apply(x)
	}
	for i, w := range []*Tensor{w1, w2} {
		defer gradients{}.OnReady(w, func(g *Tensor, after func(func())) {
			log = append(log, []string{"w1", "w2"}[i])
			if before := w.Grad(); before != nil {
				t.Errorf("Grad is %v when the gradient is announced, want nil", before)
			}
			if want := []float64{6, 7}[i]; g.Item() != want {
				t.Errorf("gradient %d is %v, want %v", i, g.Item(), want)
			}
			after(func() {
				if w.Grad() == nil {
					t.Error("the end of Backward came before Grad was set")
				}
				log = append(log, "end")
			})
		})()
	}
	// y = w2·(2·w1) + w2: w2 is complete before the derivative of 2·w1 runs. Its gradient is 4 + 3 uses of 1.
	h := watch("h", w1.MulScalar(2))
	y := w2.Mul(h).Add(w2).Add(w2).Add(w2)
	y.Backward()
	if want := []string{"w2", "derivative of h", "w1", "end", "end"}; !slices.Equal(log, want) {
		t.Errorf("order is %v, want %v", log, want)
	}
}
