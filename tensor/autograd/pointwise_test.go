package autograd_test

import (
	"halfnote/tensor"
)

type T = *tensor.Tensor

func init() {
	cases = append(cases, []struct {
		name string
		f    func(a, b T) T
	}{
		{"acos", func(a, _ T) T { return a.MulScalar(0.5).Acos() }},
		{"acosh", func(a, _ T) T { return a.Abs().AddScalar(1.1).Acosh() }},
		{"asin", func(a, _ T) T { return a.MulScalar(0.5).Asin() }},
		{"asinh", func(a, _ T) T { return a.Asinh() }},
		{"atan", func(a, _ T) T { return a.Atan() }},
		{"atan2", func(a, b T) T { return a.Atan2(b) }},
		{"atan2, broadcast", func(a, b T) T { return a.Atan2(b.Select(0, 1)) }},
		{"atanh", func(a, _ T) T { return a.MulScalar(0.5).Atanh() }},
		{"cos", func(a, _ T) T { return a.Cos() }},
		{"cosh", func(a, _ T) T { return a.Cosh() }},
		{"sin", func(a, _ T) T { return a.Sin() }},
		{"sinc", func(a, _ T) T { return a.Sinc() }},
		{"sinh", func(a, _ T) T { return a.Sinh() }},
		{"tan", func(a, _ T) T { return a.Tan() }},
		{"deg2rad", func(a, _ T) T { return a.Deg2rad().Rad2deg().Pow(2) }},
		{"entr", func(a, _ T) T { return a.Abs().AddScalar(0.1).Entr() }},
		{"erfc", func(a, _ T) T { return a.Erfc() }},
		{"erfinv", func(a, _ T) T { return a.MulScalar(0.5).Erfinv() }},
		{"ndtr", func(a, _ T) T { return a.Ndtr() }},
		{"exp2", func(a, _ T) T { return a.Exp2() }},
		{"expm1", func(a, _ T) T { return a.Expm1() }},
		{"log10", func(a, _ T) T { return a.Abs().Log10() }},
		{"log2", func(a, _ T) T { return a.Abs().Log2() }},
		{"logit", func(a, _ T) T { return a.Sigmoid().Logit(0) }},
		{"logit, eps", func(a, _ T) T { return a.Sigmoid().Logit(0.3) }},
		{"rsqrt", func(a, _ T) T { return a.Abs().Rsqrt() }},
		{"square", func(a, _ T) T { return a.Square() }},

		{"floor", func(a, _ T) T { return a.Floor().Mul(a.Pow(2)) }},
		{"ceil", func(a, _ T) T { return a.Ceil().Mul(a.Pow(2)) }},
		{"trunc", func(a, _ T) T { return a.Trunc().Mul(a.Pow(2)) }},
		{"frac", func(a, _ T) T { return a.Frac().Pow(2) }},
		{"round", func(a, _ T) T { return a.Round().Mul(a.RoundTo(1)).Mul(a.RoundTo(-1)).Add(a.Pow(2)) }},
		{"sign", func(a, _ T) T { return a.Sign().Mul(a.Pow(2)) }},
		{"clamp", func(a, _ T) T { return a.Pow(3).Clamp(-0.8, 1.2) }},
		{"clamp, tensors", func(a, b T) T { return a.ClampTensor(b.MulScalar(0.5), b.Pow(2)) }},
		{"hardtanh", func(a, _ T) T { return a.Pow(2).Hardtanh(0.1, 1.2) }},
		{"nan_to_num", func(a, _ T) T { return a.Pow(2).NanToNum() }},

		{"celu", func(a, _ T) T { return a.CELU(1.3) }},
		{"elu", func(a, _ T) T { return a.ELU(0.7) }},
		{"selu", func(a, _ T) T { return a.SELU() }},
		{"gelu tanh", func(a, _ T) T { return a.GELUTanh() }},
		{"glu", func(a, _ T) T { return a.GLU(0) }},
		{"hardshrink", func(a, _ T) T { return a.Pow(3).Hardshrink(0.25) }},
		{"hardsigmoid", func(a, _ T) T { return a.MulScalar(3).Hardsigmoid().Pow(2) }},
		{"hardswish", func(a, _ T) T { return a.MulScalar(3).Hardswish() }},
		{"leaky_relu", func(a, _ T) T { return a.Pow(3).LeakyReLU(0.1) }},
		{"log_sigmoid", func(a, _ T) T { return a.LogSigmoid() }},
		{"mish", func(a, _ T) T { return a.Mish() }},
		{"prelu", func(a, b T) T { return a.PReLU(b.Select(0, 0).Pow(2)) }},
		{"prelu, one weight", func(a, b T) T { return a.PReLU(b.Sum().Reshape(1)) }},
		{"relu6", func(a, _ T) T { return a.MulScalar(5).ReLU6().Pow(2) }},
		{"silu", func(a, _ T) T { return a.SiLU() }},
		{"softmin", func(a, _ T) T { return a.Softmin(1) }},
		{"softplus", func(a, _ T) T { return a.SoftplusWith(2, 2.2) }},
		{"softshrink", func(a, _ T) T { return a.Pow(3).Softshrink(0.25) }},
		{"softsign", func(a, _ T) T { return a.Softsign() }},
		{"tanhshrink", func(a, _ T) T { return a.Tanhshrink() }},
		{"threshold", func(a, _ T) T { return a.Pow(2).Threshold(0.3, 5) }},

		{"copysign", func(a, b T) T { return a.Pow(2).Copysign(b) }},
		{"floor_divide", func(a, b T) T { return a.FloorDivide(b.MulScalar(1.1)).Mul(a.Mul(b)) }},
		{"fmod", func(a, b T) T { return a.Pow(3).Fmod(b.Pow(2)) }},
		{"remainder", func(a, b T) T { return a.Pow(3).Remainder(b.Pow(2)) }},
		{"trunc_divide", func(a, b T) T { return a.DivTrunc(b.MulScalar(1.1)).Mul(a.Mul(b)) }},
		{"hypot", func(a, b T) T { return a.Hypot(b) }},
		{"heaviside", func(a, b T) T { return a.Heaviside(b).Mul(a.Pow(2)) }},
		{"pow, tensors", func(a, b T) T { return a.Abs().PowTensor(b) }},
		{"pow of a number", func(a, _ T) T { return a.RPow(1.7) }},
		{"div by a number", func(a, _ T) T { return a.DivScalar(3).Pow(2) }},
		{"rsub", func(a, _ T) T { return a.RSubScalar(3).Pow(2) }},
		{"rdiv", func(a, _ T) T { return a.RDivScalar(3) }},
		{"add scaled", func(a, b T) T { return a.AddScaled(b, 0.3).Pow(2).SubScaled(b, 2) }},
		{"addcdiv", func(a, b T) T { return a.Addcdiv(b, a.Pow(2), 0.7) }},
		{"addcmul", func(a, b T) T { return a.Addcmul(b, b.Select(0, 0), 0.7) }},
		{"lerp", func(a, b T) T { return a.Lerp(b, 0.3).Pow(2).Lerp(b, 0.8) }},
		{"lerp, tensor", func(a, b T) T { return a.LerpTensor(b, a.Pow(2)) }},
		{"fmax", func(a, b T) T { return a.Pow(2).Fmax(b.Pow(3)) }},
		{"fmin", func(a, b T) T { return a.Pow(2).Fmin(b.Pow(3)) }},
		{"xlogy", func(a, b T) T { return a.Xlogy(b.Abs()) }},
		{"logaddexp", func(a, b T) T { return a.LogAddExp(b) }},
		{"logaddexp2", func(a, b T) T { return a.LogAddExp2(b.Select(1, 0).Unsqueeze(1)) }},

		{"comparisons", func(a, b T) T {
			choose := a.Gt(b).Or(a.Lt(b.MulScalar(2))).And(a.Ne(b)).Xor(a.Eq(b)).Or(a.Le(b).Not()).And(a.Ge(b))
			return choose.Where(a.Pow(2), b.Pow(3))
		}},
		{"bits", func(a, b T) T {
			m := a.MulScalar(8).Long()
			n := b.MulScalar(8).Long()
			m = m.BitwiseAnd(n).BitwiseOr(m).BitwiseXor(n).BitwiseNot().LeftShift(n.Abs()).RightShift(n.Abs())
			return a.Pow(2).Mul(m.Double())
		}},
	}...)
}

