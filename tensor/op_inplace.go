package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// Assign copies x, converted and broadcast, into t, and returns t. It is torch.Tensor.copy_.
func (t *Tensor) Assign(x *Tensor) *Tensor {
	given("copy_", t, x)
	if t.mem.backend != x.mem.backend {
		x = x.Detach().ToDevice(t.Device())
	}
	return t.inPlace("copy_", driver.Kernel{Code: driver.Copy}, t.dtype, x)
}

// Fill sets every element to c and returns t. It panics if a finite c overflows t's dtype, or
// if t's integer dtype cannot hold c. It is torch.Tensor.fill_.
func (t *Tensor) Fill(c float64) *Tensor {
	t.given("fill")
	checkFinite("fill", t.dtype, c)
	return t.inPlace("fill_", driver.Kernel{Code: driver.Fill, Alpha: c}, t.dtype)
}

// AddAssign adds x to t in place, and returns t. It is torch.Tensor.add_.
func (t *Tensor) AddAssign(x *Tensor) *Tensor {
	return t.pairwiseAssign("add_", driver.Kernel{Code: driver.Add}, x)
}

// SubAssign subtracts x from t in place, and returns t. It is torch.Tensor.sub_.
func (t *Tensor) SubAssign(x *Tensor) *Tensor {
	notBool("sub_", []*Tensor{t, x})
	return t.pairwiseAssign("sub_", driver.Kernel{Code: driver.Sub}, x)
}

// MulAssign multiplies t by x in place, and returns t. It is torch.Tensor.mul_.
func (t *Tensor) MulAssign(x *Tensor) *Tensor {
	return t.pairwiseAssign("mul_", driver.Kernel{Code: driver.Mul}, x)
}

// DivAssign divides t by x in place, and returns t. It panics for integers. It is
// torch.Tensor.div_.
func (t *Tensor) DivAssign(x *Tensor) *Tensor {
	return t.pairwiseAssign("div_", driver.Kernel{Code: driver.Div}, x)
}

// AddScalarAssign adds c to t in place, and returns t. It is torch.Tensor.add_ with a
// number.
func (t *Tensor) AddScalarAssign(c float64) *Tensor {
	t.given("add_")
	return t.inPlace("add_", driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: c}, withNumber(t, c), t)
}

// MulScalarAssign multiplies t by c in place, and returns t. It is torch.Tensor.mul_
// with a number.
func (t *Tensor) MulScalarAssign(c float64) *Tensor {
	t.given("mul_")
	return t.inPlace("mul_", driver.Kernel{Code: driver.Affine, Alpha: c}, withNumber(t, c), t)
}

// AddScaledAssign adds c x to t in place, and returns t. It is torch.Tensor.add_
// with alpha.
func (t *Tensor) AddScaledAssign(x *Tensor, c float64) *Tensor {
	given("add_", t, x)
	wholeFor("add_", c, t, x)
	return t.pairwiseAssign("add_", driver.Kernel{Code: driver.AddScaled, Alpha: c}, x)
}

// SetData replaces t's memory, dtype and device by x's; t and x then share memory. t must be a
// leaf, or not require a gradient, and x must have its shape. t stays the same leaf. It is
// assignment to torch.Tensor.data.
func (t *Tensor) SetData(x *Tensor) {
	given("set_data", t, x)
	if t.v != nil && t.v.leaf == nil || !slices.Equal(t.shape, x.shape) {
		fail("set_data", []*Tensor{t, x}, "want a leaf and data of its shape; Reshape changes that of the data")
	}
	// Version numbers continue, so that none occurs twice.
	x.share()
	version := max(t.mem.version.Load(), x.mem.version.Load()) + 1
	t.mem, t.dtype, t.offset, t.shape, t.stride = x.mem, x.dtype, x.offset, x.shape, x.stride
	t.mem.version.Store(version)
}

// In-place operations built on those that return new tensors, or on their kernels. Each returns
// t. It panics if the result's kind is higher than t's, for example a floating-point result for
// a tensor of integers.

// Zero sets every element to 0 and returns t. It is torch.Tensor.zero_.
func (t *Tensor) Zero() *Tensor {
	t.given("zero")
	return t.Fill(0)
}

// NegAssign sets t to its Neg in place. It is torch.Tensor.neg_.
func (t *Tensor) NegAssign() *Tensor { return t.computed("neg_", driver.Neg, (*Tensor).Neg) }

// AbsAssign sets t to its Abs in place. It is torch.Tensor.abs_.
func (t *Tensor) AbsAssign() *Tensor { return t.computed("abs_", driver.Abs, (*Tensor).Abs) }

// SignAssign sets t to its Sign in place. It is torch.Tensor.sign_.
func (t *Tensor) SignAssign() *Tensor { return t.computed("sign_", driver.Sign, (*Tensor).Sign) }

// ExpAssign sets t to its Exp in place. It is torch.Tensor.exp_.
func (t *Tensor) ExpAssign() *Tensor { return t.computed("exp_", driver.Exp, (*Tensor).Exp) }

