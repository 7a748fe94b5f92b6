package tensor

import (
	"halfnote/tensor/driver"
)

// Promotion follows torch's page "type promotion" of tensor attributes. The kinds are, in
// ascending order, bool, integer and floating point. The highest kind wins; within a kind,
// tensors with dimensions win over scalars, which win over Go numbers.

// PromoteTypes returns the smallest dtype that both a and b convert to. It panics if there is
// none, for example for the 8-bit floating-point dtypes. It is torch.promote_types.
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
		panic(&Error{Op: "promote_types", DTypes: []DType{a, b}, Why: "8-bit floating-point dtypes do not promote; convert with To"})
	case a == Float16 && b == BFloat16:
		return Float32
	case a == Uint8 && b == Int8:
		return Int16
	}
	return b
}

// rank orders dtypes: of two, both convert to the later one, except for the two half dtypes and
// the two 8-bit integers.
var rank = [...]int{
	driver.Bool: 1, driver.Uint8: 2, driver.Int8: 3, driver.Int16: 4, driver.Int32: 5, driver.Int64: 6,
	driver.Float8E5M2: 7, driver.Float8E4M3: 8, driver.Float16: 9, driver.BFloat16: 10, driver.Float32: 11, driver.Float64: 12,
}

// ResultType returns the dtype that elementwise operations on ts compute in: the promoted dtype
// of the tensors of the highest kind, ignoring scalars if there are others. It is
// torch.result_type.
func ResultType(ts ...*Tensor) DType {
	given("result_type", ts...)
	if len(ts) == 0 {
		panic(&Error{Op: "result_type", Why: "no tensors; want at least one"})
	}
	return promoteAll(ts)
}

func promoteAll(in []*Tensor) DType {
	// The dtypes of tensors with dimensions, and of scalars.
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

// withNumber returns the dtype of t combined with a Go number: t's own, except float32 for an
// integer or bool tensor with a fractional number, and int64 for a bool tensor with an integer.
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

// computable panics if one of in has a dtype for storage and conversion only.
func computable(op Op, in []*Tensor) {
	for i, t := range in {
		if t.dtype.IsStorage() {
			failDType(op.Info().Name, in, "operand %d has an 8-bit floating-point dtype, which is for storage only; convert it, for example with x.Half() or x.Float()", i)
		}
	}
}
