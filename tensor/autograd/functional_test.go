package autograd_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/autograd"
)

// functions lists the functions of testdata/functional.py.
var functions = map[string]autograd.Func{
	"product":        func(in []T) T { return in[0].Mul(in[1]) },
	"matmul":         func(in []T) T { return in[0].MatMul(in[1].T()) },
	"only the first": func(in []T) T { return in[0].Exp().Sum(1) },
	"constant":       func(in []T) T { return tensor.Ones(2).Double() },
	"linear":         func(in []T) T { return in[0].MulScalar(3).Sum().Add(in[1].Sum()) },
	"loss":           func(in []T) T { return in[0].Mul(in[1]).Tanh().Pow(2).Mean() },
	"softmax":        func(in []T) T { return in[0].Softmax(1).Log().Mul(in[1]).Sum() },
}

// flat is a tensor in testdata/functional.json.
type flat struct {
	Shape  []int
	Values []float64
}

// TestFunctional compares results with those of torch.autograd.functional in testdata/functional.json.
func TestFunctional(t *testing.T) {
	text, err := os.ReadFile("testdata/functional.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Functions map[string]struct {
			Jacobian, VJP, Hessian, HVP []flat
			JVP                         flat
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Functions) != len(functions) {
		t.Errorf("testdata/functional.json: got %d functions, want %d", len(golden.Functions), len(functions))
	}
	for name, f := range functions {
		want := golden.Functions[name]
		a, b := operands()
		in := []T{a, b.Slice(0, 0, 1)}
		along := []T{in[0].Flip(1), in[1].Flip(1)}
		expect := func(what string, got []T, want []flat) {
			t.Helper()
			if len(got) != len(want) {
				t.Fatalf("%s, %s: got %d tensors, want %d", name, what, len(got), len(want))
			}
			for i, x := range got {
				if !slices.Equal(x.Shape(), want[i].Shape) || !near(x.Float64s(), want[i].Values) {
					t.Errorf("%s, %s %d: got %v of shape %v, want %v of shape %v", name, what, i, x.Float64s(), x.Shape(), want[i].Values, want[i].Shape)
				}
			}
		}
		expect("jacobian", autograd.Jacobian(f, in...), want.Jacobian)
		y := f(in)
		v := tensor.ArangeAs(tensor.Float64, 1, float64(y.Numel()+1), 1).Reshape(y.Shape()...)
		_, products := autograd.VJP(f, in, v)
		expect("vjp", products, want.VJP)
		_, product := autograd.JVP(f, in, along)
		expect("jvp", []T{product}, []flat{want.JVP})
		if y.Numel() == 1 {
			expect("hessian", slices.Concat(autograd.Hessian(f, in...)...), want.Hessian)
			_, products = autograd.HVP(f, in, along)
			expect("hvp", products, want.HVP)
		}
		if in[0].RequiresGrad() || in[0].Grad() != nil {
			t.Errorf("%s: an operand was changed", name)
		}
	}
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*math.Max(1, math.Abs(y)) })
}

// TestEmptyJacobian checks that a result without elements has a Jacobian without elements.
func TestEmptyJacobian(t *testing.T) {
	a, _ := operands()
	j := autograd.Jacobian(func(in []T) T { return in[0].Exp().Slice(0, 0, 0) }, a)[0]
	if want := []int{0, 3, 2, 3}; !slices.Equal(j.Shape(), want) {
		t.Errorf("got shape %v, want %v", j.Shape(), want)
	}
}

// TestJacobianGraph checks that the sum of a Jacobian can be differentiated.
func TestJacobianGraph(t *testing.T) {
	x := tensor.New([]float64{1, 2}).Double().RequireGrad()
	scale := tensor.New([]float64{3}).Double().RequireGrad()
	cube := func(in []T) T { return in[0].Pow(3).Mul(scale) }
	autograd.JacobianGraph(cube, x)[0].Sum().Backward()
	if got := append(x.Grad().Float64s(), scale.Grad().Item()); !near(got, []float64{18, 36, 15}) {
		t.Errorf("got gradients %v, want 6 x scale and the sum of 3 x²", got)
	}
}

func TestFunctionalErrors(t *testing.T) {
	x := tensor.Ones(2)
	ids := tensor.FromInts([]int{1, 2})
	square := func(in []T) T { return in[0].Pow(2) }
	for want, f := range map[string]func(){
		"operand 0 is not a floating-point tensor":                          func() { autograd.Jacobian(square, ids) },
		"operand 1 is not a floating-point tensor":                          func() { autograd.Jacobian(square, x, nil) },
		"the function's result is not a floating-point tensor":              func() { autograd.Jacobian(func([]T) T { return nil }, x) },
		"hessian: shape (2,): the function's result has 2 elements; want 1": func() { autograd.Hessian(square, x) },
		"the number of operands is 1 and of vectors 0":                      func() { autograd.JVP(square, []T{x}, nil) },
		"the vector for operand 0 is nil or has another shape":              func() { autograd.HVP(square, []T{x}, []T{tensor.Ones(3)}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that contains %q", err, want)
		}
	}
}