// LogAssign sets t to its Log in place. It is torch.Tensor.log_.
func (t *Tensor) LogAssign() *Tensor { return t.computed("log_", driver.Log, (*Tensor).Log) }

// SqrtAssign sets t to its Sqrt in place. It is torch.Tensor.sqrt_.
func (t *Tensor) SqrtAssign() *Tensor { return t.computed("sqrt_", driver.Sqrt, (*Tensor).Sqrt) }

// RsqrtAssign sets t to its Rsqrt in place. It is torch.Tensor.rsqrt_.
func (t *Tensor) RsqrtAssign() *Tensor { return t.computed("rsqrt_", driver.Rsqrt, (*Tensor).Rsqrt) }

// ReciprocalAssign sets t to its Reciprocal in place. It is torch.Tensor.reciprocal_.
func (t *Tensor) ReciprocalAssign() *Tensor {
	return t.computed("reciprocal_", driver.Reciprocal, (*Tensor).Reciprocal)
}

// SquareAssign sets t to its Square in place. It is torch.Tensor.square_.
func (t *Tensor) SquareAssign() *Tensor {
	return t.computedAs("square_", driver.Kernel{Code: driver.Pow, Alpha: 2}, (*Tensor).Square)
}

// SinAssign sets t to its Sin in place. It is torch.Tensor.sin_.
func (t *Tensor) SinAssign() *Tensor { return t.computed("sin_", driver.Sin, (*Tensor).Sin) }

// CosAssign sets t to its Cos in place. It is torch.Tensor.cos_.
func (t *Tensor) CosAssign() *Tensor { return t.computed("cos_", driver.Cos, (*Tensor).Cos) }

// TanhAssign sets t to its Tanh in place. It is torch.Tensor.tanh_.
func (t *Tensor) TanhAssign() *Tensor { return t.computed("tanh_", driver.Tanh, (*Tensor).Tanh) }

// SigmoidAssign sets t to its Sigmoid in place. It is torch.Tensor.sigmoid_.
func (t *Tensor) SigmoidAssign() *Tensor {
	return t.computed("sigmoid_", driver.Sigmoid, (*Tensor).Sigmoid)
}

// ReLUAssign sets t to its ReLU in place. It is torch.Tensor.relu_.
func (t *Tensor) ReLUAssign() *Tensor { return t.computed("relu_", driver.Relu, (*Tensor).ReLU) }

// FloorAssign sets t to its Floor in place. It is torch.Tensor.floor_.
func (t *Tensor) FloorAssign() *Tensor { return t.computed("floor_", driver.Floor, (*Tensor).Floor) }

// CeilAssign sets t to its Ceil in place. It is torch.Tensor.ceil_.
func (t *Tensor) CeilAssign() *Tensor { return t.computed("ceil_", driver.Ceil, (*Tensor).Ceil) }

// TruncAssign sets t to its Trunc in place. It is torch.Tensor.trunc_.
func (t *Tensor) TruncAssign() *Tensor { return t.computed("trunc_", driver.Trunc, (*Tensor).Trunc) }

// RoundAssign sets t to its Round in place. It is torch.Tensor.round_.
func (t *Tensor) RoundAssign() *Tensor { return t.computed("round_", driver.Round, (*Tensor).Round) }

// NanToNumAssign sets t to its NanToNum in place. It is torch.Tensor.nan_to_num_.
func (t *Tensor) NanToNumAssign() *Tensor { return t.becomes("nan_to_num_", (*Tensor).NanToNum) }

// ClampAssign is Clamp in place. It is torch.Tensor.clamp_.
func (t *Tensor) ClampAssign(lo, hi float64) *Tensor {
	return t.becomes("clamp_", func(t *Tensor) *Tensor { return t.Clamp(lo, hi) })
}

// PowAssign raises t to the power exponent in place. It is torch.Tensor.pow_.
func (t *Tensor) PowAssign(exponent float64) *Tensor {
	return t.computedAs("pow_", driver.Kernel{Code: driver.Pow, Alpha: exponent}, func(t *Tensor) *Tensor { return t.Pow(exponent) })
}

// SubScalarAssign subtracts c from t in place. It is torch.Tensor.sub_ with a number.
func (t *Tensor) SubScalarAssign(c float64) *Tensor {
	return t.computedAs("sub_", driver.Kernel{Code: driver.Affine, Alpha: 1, Beta: -c}, func(t *Tensor) *Tensor { return t.SubScalar(c) })
}

// DivScalarAssign divides t by c in place. It is torch.Tensor.div_ with a number.
func (t *Tensor) DivScalarAssign(c float64) *Tensor {
	return t.becomes("div_", func(t *Tensor) *Tensor { return t.DivScalar(c) })
}

// AddcmulAssign adds value·x·y to t in place. It is torch.Tensor.addcmul_.
func (t *Tensor) AddcmulAssign(x, y *Tensor, value float64) *Tensor {
	given("addcmul_", t, x, y)
	return t.becomes("addcmul_", func(t *Tensor) *Tensor { return t.Addcmul(x, y, value) }, x, y)
}

