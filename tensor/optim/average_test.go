package optim_test

import (
	"fmt"
	"math"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/optim"
)

// TestAverage averages 1, 2, … 5: the plain average is 3, and the moving average follows from
// its definition.
func TestAverage(t *testing.T) {
	for _, c := range []struct {
		make func(p []T) *optim.AveragedModel
		want float64
	}{
		{optim.NewSWA, 3},
		{func(p []T) *optim.AveragedModel { return optim.NewEMA(p, 0.5) }, 1.0/16 + 2.0/16 + 3.0/8 + 4.0/4 + 5.0/2},
	} {
		p := tensor.Zeros(2).RequireGrad()
		a := c.make([]T{p})
		for i := 1.0; i <= 5; i++ {
			tensor.NoGrad(func() { p.Fill(i) })
			a.Update()
			if i == 3 {
				again := c.make([]T{p})
				if err := again.LoadStateDict(a.StateDict()); err != nil {
					t.Fatal(err)
				}
				a = again
			}
		}
		a.Swap()
		if got := p.At(1); math.Abs(got-c.want) > 1e-6 || !p.RequiresGrad() {
			t.Errorf("got %v, want %v", got, c.want)
		}
		a.Swap()
		if got := p.At(1); got != 5 {
			t.Errorf("after swapping back: got %v, want 5", got)
		}
		if err := a.LoadStateDict(map[string]any{"n_averaged": 1.0, "0": tensor.Ones(3)}); err == nil {
			t.Error("an average of a different shape: got no error")
		}
		if err := a.LoadStateDict(nil); fmt.Sprint(err) != "optim: load state dict of an average: 0 entries, n_averaged is <nil>; want 2 and a float64" {
			t.Errorf("an empty state: got error %v", err)
		}
	}
	if err := tensor.Try(func() { optim.NewEMA(nil, 1) }); err == nil {
		t.Error("a decay of 1: got no error")
	}
}
