package tensor

import "halfnote/tensor/driver"

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
		panic(&Error{Op: op, DTypes: []DType{d}, Why: "unknown dtype; want one of tensor.DTypes()"})
	}
}

// wideOf returns the dtype that arithmetic on d is computed in.
func wideOf(d DType) DType { return d.Wide() }