func init() {
	cases = append(cases, []struct {
		name string
		f    func(a, b T) T
	}{
		{"cumsum", func(a, _ T) T { return a.Pow(2).Cumsum(1) }},
		{"cumsum, first", func(a, _ T) T { return a.Pow(2).Cumsum(0) }},
		{"cumprod", func(a, _ T) T { return a.Cumprod(1) }},
		{"cumprod with zeros", func(a, b T) T { return a.Mul(zeroed()).Add(b.Mul(zeroed())).Cumprod(1) }},
		{"cummax", func(a, b T) T {
			largest, at := a.Pow(2).Cummax(1)
			smallest, _ := b.Pow(3).Cummin(0)
			return largest.Add(smallest).Mul(at.Double())
		}},
		{"max", func(a, b T) T {
			largest, _ := a.Pow(2).Max(1)
			smallest, at := b.Pow(3).Min(-1)
			return largest.Mul(smallest).Mul(at.Double().AddScalar(1))
		}},
		{"quantile", func(a, _ T) T { return a.Pow(2).Quantile(0.3, 1) }},
		{"logcumsumexp", func(a, _ T) T { return a.LogCumsumExp(1) }},
		{"prod", func(a, _ T) T { return a.Prod() }},
		{"prod, a dimension", func(a, _ T) T { return a.Prod(0) }},
		{"prod, kept", func(a, _ T) T { return a.Unsqueeze(1).KeepDim().Prod(0, 2) }},
		{"prod with zeros", func(a, b T) T { return a.Mul(zeroed()).Prod(1).Add(b.Mul(zeroed()).Prod(0).Sum()) }},
		{"var", func(a, _ T) T { return a.Var() }},
		{"var, a dimension", func(a, _ T) T { return a.KeepDim().VarWith(0, 1) }},
		{"std", func(a, _ T) T { return a.Std() }},
		{"std, a dimension", func(a, _ T) T { return a.StdWith(0, 0) }},
		{"logsumexp", func(a, _ T) T { return a.LogSumExp() }},
		{"logsumexp, a dimension", func(a, _ T) T { return a.KeepDim().LogSumExp(1) }},
		{"nansum", func(a, b T) T { return a.Pow(2).NanSum(1).Add(b.Pow(2).NanMean()) }},
		{"counts", func(a, b T) T {
			n := a.GtScalar(0).CountNonzero(1).Double()
			return a.Pow(2).Mul(n.Unsqueeze(1)).Mul(a.Any().Double()).Add(b.All(0).Where(b, a))
		}},
		{"diff", func(a, _ T) T { return a.Pow(3).Diff(1, 1) }},
		{"trapezoid", func(a, _ T) T { return a.Pow(3).Trapezoid(0.1, 0) }},
	}...)
}

// zeroed returns a mask with two zeros in the first row.
func zeroed() T { return tensor.NewAs(tensor.Float64, []float64{0, 1, 0, 1, 1, 1}, 2, 3) }
