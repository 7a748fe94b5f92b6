package tensor

import (
	"math"
	"strings"
	"testing"
)

func wantError(t *testing.T, name string, f func(), part string) {
	t.Helper()
	if err := Try(f); err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: got error %v, want an error that contains %q", name, err, part)
	}
}

func wantValues(t *testing.T, name string, x *Tensor, want ...float64) {
	t.Helper()
	if x == nil {
		t.Errorf("%s: nil, want %v", name, want)
	} else if got := x.Float64s(); !equalFloats(got, want) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

func leaf(x ...float64) *Tensor { return New(x).RequireGrad() }

func TestBackward(t *testing.T) {
	x, y := leaf(1, 2, 3), leaf(4, 5, 6)
	z := x.Mul(y).Sum()
	z.Backward()
	wantValues(t, "x", x.Grad(), 4, 5, 6)
	wantValues(t, "y", y.Grad(), 1, 2, 3)
	wantError(t, "again", z.Backward, "the tape of sum has been freed by an earlier Backward")

	x.Mul(x).Sum().Backward() // adds to the existing gradients
	wantValues(t, "x, second time", x.Grad(), 6, 9, 12)
	x.ZeroGrad()
	if x.Grad() != nil {
		t.Error("ZeroGrad left a gradient")
	}

	z = x.Mul(y).Sum()
	z.BackwardWith(BackwardOptions{RetainGraph: true})
	z.Backward()
	wantValues(t, "x, twice along one tape", x.Grad(), 8, 10, 12)

	x.ZeroGrad()
	x.Mul(y).BackwardWith(BackwardOptions{Gradient: New([]float64{1, 0, 2})})
	wantValues(t, "x, from a gradient", x.Grad(), 4, 0, 12)

	wantError(t, "not a scalar", x.Mul(y).Backward, "the tensor has 3 elements; want 1, or a BackwardOptions.Gradient to start from")
	wantError(t, "no history", New([]float64{1}).Backward, "the tensor does not require a gradient")
	wantError(t, "gradient of another shape", func() { x.Mul(y).BackwardWith(BackwardOptions{Gradient: Ones(2)}) }, "must have the tensor's shape")
}

// TestSharedGradients checks that gradients which a derivative passes through unchanged do not
// share memory, so that changing one in place does not change another.
func TestSharedGradients(t *testing.T) {
	a, b := leaf(1, 2), leaf(3, 4)
	start := Ones(2)
	a.Add(b).BackwardWith(BackwardOptions{Gradient: start})
	a.Grad().MulScalarAssign(10)
	wantValues(t, "a", a.Grad(), 10, 10)
	wantValues(t, "b", b.Grad(), 1, 1)
	wantValues(t, "start", start, 1, 1)

	c := leaf(1, 2, 3)
	c.Sum().Backward() // the gradient is an expanded scalar
	c.Grad().AddAssign(New([]float64{1, 2, 3}))
	wantValues(t, "c", c.Grad(), 2, 3, 4)

	d := leaf(1, 2, 3, 4)
	d.Reshape(2, 2).T().Mul(New([]float64{1, 2, 3, 4}, 2, 2)).Sum().Backward()
	wantValues(t, "d", d.Grad(), 1, 3, 2, 4)
	if !d.Grad().IsContiguous() {
		t.Error("a leaf's gradient has gaps")
	}
}

func TestGrad(t *testing.T) {
	x, y, z := leaf(2), leaf(3), leaf(4)
	mid := x.Mul(y)
	out := mid.Mul(mid).Sum()
	g := GradWith(out, []*Tensor{mid, x}, BackwardOptions{RetainGraph: true})
	wantValues(t, "an intermediate", g[0], 12)
	wantValues(t, "x", g[1], 36)
	if x.Grad() != nil {
		t.Error("Grad set a leaf's gradient")
	}
	wantError(t, "unused", func() { GradWith(out, []*Tensor{z}, BackwardOptions{RetainGraph: true}) }, "the output does not depend on input 0")
	if g := GradWith(out, []*Tensor{z, y}, BackwardOptions{AllowUnused: true}); g[0] != nil || g[1].Item() != 24 {
		t.Errorf("unused allowed: got %v", g)
	}
	wantError(t, "operand without a gradient", func() { Grad(z.Sum(), New([]float64{1})) }, "input 0 does not require a gradient")
}

// TestPenalty differentiates a gradient: f = Σ x³, |∇f|² = Σ 9x⁴, whose gradient is
// 36x³.
func TestPenalty(t *testing.T) {
	x := leaf(1, -2, .5)
	g := GradGraph(x.Pow(3).Sum(), x)[0]
	g.Pow(2).Sum().Backward()
	wantValues(t, "x", x.Grad(), 36, -288, 4.5)

	x.ZeroGrad()
	y := x.Pow(3).Sum()
	y.BackwardWith(BackwardOptions{CreateGraph: true})
	if !x.Grad().RequiresGrad() {
		t.Error("CreateGraph returned a gradient without a history")
	}
	wantValues(t, "third derivative", GradGraph(GradGraph(GradGraph(y, x)[0].Sum(), x)[0].Sum(), x)[0], 6, 6, 6)
}

func TestRecording(t *testing.T) {
	x := leaf(1, 2)
	NoGrad(func() {
		if IsGradEnabled() || x.MulScalar(2).RequiresGrad() {
			t.Error("operations in NoGrad are recorded")
		}
		EnableGrad(func() {
			if !x.MulScalar(2).RequiresGrad() {
				t.Error("operations in EnableGrad inside NoGrad are not recorded")
			}
		})
	})
	d := x.MulScalar(2).Detach()
	if d.RequiresGrad() || !d.IsLeaf() || !x.IsLeaf() || x.MulScalar(2).IsLeaf() {
		t.Error("IsLeaf is wrong")
	}
	if x.Step().RequiresGrad() {
		t.Error("a step function requires a gradient")
	}
	wantError(t, "require grad of a result", func() { x.MulScalar(2).RequireGrad() }, "the tensor is the result of mul_scalar")

	y := x.MulScalar(2).RetainGrad()
	y.Mul(y).Sum().Backward()
	wantValues(t, "retained", y.Grad(), 4, 8)
	wantValues(t, "leaf", x.Grad(), 8, 16)
}

func TestInPlace(t *testing.T) {
	x := leaf(1, 2)
	wantError(t, "a leaf", func() { x.MulScalarAssign(2) }, "use tensor.NoGrad")

	y := x.Mul(x).Sum()
	NoGrad(func() { x.AddAssign(Ones(2)) })
	wantValues(t, "x", x.Detach(), 2, 3)
	wantError(t, "the derivative needs x as it was", y.Backward, "operand 0 of mul has been changed in place, but the derivative needs its old values")

	z := x.Add(x).Sum() // its derivative needs no values
	NoGrad(func() { x.SubAssign(Ones(2)) })
	z.Backward()
	wantValues(t, "gradient", x.Grad(), 2, 2)

	v := New([]float64{1, 2, 3, 4}, 2, 2)
	v.MulAssign(New([]float64{2, 3})).DivAssign(Full(2)).AddScaledAssign(Ones(2, 2), 0.5)
	wantValues(t, "v", v, 1.5, 3.5, 3.5, 6.5)
	h := NewAs(Float16, []float64{1, 1})
	h.Assign(New([]float64{1. / 3, 65520}))
	wantValues(t, "assigned", h, 0.333251953125, math.Inf(1))

	w := leaf(1, 2)
	w.SetData(New([]float64{3, 4}).Half())
	if w.DType() != Float16 || !w.RequiresGrad() || !w.IsLeaf() {
		t.Error("SetData lost the leaf or kept the dtype")
	}
	x = Ones(2, 3)
	if err := Try(func() { x.SetData(Ones(3, 2)) }); err == nil || !strings.Contains(err.Error(), "(2, 3) and (3, 2)") {
		t.Errorf("SetData of another shape: got error %v, want one with both shapes", err)
	}
}

func TestCast(t *testing.T) {
	x := leaf(1, 2, 3)
	y := x.Half().MulScalar(2).RetainGrad()
	y.Float().Mul(New([]float64{1, 1. / 3, 70000})).Sum().Backward()
	if y.Grad().DType() != Float16 || x.Grad().DType() != Float32 {
		t.Errorf("gradients in %v and %v, want float16 and float32", y.Grad().DType(), x.Grad().DType())
	}
	wantValues(t, "x", x.Grad(), 2, 0.66650390625, math.Inf(1))
	if x.To(Float32) != x {
		t.Error("a cast to the same dtype is a new tensor")
	}

	// Uses of one cast share it, so that their gradients are summed in float16.
	w := leaf(1)
	h := w.Half()
	big := NewAs(Float16, []float64{60000})
	h.Mul(big).Float().Add(h.Mul(big).Float()).Sum().Backward()
	wantValues(t, "summed in float16", w.Grad(), math.Inf(1))
	w.ZeroGrad()
	w.Half().Mul(big).Float().Add(w.Half().Mul(big).Float()).Sum().Backward()
	wantValues(t, "summed in float32", w.Grad(), 120000)
}

// square is a user-defined operation whose Forward is made of operations.
type square struct{}

func (square) Info() Info { return Info{Name: "square"} }
func (square) Forward(in []*Tensor) *Tensor {
	if current().caster != nil || IsGradEnabled() {
		panic("autocast or autograd is on in Forward")
	}
	return in[0].Mul(in[0])
}
func (square) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[0]).MulScalar(2)}
}

