package tensor

import (
	"fmt"

	"halfnote/tensor/driver"
)

// DType is an element type: torch.dtype.
type DType = driver.DType

// The element types.
const (
	Float16  = driver.Float16  // torch.float16: 11 bits of precision, up to 65504
	BFloat16 = driver.BFloat16 // torch.bfloat16: 8 bits of precision, float32's range
	Float32  = driver.Float32  // torch.float32, the dtype of new tensors
	Float64  = driver.Float64  // torch.float64
)

// FloatInfo is the range and precision of a dtype.
type FloatInfo struct {
	DType     DType
	Bits      int
	Max       float64 // largest finite number
	Eps       float64 // distance from 1 to the next number
	Tiny      float64 // smallest normal number
	Subnormal float64 // smallest number above 0
}

// FInfo returns the range and precision of d. It is torch.finfo.
func FInfo(d DType) FloatInfo {
	switch d {
	case Float16:
		return FloatInfo{d, 16, 65504, 0x1p-10, 0x1p-14, 0x1p-24}
	case BFloat16:
		return FloatInfo{d, 16, 0x1.fep127, 0x1p-7, 0x1p-126, 0x1p-133}
	case Float32:
		return FloatInfo{d, 32, 0x1.fffffep127, 0x1p-23, 0x1p-126, 0x1p-149}
	case Float64:
		return FloatInfo{d, 64, 0x1.fffffffffffffp1023, 0x1p-52, 0x1p-1022, 0x1p-1074}
	}
	panic(&Error{Op: "finfo", DTypes: []DType{d}, Why: "no such dtype; expected float16, bfloat16, float32 or float64"})
}

// String returns the numbers in a line.
func (f FloatInfo) String() string {
	return fmt.Sprintf("%v: max %.6g, eps %.6g, tiny %.6g, smallest subnormal %.6g", f.DType, f.Max, f.Eps, f.Tiny, f.Subnormal)
}

// widen returns the dtype that arithmetic on d is done in.
func wideOf(d DType) DType {
	if d == Float64 {
		return Float64
	}
	return Float32
}

// promote returns the dtype that both a and b convert to.
func promote(a, b DType) DType {
	if a != b && a <= BFloat16 && b <= BFloat16 {
		return Float32
	}
	return max(a, b)
}

// promoteAll returns the dtype of an elementwise result: that of the operands
// with dimensions, or of all if none has.
func promoteAll(in []*Tensor) DType {
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
	if dims != driver.Invalid {
		return dims
	}
	return scalars
}
