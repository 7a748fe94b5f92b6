package tensor

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// DType is an element type: torch.dtype.
type DType = driver.DType

// The element types.
const (
	Float16    = driver.Float16    // torch.float16: 11 bits of precision, up to 65504
	BFloat16   = driver.BFloat16   // torch.bfloat16: 8 bits of precision, float32's range
	Float32    = driver.Float32    // torch.float32, the dtype of new tensors
	Float64    = driver.Float64    // torch.float64
	Float8E4M3 = driver.Float8E4M3 // torch.float8_e4m3fn: 4 bits of precision, up to 448; for storage and conversion only
	Float8E5M2 = driver.Float8E5M2 // torch.float8_e5m2: 3 bits of precision, up to 57344; for storage and conversion only
	Int64      = driver.Int64      // torch.int64, the dtype of indices
	Int32      = driver.Int32      // torch.int32
	Int16      = driver.Int16      // torch.int16
	Int8       = driver.Int8       // torch.int8
	Uint8      = driver.Uint8      // torch.uint8
	Bool       = driver.Bool       // torch.bool, the dtype of masks and comparisons
)

// DTypes returns all element types.
func DTypes() []DType { return driver.DTypes() }

// known panics unless d is an element type.
func known(op string, d DType) {
	if d.Size() == 0 {
		panic(named(&Error{Op: op, DTypes: []DType{d}, Why: "unknown dtype; want one of tensor.DTypes()"}))
	}
}

// wideOf returns the dtype that arithmetic on d is computed in.
func wideOf(d DType) DType { return d.Wide() }

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
		panic(named(&Error{Op: "promote_types", DTypes: []DType{a, b}, Why: "8-bit floating-point dtypes do not promote; convert with To"}))
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
		panic(named(&Error{Op: "result_type", Why: "no tensors; want at least one"}))
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

// isStored reports whether op moves the elements of operands that are only stored.
func isStored(op Op, in []*Tensor) bool {
	m, ok := op.(moving)
	return ok && m.moves() && slices.ContainsFunc(in, func(t *Tensor) bool { return t.dtype.IsStorage() })
}

// forwardStored is Op.Forward for an operation that moves elements of one dtype that is only stored: kernels see them as bytes.
func forwardStored(op Op, in []*Tensor) *Tensor {
	d := driver.Invalid
	bytes := make([]*Tensor, len(in))
	for i, t := range in {
		if bytes[i] = t; t.dtype.IsFloat() {
			if d != driver.Invalid && d != t.dtype {
				promote(d, t.dtype) // panics
			}
			d, bytes[i] = t.dtype, t.as(Uint8)
		}
	}
	return op.Forward(bytes).as(d)
}

// as returns t with its memory read as elements of another dtype of the same size.
func (t *Tensor) as(d DType) *Tensor {
	y := t.alias(t.offset, t.shape, t.stride)
	y.dtype = d
	return y
}

// computable panics if one of in has a dtype for storage and conversion only.
func computable(op Op, in []*Tensor) {
	for i, t := range in {
		if t.dtype.IsStorage() {
			failDType(op.Info().Name, in, "operand %d has an 8-bit floating-point dtype, which is for storage only; convert it, for example with x.Half() or x.Float()", i)
		}
	}
}

// FloatInfo is the range and precision of a floating-point dtype.
type FloatInfo struct {
	DType     DType
	Bits      int
	Max       float64 // largest finite number
	Eps       float64 // distance from 1 to the next larger number
	Tiny      float64 // smallest positive normal number
	Subnormal float64 // smallest positive subnormal number
}

// FInfo returns the range and precision of d. It panics if d is not a floating-point
// dtype. It is torch.finfo.
func FInfo(d DType) FloatInfo {
	switch d {
	case Float16:
		return FloatInfo{d, 16, decoded(d, 0x7bff), decoded(d, 0x3c01) - 1, decoded(d, 0x0400), decoded(d, 0x0001)}
	case BFloat16:
		return FloatInfo{d, 16, 0x1.fep127, 0x1p-7, 0x1p-126, 0x1p-133}
	case Float32:
		return FloatInfo{d, 32, 0x1.fffffep127, 0x1p-23, 0x1p-126, 0x1p-149}
	case Float64:
		return FloatInfo{d, 64, 0x1.fffffffffffffp1023, 0x1p-52, 0x1p-1022, 0x1p-1074}
	case Float8E4M3:
		return FloatInfo{d, 8, 448, 0x1p-3, 0x1p-6, 0x1p-9}
	case Float8E5M2:
		return FloatInfo{d, 8, 57344, 0x1p-2, 0x1p-14, 0x1p-16}
	}
	panic(named(&Error{Op: "finfo", DTypes: []DType{d}, Why: "want a floating-point dtype, such as float16; use IInfo for integers"}))
}

// String returns the numbers on one line.
func (f FloatInfo) String() string {
	return fmt.Sprintf("%v: max %.6g, eps %.6g, tiny %.6g, smallest subnormal %.6g", f.DType, f.Max, f.Eps, f.Tiny, f.Subnormal)
}

// IntInfo is the range of an integer dtype.
type IntInfo struct {
	DType    DType
	Bits     int
	Min, Max int64
}

// IInfo returns the range of d. It panics if d is not an integer dtype. It is
// torch.iinfo.
func IInfo(d DType) IntInfo {
	switch d {
	case Int64:
		return IntInfo{d, 64, math.MinInt64, math.MaxInt64}
	case Int32:
		return IntInfo{d, 32, math.MinInt32, math.MaxInt32}
	case Int16:
		return IntInfo{d, 16, math.MinInt16, math.MaxInt16}
	case Int8:
		return IntInfo{d, 8, math.MinInt8, math.MaxInt8}
	case Uint8:
		return IntInfo{d, 8, 0, math.MaxUint8}
	}
	panic(named(&Error{Op: "iinfo", DTypes: []DType{d}, Why: "want int64, int32, int16, int8 or uint8; use FInfo for floating-point dtypes"}))
}

// String returns the numbers on one line.
func (i IntInfo) String() string { return fmt.Sprintf("%v: %d to %d", i.DType, i.Min, i.Max) }