// AddcdivAssign adds value·x/y to t in place. It is torch.Tensor.addcdiv_.
func (t *Tensor) AddcdivAssign(x, y *Tensor, value float64) *Tensor {
	given("addcdiv_", t, x, y)
	return t.becomes("addcdiv_", func(t *Tensor) *Tensor { return t.Addcdiv(x, y, value) }, x, y)
}

// LerpAssign replaces t by t + weight·(end - t) in place. It is torch.Tensor.lerp_.
func (t *Tensor) LerpAssign(end *Tensor, weight float64) *Tensor {
	return t.becomes("lerp_", func(t *Tensor) *Tensor { return t.Lerp(end, weight) }, end)
}

// RemainderAssign sets t to its Remainder by x in place. It is
// torch.Tensor.remainder_.
func (t *Tensor) RemainderAssign(x *Tensor) *Tensor {
	return t.becomes("remainder_", func(t *Tensor) *Tensor { return t.Remainder(x) }, x)
}

// FloorDivideAssign sets t to its FloorDivide by x in place. It is
// torch.Tensor.floor_divide_.
func (t *Tensor) FloorDivideAssign(x *Tensor) *Tensor {
	return t.becomes("floor_divide_", func(t *Tensor) *Tensor { return t.FloorDivide(x) }, x)
}

// AndAssign sets t to the logical and of t and x in place. It is torch.Tensor.logical_and_.
func (t *Tensor) AndAssign(x *Tensor) *Tensor {
	return t.becomes("logical_and_", func(t *Tensor) *Tensor { return t.And(x) }, x)
}

// OrAssign sets t to the logical or of t and x in place. It is torch.Tensor.logical_or_.
func (t *Tensor) OrAssign(x *Tensor) *Tensor {
	return t.becomes("logical_or_", func(t *Tensor) *Tensor { return t.Or(x) }, x)
}

// In-place changes at positions. Set changes parts selected by index expressions.

// ScatterAssign is Scatter in place, and returns t. It is torch.Tensor.scatter_.
func (t *Tensor) ScatterAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("scatter_", func(x *Tensor) *Tensor { return x.Scatter(dim, index, src) }, index, src)
}

// ScatterAddAssign is ScatterAdd in place, and returns t. It is
// torch.Tensor.scatter_add_.
func (t *Tensor) ScatterAddAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("scatter_add_", func(x *Tensor) *Tensor { return x.ScatterAdd(dim, index, src) }, index, src)
}

// IndexAddAssign is IndexAdd in place, and returns t. It is torch.Tensor.index_add_.
func (t *Tensor) IndexAddAssign(dim int, index, src *Tensor, alpha float64) *Tensor {
	return t.becomes("index_add_", func(x *Tensor) *Tensor { return x.IndexAdd(dim, index, src, alpha) }, index, src)
}

// IndexCopyAssign is IndexCopy in place, and returns t. It is
// torch.Tensor.index_copy_.
func (t *Tensor) IndexCopyAssign(dim int, index, src *Tensor) *Tensor {
	return t.becomes("index_copy_", func(x *Tensor) *Tensor { return x.IndexCopy(dim, index, src) }, index, src)
}

// IndexFillAssign is IndexFill in place, and returns t. It is
// torch.Tensor.index_fill_.
func (t *Tensor) IndexFillAssign(dim int, index *Tensor, value float64) *Tensor {
	return t.becomes("index_fill_", func(x *Tensor) *Tensor { return x.IndexFill(dim, index, value) }, index)
}

// MaskedFillAssign is MaskedFill in place, and returns t. It is
// torch.Tensor.masked_fill_.
func (t *Tensor) MaskedFillAssign(mask *Tensor, value float64) *Tensor {
	return t.becomes("masked_fill_", func(x *Tensor) *Tensor { return x.MaskedFill(mask, value) }, mask)
}

// MaskedScatterAssign is MaskedScatter in place, and returns t. It is
// torch.Tensor.masked_scatter_.
func (t *Tensor) MaskedScatterAssign(mask, src *Tensor) *Tensor {
	return t.becomes("masked_scatter_", func(x *Tensor) *Tensor { return x.MaskedScatter(mask, src) }, mask, src)
}

// Out assigns the result of f to dst, converted to its dtype, and returns dst. Operations of f
// run in their operands' dtypes, also under autocast, and are not recorded. Out panics if,
// outside NoGrad, an operand requires a gradient, if the result's kind is higher than dst's, or
// if the shapes differ. It is the argument out= of torch's functions: tensor.Out(z, func()
// *tensor.Tensor { return x.MM(y) }) is torch.mm(x, y, out=z).
func Out(dst *Tensor, f func() *Tensor) *Tensor {
	given("out", dst)
	need("out", "f", f != nil, "a function that returns a tensor")
	s := current()
	s.strict = s.strict || !s.nograd
	s.caster, s.nograd = nil, true
	var y *Tensor
	s.do(func() { y = f() })
	need("out", "the result of f", y != nil, "a tensor")
	in := []*Tensor{dst, y}
	dst.holds("out", y.dtype, in)
	if !slices.Equal(dst.shape, y.shape) {
		fail("out", in, "the result and the output tensor must have the same shape")
	}
	return dst.Assign(y)
}
