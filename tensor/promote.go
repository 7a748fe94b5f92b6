package tensor

import (
	"halfnote/tensor/driver"
)

// Promotion follows torch's page "type promotion" of tensor attributes: kinds rank
// bool, integer, floating point; a tensor of a higher kind decides, and within a
// kind tensors with dimensions beat those without, which beat plain numbers.

// PromoteTypes returns the smallest dtype that both a and b convert to. It panics
// if there is none, as with the floating-point types of 8 bits. It is
// torch.promote_types.
func PromoteTypes(a, b DType) DType {
	known("promote_types", a)
	known("promote_types", b)
	return promote(a, b)
}

func promote(a, b DType) DType {
	if rank[a] > rank[b] {
		a, b = b, a
	}
	switch {
	case a == b:
		return a
	case b.IsStorage() || a.IsStorage():
		panic(&Error{Op: "promote_types", DTypes: []DType{a, b}, Why: "a floating-point type of 8 bits does not promote; expected one dtype, or a cast with To"})
	case a == Float16 && b == BFloat16:
		return Float32
	case a == Uint8 && b == Int8:
		return Int16
	}
	return b
}

// rank orders dtypes so that the later of two is what both convert to, except for the two
// halves and the two integers of 8 bits.
var rank = [...]int{
	driver.Bool: 1, driver.Uint8: 2, driver.Int8: 3, driver.Int16: 4, driver.Int32: 5, driver.Int64: 6,
	driver.Float8E5M2: 7, driver.Float8E4M3: 8, driver.Float16: 9, driver.BFloat16: 10, driver.Float32: 11, driver.Float64: 12,
}

// ResultType returns the dtype in which elementwise operations of ts compute:
// that of the highest kind, of its tensors with dimensions if there are any. It is
// torch.result_type.
func ResultType(ts ...*Tensor) DType {
	given("result_type", ts...)
	if len(ts) == 0 {
		panic(&Error{Op: "result_type", Why: "there are no tensors; expected one or more"})
	}
	return promoteAll(ts)
}

func promoteAll(in []*Tensor) DType {
	// The dtypes of tensors with dimensions and of those without.
	var dims, scalars DType
	for _, t := range in {
		d := &scalars
		if len(t.shape) > 0 {
			d = &dims
		}
		if *d == driver.Invalid {
			*d = t.dtype
		} else {
			*d = promote(*d, t.dtype)
		}
	}
	if dims == driver.Invalid || scalars.Kind() > dims.Kind() {
		return scalars
	}
	return dims
}

// withNumber returns the dtype of t combined with a plain number: t's own, but
// float32 for an integer or bool tensor with a number that has a fraction, and
// int64 for a bool one with a whole number.
func withNumber(t *Tensor, c float64) DType {
	switch whole := c == float64(int64(c)); {
	case t.dtype.IsFloat():
		return t.dtype
	case !whole:
		return Float32
	case t.dtype == Bool:
		return Int64
	}
	return t.dtype
}

// computable panics if one of in is only kept and converted.
func computable(op Op, in []*Tensor) {
	for i, t := range in {
		if t.dtype.IsStorage() {
			failDType(op.Info().Name, in, "operand %d has a floating-point type of 8 bits, which is only kept and converted; expected a cast, such as x.Half() or x.Float()", i)
		}
	}
}