// stretched has a VJP that returns the wrong shape.
type stretched struct{ square }

func (stretched) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{Ones(7)} }

func TestApply(t *testing.T) {
	x := leaf(1, -3)
	casting{}.With(toHalf{}, func() { Apply(square{}, x).Sum().Backward() })
	wantValues(t, "x", x.Grad(), 2, -6)
	wantError(t, "a wrong VJP", func() { Apply(stretched{}, x).Sum().Backward() }, "the VJP returned a gradient whose shape differs")
}

// TestBackwardOfLongTape walks a long tape, like that of a loop over time.
func TestBackwardOfLongTape(t *testing.T) {
	x := leaf(1)
	y := x
	for range 20000 {
		y = y.AddScalar(1e-3)
	}
	y.Sum().Backward()
	wantValues(t, "x", x.Grad(), 1)
}

// TestTapeReleasesUnreadValues checks that the tape releases the values that derivatives do not read.
func TestTapeReleasesUnreadValues(t *testing.T) {
	x := leaf(1, 2)
	for name, y := range map[string]*Tensor{"relu": x.MulScalar(2).ReLU(), "add": x.MulScalar(2).Add(x.MulScalar(3)), "tanh": x.MulScalar(2).Tanh()} {
		for i, in := range y.v.in {
			if in.mem != nil {
				t.Errorf("%s keeps the values of operand %d", name, i)
			}
		}
	}
	if in := x.Mul(x.Exp()).v.in; in[0].mem == nil || in[1].mem == nil {
		t.Error("mul does not keep its operands")
	}
}
