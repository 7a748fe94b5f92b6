package nn

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// WeightNormalization computes a weight as Original0 times the direction of Original1: T.
// Salimans and D. Kingma, "Weight Normalization" (2016). It is torch's _WeightNorm.
type WeightNormalization struct {
	Original0 *tensor.Tensor // norms (1, …, n, …, 1), or () for the whole weight
	Original1 *tensor.Tensor // weight that gives the direction

	whole bool
	dim   int
}

// NormOfWhole makes WeightNorm take one norm of the whole weight, instead of one for each
// index of a dimension. It is dim=None.
func NormOfWhole() Option { return Option{"NormOfWhole", func(c *config) { c.wholeNorm = true }} }

// WeightNorm returns m with the length and the direction of a weight as separate parameters
// in place of the weight, whose value is unchanged. It takes TensorName, "weight" by default,
// Dim, the dimension whose indices each have a length, 0 by default, and NormOfWhole. The
// parameters are "parametrizations.weight.original0", the lengths, and
// "parametrizations.weight.original1". [RemoveParametrizations] undoes it. It is
// torch.nn.utils.parametrizations.weight_norm.
func WeightNorm(m Module, options ...Option) *Parametrized {
	const op = "weight_norm"
	c := configure(op, config{tensorName: "weight"}, options, "TensorName", "Dim", "NormOfWhole")
	return parametrize(op, m, c.tensorName, func(weight *tensor.Tensor) Parametrization {
		w := &WeightNormalization{Original1: weight, whole: c.wholeNorm}
		if !w.whole {
			w.dim = dimension(op, weight, c.dim)
		}
		tensor.NoGrad(func() { w.Original0 = w.norms().Clone() })
		w.Original0.RequireGrad()
		return w
	})
}

// dimension returns dim of t, counted from 0.
func dimension(op string, t *tensor.Tensor, dim int) int {
	n := t.Dim()
	if dim < -n || dim >= n {
		panic(&tensor.Error{Op: op, Shapes: [][]int{t.Shape()}, Why: fmt.Sprintf("dimension %d is out of range; want %d to %d", dim, -n, n-1)})
	}
	return (dim + n) % n
}

// norms returns the lengths of Original1.
func (w *WeightNormalization) norms() *tensor.Tensor {
	v := w.Original1
	if w.whole {
		return v.Norm()
	}
	shape := slices.Repeat([]int{1}, v.Dim())
	shape[w.dim] = v.Size(w.dim)
	var rest []int
	for d := range shape {
		if d != w.dim {
			rest = append(rest, d)
		}
	}
	if len(rest) == 0 {
		return v.Abs()
	}
	return v.Norm(rest...).Reshape(shape...)
}

func (w *WeightNormalization) compute() *tensor.Tensor {
	return w.Original1.Mul(w.Original0.Div(w.norms()))
}

func (w *WeightNormalization) original() *tensor.Tensor { return w.Original1 }

// String returns what torch prints.
func (w *WeightNormalization) String() string { return "_WeightNorm()" }
