package tensor

import (
	"slices"
	"testing"
)

// TestCheckpoint compares values, gradients of operands, leaves and outside results, and second
// derivatives with those of the function alone.
func TestCheckpoint(t *testing.T) {
	type result struct{ y, x, w, u, penalty []float64 }
	run := func(through func(f func(in ...*Tensor) *Tensor, in ...*Tensor) *Tensor) result {
		g := NewGenerator(3)
		x, w := g.Randn(4, 3).RequireGrad(), g.Randn(3, 3).RequireGrad()
		u := w.Tanh().RetainGrad() // is used inside and outside, and depends on w
		y := through(func(in ...*Tensor) *Tensor {
			h := in[0].MatMul(w).Sigmoid().MatMul(u)
			return through(func(in ...*Tensor) *Tensor { return in[0].Mul(in[0]).Add(in[1]) }, h, in[1])
		}, x, u.Sum().Expand(4, 3)).MatMul(u)
		y.Pow(2).Sum().BackwardWith(BackwardOptions{RetainGraph: true})
		r := result{y.Float64s(), x.Grad().Float64s(), w.Grad().Float64s(), u.Grad().Float64s(), nil}
		p := GradGraph(y.Pow(2).Sum(), x, w)
		w.ZeroGrad()
		p[0].Pow(2).Sum().Add(p[1].Pow(2).Sum()).Backward()
		r.penalty = w.Grad().Float64s()
		return r
	}
	want := run(func(f func(in ...*Tensor) *Tensor, in ...*Tensor) *Tensor { return f(in...) })
	got := run(Checkpoint)
	for name, c := range map[string][2][]float64{
		"result": {got.y, want.y}, "operand": {got.x, want.x}, "leaf": {got.w, want.w}, "used result": {got.u, want.u}, "penalty": {got.penalty, want.penalty},
	} {
		if !AllClose(New(c[0]), New(c[1]), 1e-5, 1e-5) {
			t.Errorf("%s: got %v, want %v", name, c[0], c[1])
		}
	}
}

// TestCheckpointRandom checks that the second run draws the same random numbers and leaves the
// generator unchanged.
func TestCheckpointRandom(t *testing.T) {
	ManualSeed(5)
	x := Ones(1000).RequireGrad()
	y := Checkpoint(func(in ...*Tensor) *Tensor { return Dropout(in[0], 0.5, true) }, x)
	next := generator.State()
	y.Sum().Backward()
	if !slices.Equal(y.Float64s(), x.Grad().Float64s()) {
		t.Error("the gradient comes from another dropout mask")
	}
	if !slices.Equal(next.Ints(), generator.State().Ints()) {
		t.Error("Backward has advanced the generator")
	}
}

// TestCheckpointDropsIntermediateResults checks that intermediate results are not kept.
func TestCheckpointDropsIntermediateResults(t *testing.T) {
	w := Ones(3).RequireGrad()
	kept := func(y *Tensor) int {
		n := 0
		for _, u := range newBackprop("test", y, BackwardOptions{}).order {
			if u.v.op != nil {
				n++
			}
		}
		return n
	}
	f := func(in ...*Tensor) *Tensor { return in[0].Mul(w).Exp().Sigmoid().Mul(w).Sum() }
	if n := kept(f(w)); n != 5 {
		t.Errorf("without Checkpoint: got %d operations on the tape, want 5", n)
	}
	if n := kept(Checkpoint(f, w)); n != 1 {
		t.Errorf("with Checkpoint: got %d operations on the tape, want 1", n)
	}
	if y := Checkpoint(f, Ones(3)); !y.RequiresGrad() {
		t.Error("the result does not require a gradient although the parameter does")
	}
}

// TestCheckpointRerun checks that an observer can rerun the operation on other operands without side
// effects.
func TestCheckpointRerun(t *testing.T) {
	ManualSeed(5)
	x := Full(3, 100).RequireGrad()
	var again *Tensor
	stop := Observe(func(e Event) {
		if e.Op.Name == "checkpoint" && !e.Backward {
			again = e.Rerun([]*Tensor{e.Operands[0].Double()})
		}
	})
	y := Checkpoint(func(in ...*Tensor) *Tensor { return Dropout(in[0], 0.5, true) }, x)
	stop()
	if again.DType() != Float64 || !slices.Equal(again.Float64s(), y.Float64s()) {
		t.Errorf("run again: got %v, want %v", again, y)
	}
	y.Sum().Backward()
	if g := x.Grad().MulScalar(3); !slices.Equal(g.Float64s(), y.Float64s()) {
		t.Errorf("the gradient has shape %v and dtype %v", g, y)
	}
}
