package tensor

import (
	"fmt"
	"math"

	"halfnote/tensor/driver"
)

// New returns a float32 tensor with data in row-major order. Without a shape it is a vector.
// Each number is rounded to nearest. It panics if the shape does not match the length of data.
// It is torch.tensor.
func New(data []float64, shape ...int) *Tensor { return NewAs(Float32, data, shape...) }

// NewAs is New with dtype d. For 16-bit dtypes, data is rounded to float32 first; values out of
// range become infinite.
func NewAs(d DType, data []float64, shape ...int) *Tensor {
	known("new", d)
	if !d.IsFloat() {
		return unsetTensor(CPU.backend(), d, dataShape(len(data), shape)).setFloat64s(data).brought()
	}
	return unsetTensor(here(), d, dataShape(len(data), shape)).setFloat64s(data)
}

// FromInt64s returns an int64 tensor with data in row-major order.
func FromInt64s(data []int64, shape ...int) *Tensor {
	return setContents(unsetTensor(CPU.backend(), Int64, dataShape(len(data), shape)), data).brought()
}

// FromInts returns an int64 tensor with data in row-major order, for example indices.
func FromInts(data []int, shape ...int) *Tensor {
	wide := hostSlice[int64]("new", len(data))
	for i, x := range data {
		wide[i] = int64(x)
	}
	return FromInt64s(wide, shape...)
}

// FromBools returns a bool tensor with data in row-major order, for example a mask.
func FromBools(data []bool, shape ...int) *Tensor {
	numbers := hostSlice[float64]("new", len(data))
	for i, x := range data {
		if x {
			numbers[i] = 1
		}
	}
	return NewAs(Bool, numbers, shape...)
}

// FromFloat32s is New for float32 data.
func FromFloat32s(data []float32, shape ...int) *Tensor {
	return setContents(unsetTensor(here(), Float32, dataShape(len(data), shape)), data)
}

func dataShape(n int, shape []int) []int {
	if len(shape) == 0 {
		return []int{n}
	}
	shape = checkShape("new", shape)
	if size(shape) != n {
		panic(named(&Error{Op: "new", Shapes: [][]int{shape}, Why: fmt.Sprintf("the shape holds %d elements; want %d, the length of the data", size(shape), n)}))
	}
	return shape
}

// Scalar returns a float32 tensor with 0 dimensions. It is torch.tensor of a number.
func Scalar(value float64) *Tensor { return NewAs(Float32, []float64{value}).Reshape() }

// Zeros returns a float32 tensor of zeros. It is torch.zeros.
func Zeros(shape ...int) *Tensor { return ZerosAs(Float32, shape...) }

// ZerosAs is Zeros with dtype d.
func ZerosAs(d DType, shape ...int) *Tensor {
	known("zeros", d)
	return newTensor(here(), d, checkShape("zeros", shape))
}

// Ones returns a float32 tensor of ones. It is torch.ones.
func Ones(shape ...int) *Tensor { return FullAs(Float32, 1, shape...) }

// OnesAs is Ones with dtype d.
func OnesAs(d DType, shape ...int) *Tensor { return FullAs(d, 1, shape...) }

// Full returns a float32 tensor filled with value. Without a shape it is a scalar. It panics if
// a finite value overflows float32. It is torch.full.
func Full(value float64, shape ...int) *Tensor { return FullAs(Float32, value, shape...) }

// FullAs is Full with dtype d. Integer dtypes truncate value; it must be in range.
func FullAs(d DType, value float64, shape ...int) *Tensor {
	known("full", d)
	checkFinite("full", d, value)
	t := unsetTensor(here(), d, checkShape("full", shape))
	run(driver.Kernel{Code: driver.Fill, Alpha: value}, t)
	return t
}

// ZerosLike returns zeros in t's shape, dtype and device. It is torch.zeros_like, and also
// torch.empty_like, whose contents are unspecified.
func ZerosLike(t *Tensor) *Tensor {
	given("zeros_like", t)
	return t.drawn(func(shape []int) *Tensor { return newTensor(t.mem.backend, t.dtype, shape) })
}

// OnesLike returns ones in t's shape, dtype and device. It is torch.ones_like.
func OnesLike(t *Tensor) *Tensor {
	given("ones_like", t)
	return ZerosLike(t).Fill(1)
}

