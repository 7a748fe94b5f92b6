package tensor

import "testing"

// keeper is the identity, with a derivative that keeps its gradient.
type keeper struct{ given *[]*Tensor }

func (keeper) Info() Info                   { return Info{Name: "keeper"} }
func (keeper) Forward(in []*Tensor) *Tensor { return in[0].Clone() }
func (k keeper) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor {
	dx := dy.MulScalar(3)
	*k.given = append(*k.given, dy, dx)
	return []*Tensor{dx}
}

// TestBackwardReleasesGradients checks that gradients are released as soon as they have been passed on.
func TestBackwardReleasesGradients(t *testing.T) {
	const n = 1 << 20
	x := Ones(n).RequireGrad()
	y := x.MulScalar(1)
	for range 50 {
		y = y.MulScalar(1)
	}
	loss := y.Add(y.Neg().MulScalar(0.5)).Sum()
	before := Memory().Live
	ResetPeakMemory()
	loss.Backward()
	if got, most := Memory().Peak-before, 5*4*n; got > most {
		t.Errorf("50 gradients of %d bytes in sequence: the peak is %d bytes, want at most %d", 4*n, got, most)
	}
	if got := x.Grad().At(n - 1); got != 0.5 {
		t.Errorf("gradient: got %v, want 0.5", got)
	}
}

// TestBackwardKeepsGradientsThatCodeHolds checks that gradients that were handed to user code are not
// released.
func TestBackwardKeepsGradientsThatCodeHolds(t *testing.T) {
	const n = 1 << 16
	var given []*Tensor
	x := Ones(n).RequireGrad()
	x.SetGrad(Ones(n))
	y := Apply(keeper{&given}, x.MulScalar(2))
	z := y.MulScalar(5)
	z.RegisterHook(func(g *Tensor) *Tensor {
		double := g.MulScalar(2)
		given = append(given, g, double)
		return double
	})
	y.RetainGrad()
	extra := Ones(n).MulScalar(7)
	z.MulScalar(1).BackwardWith(BackwardOptions{Gradient: extra})
	for range 10 {
		Full(-1, n)
	}
	given = append(given, extra, y.Grad(), x.Grad())
	for i, want := range []float64{7, 14, 70, 210, 7, 70, 421} {
		if got := given[i]; got.At(0) != want || got.At(n-1) != want {
			t.Errorf("tensor %d: got %v, want %v throughout", i, got.At(n-1), want)
		}
	}
}
