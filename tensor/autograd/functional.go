package autograd

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// Func is a function of tensors. It returns a tensor of a floating-point dtype, and is
// differentiable at the points where it is evaluated.
type Func func(in []*tensor.Tensor) *tensor.Tensor

// Jacobian returns the derivatives of every element of f(in) with respect to every element of
// each operand: for y of shape s and operand i of shape t, a tensor of shape (s..., t...) at
// index i. The derivatives are zero for elements that f does not depend on. in is not changed and need
// not require a gradient. It is torch.autograd.functional.jacobian.
func Jacobian(f Func, in ...*tensor.Tensor) []*tensor.Tensor { return jacobian(f, in, false) }

// JacobianGraph is Jacobian with a result that can be differentiated with respect to
// tensors of in that require a gradient, and to others that f uses. It is
// torch.autograd.functional.jacobian with create_graph.
func JacobianGraph(f Func, in ...*tensor.Tensor) []*tensor.Tensor { return jacobian(f, in, true) }

func jacobian(f Func, in []*tensor.Tensor, graph bool) []*tensor.Tensor {
	x := operands("jacobian", in, graph)
	y := value("jacobian", f, x)
	flat := y.Reshape(-1)
	rows := make([][]*tensor.Tensor, len(in))
	for i := range flat.Numel() {
		for j, g := range gradients(flat.Select(0, i), x, graph) {
			rows[j] = append(rows[j], g)
		}
	}
	out := make([]*tensor.Tensor, len(in))
	for j := range out {
		shape := append(y.Shape(), in[j].Shape()...)
		if len(rows[j]) == 0 {
			out[j] = tensor.ZerosAs(in[j].DType(), shape...).ToDevice(in[j].Device())
			continue
		}
		out[j] = tensor.Stack(0, rows[j]...).Reshape(shape...)
	}
	return out
}

// Hessian returns the second derivatives of f, which returns one element: for operands i of
// shape s and j of shape t, a tensor of shape (s..., t...) at [i][j]. It is
// torch.autograd.functional.hessian.
func Hessian(f Func, in ...*tensor.Tensor) [][]*tensor.Tensor {
	out := make([][]*tensor.Tensor, len(in))
	for i := range in {
		first := func(x []*tensor.Tensor) *tensor.Tensor {
			return gradients(scalar("hessian", f, x), x, true)[i]
		}
		out[i] = jacobian(first, in, false)
	}
	return out
}

// VJP returns f(in) and, for each operand, the product of v, of the shape of f(in), with the
// Jacobian, as Backward computes it. v may be nil if f returns one element, and is then 1. It is
// torch.autograd.functional.vjp.
func VJP(f Func, in []*tensor.Tensor, v *tensor.Tensor) (y *tensor.Tensor, products []*tensor.Tensor) {
	x := operands("vjp", in, false)
	y = value("vjp", f, x)
	return y.Detach(), from(y, x, v, false)
}

// JVP returns f(in) and the product of the Jacobian with v, which has a tensor of each
// operand's shape: the directional derivative of f along v. It differentiates backwards twice,
// as torch does. It is torch.autograd.functional.jvp.
func JVP(f Func, in, v []*tensor.Tensor) (y, product *tensor.Tensor) {
	same("jvp", in, v)
	x := operands("jvp", in, false)
	y = value("jvp", f, x)
	u := tensor.ZerosLike(y).RequireGrad()
	products := from(y, x, u, true)
	return y.Detach(), gradients(weighted(products, v), []*tensor.Tensor{u}, false)[0]
}

// HVP returns f(in), of one element, and, for each operand, the product of the Hessian with
// v, which has a tensor of each operand's shape. It is
// torch.autograd.functional.hvp, and vhp, since a Hessian is symmetric.
func HVP(f Func, in, v []*tensor.Tensor) (y *tensor.Tensor, products []*tensor.Tensor) {
	same("hvp", in, v)
	x := operands("hvp", in, false)
	y = scalar("hvp", f, x)
	return y.Detach(), gradients(weighted(gradients(y, x, true), v), x, false)
}

// operands returns tensors with the values of in that require a gradient: leaves, or results
// recorded on the tape of in.
func operands(op string, in []*tensor.Tensor, graph bool) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	for i, x := range in {
		switch {
		case x == nil || !x.DType().IsFloat():
			fail(op, x, "operand %d is not a floating-point tensor; want a floating-point dtype, which has derivatives", i)
		case graph && x.RequiresGrad():
			out[i] = x.Clone()
		default:
			out[i] = x.Detach().Clone().RequireGrad()
		}
	}
	return out
}

// value returns f(x) with its tape.
func value(op string, f Func, x []*tensor.Tensor) (y *tensor.Tensor) {
	if f == nil {
		fail(op, nil, "the function is nil; want a function of tensors")
	}
	tensor.EnableGrad(func() { y = f(slices.Clone(x)) })
	if y == nil || !y.DType().IsFloat() {
		fail(op, y, "the function's result is not a floating-point tensor; want a floating-point dtype")
	}
	return y
}

// scalar returns f(x) with its tape. It panics unless f(x) has one element.
func scalar(op string, f Func, x []*tensor.Tensor) *tensor.Tensor {
	y := value(op, f, x)
	if y.Numel() != 1 {
		fail(op, y, "the function's result has %d elements; want 1", y.Numel())
	}
	return y
}

// gradients returns the gradients of y, of one element. They are zero for operands that y does
// not depend on.
func gradients(y *tensor.Tensor, x []*tensor.Tensor, graph bool) []*tensor.Tensor {
	return from(y, x, nil, graph)
}

// from returns the gradients of x, given the gradient v of y.
func from(y *tensor.Tensor, x []*tensor.Tensor, v *tensor.Tensor, graph bool) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(x))
	if y.RequiresGrad() {
		out = tensor.GradWith(y, x, tensor.BackwardOptions{Gradient: v, RetainGraph: true, CreateGraph: graph, AllowUnused: true})
	}
	for i, g := range out {
		if g == nil {
			out[i] = tensor.ZerosLike(x[i])
		}
	}
	return out
}

// weighted returns the sum of the products of all elements of x and v.
func weighted(x, v []*tensor.Tensor) (total *tensor.Tensor) {
	tensor.EnableGrad(func() {
		for i := range x {
			p := x[i].Mul(v[i]).Sum()
			if total == nil {
				total = p
			} else {
				total = total.Add(p)
			}
		}
	})
	return total
}

// same panics unless v has a tensor of each operand's shape.
func same(op string, in, v []*tensor.Tensor) {
	if len(in) == 0 || len(in) != len(v) {
		fail(op, nil, "the number of operands is %d and of vectors %d; want at least 1 operand, and a vector for each", len(in), len(v))
	}
	for i := range in {
		if in[i] == nil || v[i] == nil || !slices.Equal(in[i].Shape(), v[i].Shape()) {
			fail(op, v[i], "the vector for operand %d is nil or has another shape; want the operand's shape", i)
		}
	}
}

func fail(op string, t *tensor.Tensor, format string, args ...any) {
	e := &tensor.Error{Op: op, Why: fmt.Sprintf(format, args...)}
	if t != nil {
		e.Shapes = [][]int{t.Shape()}
	}
	panic(e)
}
