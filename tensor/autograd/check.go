package autograd

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

const (
	step      = 1e-5 // half the width of the central difference
	tolerance = 1e-5 // relative to the larger of 1 and the derivative
)

// GradCheck compares the derivatives of f at in with central differences. It returns nil if
// they agree, and otherwise an error that names the first operand and element where they differ.
// The tensors of in must be float64 and are treated as requiring a gradient; f is evaluated on
// copies. It is torch.autograd.gradcheck.
func GradCheck(f Func, in ...*tensor.Tensor) error {
	in, err := leaves(in)
	if err != nil {
		return err
	}
	y := f(in)
	weight := weights(y.Shape())
	value := func() float64 { return f(in).Mul(weight).Sum().Item() }
	return compare("first", value, tensor.Grad(y.Mul(weight).Sum(), in...), in)
}

// GradGradCheck compares the second derivatives of f at in with central differences of the
// first. Its arguments and result are those of [GradCheck]. It is torch.autograd.gradgradcheck.
func GradGradCheck(f Func, in ...*tensor.Tensor) error {
	in, err := leaves(in)
	if err != nil {
		return err
	}
	weight := weights(f(in).Shape())
	// A weighted sum of first derivatives: its gradient needs the second.
	slope := func() *tensor.Tensor {
		grads := tensor.GradGraph(f(in).Mul(weight).Sum(), in...)
		total := tensor.Full(0).Double()
		for _, g := range grads {
			total = total.Add(g.Mul(weights(g.Shape())).Sum())
		}
		return total
	}
	y := slope()
	if !y.RequiresGrad() {
		return nil // f is linear
	}
	got := tensor.GradWith(y, in, tensor.BackwardOptions{AllowUnused: true})
	for i, g := range got {
		if g == nil {
			got[i] = tensor.ZerosLike(in[i])
		}
	}
	return compare("second", func() float64 { return slope().Item() }, got, in)
}

// leaves returns copies of in that require a gradient.
func leaves(in []*tensor.Tensor) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(in))
	for i, x := range in {
		if x.DType() != tensor.Float64 {
			return nil, fmt.Errorf("autograd: operand %d has dtype %v; want float64, whose precision central differences need: cast with Double", i, x.DType())
		}
		out[i] = x.Detach().Clone().RequireGrad()
	}
	return out, nil
}

// weights returns distinct numbers, so that errors do not cancel.
func weights(shape []int) *tensor.Tensor {
	n := 1
	for _, s := range shape {
		n *= s
	}
	data := make([]float64, n)
	for i := range data {
		data[i] = math.Cos(float64(3*i + 1))
	}
	return tensor.NewAs(tensor.Float64, data, n).Reshape(shape...)
}

// compare checks got, the gradients of value with respect to in.
func compare(order string, value func() float64, got, in []*tensor.Tensor) error {
	for i, x := range in {
		g := got[i].Float64s()
		flat := x.Detach().Reshape(x.Numel()) // shares memory with x
		for j := range g {
			element := flat.Select(0, j)
			old := element.Item()
			at := func(v float64) float64 {
				element.Fill(v)
				return value()
			}
			want := (at(old+step) - at(old-step)) / (2 * step)
			element.Fill(old)
			if !(math.Abs(g[j]-want) <= tolerance*math.Max(1, math.Abs(want))) {
				return fmt.Errorf("autograd: %s derivative, operand %d, element %d: got %v, numeric %v", order, i, j, g[j], want)
			}
		}
	}
	return nil
}
