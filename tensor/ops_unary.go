package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

type abs struct{}

func (abs) Info() Info { return info("abs", "torch.abs", SavesOperands) }
func (abs) Forward(in []*Tensor) *Tensor {
	notBool("abs", in)
	return unary(driver.Abs, in[0])
}
func (abs) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[0].Step().Sub(in[0].Neg().Step()))}
}

// Abs returns |t|. Its gradient at 0 is 0. It is torch.abs.
func (t *Tensor) Abs() *Tensor { return apply(abs{}, t) }

type exp struct{}

func (exp) Info() Info { return info("exp", "torch.exp", SavesResult) }
func (exp) real()      {}
func (exp) Forward(in []*Tensor) *Tensor {
	return unary(driver.Exp, in[0])
}
func (exp) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Mul(y)} }

// Exp returns e to the power t. It is torch.exp.
func (t *Tensor) Exp() *Tensor { return apply(exp{}, t) }

type log struct{}

func (log) Info() Info { return info("log", "torch.log", SavesOperands) }
func (log) real()      {}
func (log) Forward(in []*Tensor) *Tensor {
	return unary(driver.Log, in[0])
}
func (log) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{dy.Div(in[0])} }

// Log returns the natural logarithm of t. It is torch.log.
func (t *Tensor) Log() *Tensor { return apply(log{}, t) }

type log1p struct{}

func (log1p) Info() Info { return info("log1p", "torch.log1p", SavesOperands) }
func (log1p) real()      {}
func (log1p) Forward(in []*Tensor) *Tensor {
	return unary(driver.Log1p, in[0])
}
func (log1p) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Div(in[0].AddScalar(1))}
}

// Log1p returns log(1 + t), accurate for small t. It is torch.log1p.
func (t *Tensor) Log1p() *Tensor { return apply(log1p{}, t) }

type sqrt struct{}

func (sqrt) Info() Info { return info("sqrt", "torch.sqrt", SavesResult) }
func (sqrt) real()      {}
func (sqrt) Forward(in []*Tensor) *Tensor {
	return unary(driver.Sqrt, in[0])
}
func (sqrt) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Div(y.MulScalar(2))} }

// Sqrt returns the square root of t. It is torch.sqrt.
func (t *Tensor) Sqrt() *Tensor { return apply(sqrt{}, t) }

type reciprocal struct{}

func (reciprocal) Info() Info { return info("reciprocal", "torch.reciprocal", SavesResult) }
func (reciprocal) real()      {}
func (reciprocal) Forward(in []*Tensor) *Tensor {
	return unary(driver.Reciprocal, in[0])
}
func (reciprocal) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{dy.Neg().Mul(y.Mul(y))}
}

// Reciprocal returns 1 / t. It is torch.reciprocal.
func (t *Tensor) Reciprocal() *Tensor { return apply(reciprocal{}, t) }

type tanh struct{}

func (tanh) Info() Info { return info("tanh", "torch.tanh", SavesResult) }
func (tanh) real()      {}
func (tanh) Forward(in []*Tensor) *Tensor {
	return unary(driver.Tanh, in[0])
}
func (tanh) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{apply(tanhGrad{}, y, dy)} }

// Tanh returns the hyperbolic tangent of t. It is torch.tanh.
func (t *Tensor) Tanh() *Tensor { return apply(tanh{}, t) }

// tanhGrad is dy (1 - y²). Its operands are y and dy. It rounds once.
type tanhGrad struct{}

func (tanhGrad) Info() Info {
	return info("tanh_backward", "torch.ops.aten.tanh_backward", SavesOperands)
}
func (tanhGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("tanh_backward", driver.TanhGrad, in[0], in[1])
}
func (tanhGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	y, dy := in[0], in[1]
	return []*Tensor{d.Mul(dy).Mul(y).MulScalar(-2), apply(tanhGrad{}, y, d)}
}

type sigmoid struct{}

func (sigmoid) Info() Info { return info("sigmoid", "torch.sigmoid", SavesResult) }
func (sigmoid) real()      {}
func (sigmoid) Forward(in []*Tensor) *Tensor {
	return unary(driver.Sigmoid, in[0])
}
func (sigmoid) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(sigmoidGrad{}, y, dy)}
}

// Sigmoid returns 1 / (1 + exp(-t)). It is torch.sigmoid.
func (t *Tensor) Sigmoid() *Tensor { return apply(sigmoid{}, t) }

// sigmoidGrad is dy (1 - y) y. Its operands are y and dy. It rounds once.
type sigmoidGrad struct{}

func (sigmoidGrad) Info() Info {
	return info("sigmoid_backward", "torch.ops.aten.sigmoid_backward", SavesOperands)
}
func (sigmoidGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("sigmoid_backward", driver.SigmoidGrad, in[0], in[1])
}
func (sigmoidGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	y, dy := in[0], in[1]
	return []*Tensor{d.Mul(dy).Mul(y.MulScalar(-2).AddScalar(1)), apply(sigmoidGrad{}, y, d)}
}

type relu struct{}

func (relu) Info() Info { return info("relu", "torch.relu", SavesResult) }
func (relu) Forward(in []*Tensor) *Tensor {
	notBool("relu", in)
	return unary(driver.Relu, in[0])
}
func (relu) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(thresholdGrad{}, y, dy)}
}

// ReLU returns max(t, 0). Its gradient at 0 is 0. It is torch.relu.
func (t *Tensor) ReLU() *Tensor { return apply(relu{}, t) }

// thresholdGrad is dy where y is positive and 0 elsewhere. Its operands are y and dy.
type thresholdGrad struct{}

func (thresholdGrad) Info() Info {
	return info("threshold_backward", "torch.ops.aten.threshold_backward", SavesOperands)
}
func (thresholdGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("threshold_backward", driver.ReluGrad, in[0], in[1])
}
func (thresholdGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{nil, apply(thresholdGrad{}, in[0], d)}
}

// step is 1 where the operand is positive and 0 elsewhere.
type step struct{}

func (step) Info() Info { return info("step", "torch.heaviside", NoDerivative) }
func (step) Forward(in []*Tensor) *Tensor {
	return unary(driver.Step, in[0])
}
func (step) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Step returns 1 where t is positive and 0 elsewhere. It has no gradient. It is
// torch.heaviside(t, 0).
func (t *Tensor) Step() *Tensor { return apply(step{}, t) }

type erf struct{}

func (erf) Info() Info { return info("erf", "torch.erf", SavesOperands) }
func (erf) real()      {}
func (erf) Forward(in []*Tensor) *Tensor {
	return unary(driver.Erf, in[0])
}
func (erf) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[0].Pow(2).Neg().Exp().MulScalar(2 / math.Sqrt(math.Pi)))}
}

// Erf returns the error function of t. It is torch.erf.
func (t *Tensor) Erf() *Tensor { return apply(erf{}, t) }
