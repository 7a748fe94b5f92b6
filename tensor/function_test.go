package tensor

import (
	"math"
	"strings"
	"testing"
)

// ex is e to the power x, whose derivative is the saved result.
var ex = Function{
	Name: "ex",
	Forward: func(c *Context, in []*Tensor) *Tensor {
		y := in[0].Exp()
		c.Save(y)
		return y
	},
	Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{dy.Mul(c.Saved()[0])} },
}

func TestFunction(t *testing.T) {
	x := New([]float64{0.5, -1}).Double().RequireGrad()
	y := ex.Apply(x)
	g := GradGraph(y.Sum(), x)[0]
	h := GradGraph(g.Sum(), x)[0]
	k := Grad(h.Sum(), x)[0]
	for i, v := range x.Float64s() {
		for order, d := range []*Tensor{y, g, h, k} {
			if got, want := d.At(i), math.Exp(v); math.Abs(got-want) > 1e-6 {
				t.Errorf("derivative %d of exp at %v: got %v, want %v", order, v, got, want)
			}
		}
	}

	// Saved operands, one of which does not require a gradient, and a variable that Forward and Backward share.
	asked := false
	const factor = 3
	scaled := Function{
		Forward: func(c *Context, in []*Tensor) *Tensor {
			c.Save(in...)
			return in[0].Mul(in[1]).MulScalar(factor)
		},
		Backward: func(c *Context, dy *Tensor) []*Tensor {
			asked = c.NeedsGrad(0) && !c.NeedsGrad(1)
			return []*Tensor{dy.Mul(c.Saved()[1]).MulScalar(factor), nil}
		},
	}
	w := New([]float64{2, 4}).Double()
	if g := Grad(scaled.Apply(x, w).Sum(), x)[0]; g.At(0) != 6 || g.At(1) != 12 || !asked {
		t.Errorf("got %v, want 6 and 12; NeedsGrad correct: %v", g, asked)
	}

	// A result that is an operand.
	same := Function{
		Forward:  func(c *Context, in []*Tensor) *Tensor { return in[0] },
		Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{dy.MulScalar(-1)} },
	}
	if g := Grad(same.Apply(x).Sum(), x)[0]; g.At(0) != -1 {
		t.Errorf("gradient reversal: got %v, want -1", g)
	}

	// Saved tensors must not change before Backward.
	v := x.Mul(x)
	z := scaled.Apply(v, w).Sum()
	NoGrad(func() { v.Fill(1) })
	for want, f := range map[string]func(){
		"operand 0 of function has been changed in place, but the derivative needs its old values": func() { z.Backward() },
		"ex: 0 operands": func() { ex.Apply() },
		"ex: shape (2,): Backward returned 2 gradients; want 1, with nil": func() {
			two := ex
			two.Backward = func(_ *Context, dy *Tensor) []*Tensor { return []*Tensor{dy, dy} }
			Grad(two.Apply(x).Sum(), x)
		},
		"ex: shape (2,): Forward returned nil; want a tensor": func() {
			none := ex
			none.Forward = func(*Context, []*Tensor) *Tensor { return nil }
			none.Apply(x)
		},
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}

func TestHooks(t *testing.T) {
	x := New([]float64{1, 2}).RequireGrad()
	y := x.MulScalar(3)
	var seen []float64
	removeLeaf := x.RegisterHook(func(g *Tensor) *Tensor { return g.MulScalar(10) })
	y.RegisterHook(func(g *Tensor) *Tensor {
		seen = append(seen, g.Float64s()...)
		return nil
	})
	y.RegisterHook(func(g *Tensor) *Tensor { return g.AddScalar(1) })
	accumulated := 0.0
	x.RegisterPostAccumulateGradHook(func(x *Tensor) {
		accumulated = x.Grad().At(1)
		x.ZeroGrad()
	})
	y.Mul(y).Sum().BackwardWith(BackwardOptions{RetainGraph: true})
	// The first hook receives dy = 2y = (6, 12), the sum over both uses. Then: plus 1, times 3, times 10.
	if len(seen) != 2 || seen[0] != 6 || seen[1] != 12 {
		t.Errorf("the hook received %v, want 6 and 12", seen)
	}
	if accumulated != (12+1)*3*10 || x.Grad() != nil {
		t.Errorf("the hook after accumulation received %v and left %v; want 390", accumulated, x.Grad())
	}
	if g := Grad(x.Mul(x).Sum(), x)[0]; g.At(1) != 40 {
		t.Errorf("Grad of a leaf with a hook: got %v, want 40", g.At(1))
	}
	removeLeaf()
	if g := Grad(x.Mul(x).Sum(), x)[0]; g.At(1) != 4 {
		t.Errorf("after the hook's removal: got %v, want 4", g.At(1))
	}
	for want, f := range map[string]func(){
		"register_hook: shape (1,): the tensor does not require a gradient": func() { Ones(1).RegisterHook(func(g *Tensor) *Tensor { return g }) },
		"register_post_accumulate_grad_hook: shape (2,): want a leaf":       func() { y.RegisterPostAccumulateGradHook(func(*Tensor) {}) },
		"hook: shapes (1,) and (2,): a hook returned a gradient of another shape": func() {
			z := x.MulScalar(1)
			z.RegisterHook(func(*Tensor) *Tensor { return Ones(1) })
			z.Sum().Backward()
		},
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}