// FullLike returns a tensor filled with value in t's shape, dtype and device. It is
// torch.full_like.
func FullLike(t *Tensor, value float64) *Tensor {
	given("full_like", t)
	return ZerosLike(t).Fill(value)
}

// RandLike returns Rand in t's shape, dtype and device. It is torch.rand_like; float32 numbers
// are the same.
func RandLike(t *Tensor) *Tensor {
	given("rand_like", t)
	return t.drawn(func(shape []int) *Tensor { return Rand(shape...).To(t.dtype).ToDevice(t.Device()) })
}

// RandnLike returns Randn in t's shape, dtype and device. It is torch.randn_like; float32
// numbers are the same.
func RandnLike(t *Tensor) *Tensor {
	given("randn_like", t)
	rows := liesInRows(t.shape, memoryOrder(t.shape, t.stride))
	return t.drawn(func(shape []int) *Tensor {
		return generator.normals(0, 1, rows, shape).To(t.dtype).ToDevice(t.Device())
	})
}

// Arange returns the float32 vector start, start+1, … up to, not including, end. It is
// torch.arange of floating-point numbers.
func Arange(start, end float64) *Tensor { return ArangeAs(Float32, start, end, 1) }

// ArangeAs returns the vector start, start+step, … up to, not including, end as dtype d.
// A negative step counts down. Each number is computed in float64 and rounded. It is
// torch.arange.
func ArangeAs(d DType, start, end, step float64) *Tensor {
	known("arange", d)
	n := math.Ceil((end - start) / step)
	if !(n >= 0 && n < 1<<53) {
		panic(named(&Error{Op: "arange", Why: fmt.Sprintf("from %v to %v by %v; want finite bounds, and a step that leads from start to end", start, end, step)}))
	}
	checkShape("arange", []int{int(n)})
	data := hostSlice[float64]("arange", int(n))
	for i := range data {
		pollAt(i)
		data[i] = start + float64(float64(i)*step)
	}
	return NewAs(d, data, len(data))
}

// Linspace returns steps evenly spaced float32 numbers from start to end, computed in float64 and
// rounded once. torch rounds intermediate values too and may differ by one unit in the last
// place. It is torch.linspace.
func Linspace(start, end float64, steps int) *Tensor {
	return spaced("linspace", start, end, steps, nil)
}

// Logspace returns steps float32 powers of base, with evenly spaced exponents from start to end. It is
// torch.logspace.
func Logspace(start, end float64, steps int, base float64) *Tensor {
	return spaced("logspace", start, end, steps, func(x float64) float64 { return math.Pow(base, x) })
}

func spaced(op string, first, last float64, n int, f func(float64) float64) *Tensor {
	data := hostSlice[float64](op, n)
	for i := range data {
		pollAt(i)
		data[i] = first
		if i > 0 {
			data[i] += float64((last - first) * float64(i) / float64(n-1))
		}
		if f != nil {
			data[i] = f(data[i])
		}
	}
	return New(data, n)
}

// Eye returns the n by n float32 identity matrix. It is torch.eye.
func Eye(n int) *Tensor { return EyeAs(Float32, n, n) }

// EyeAs returns the n by m matrix of dtype d with ones on the main diagonal. It is torch.eye.
func EyeAs(d DType, n, m int) *Tensor {
	t := ZerosAs(d, checkShape("eye", []int{n, m})...)
	k := min(n, m)
	diagonal := t.alias(0, []int{k}, []int{m + 1})
	run(driver.Kernel{Code: driver.Fill, Alpha: 1}, diagonal)
	return t
}

// checkFinite panics if a finite value overflows d, or if d is an integer dtype that cannot
// hold value. Values down to -255 wrap around in uint8, as in torch.
func checkFinite(op string, d DType, value float64) {
	low, high := 0.0, 0.0
	switch {
	case d == Bool || d.IsFloat() && math.IsInf(value, 0):
		return
	case d.IsFloat():
		low, high = -FInfo(d).Max, FInfo(d).Max
	case d == Uint8:
		low, high = -255, 255
	default:
		low, high = float64(IInfo(d).Min), min(float64(IInfo(d).Max), 0x1p63-1024)
	}
	whole := value
	if !d.IsFloat() {
		whole = math.Trunc(value)
	}
	if whole < low || whole > high || value != value && !d.IsFloat() {
		panic(named(&Error{Op: op, DTypes: []DType{d}, Why: fmt.Sprintf("%v is beyond its range; want a number from %v to %v", value, low, high)}))
	}
}
