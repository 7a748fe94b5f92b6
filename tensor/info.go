package tensor

import (
	"fmt"
	"math"
)

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
	panic(&Error{Op: "finfo", DTypes: []DType{d}, Why: "want a floating-point dtype, such as float16; use IInfo for integers"})
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
	panic(&Error{Op: "iinfo", DTypes: []DType{d}, Why: "want int64, int32, int16, int8 or uint8; use FInfo for floating-point dtypes"})
}

// String returns the numbers on one line.
func (i IntInfo) String() string { return fmt.Sprintf("%v: %d to %d", i.DType, i.Min, i.Max) }
