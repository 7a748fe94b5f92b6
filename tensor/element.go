package tensor

import (
	"math"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// Single elements in memory that the host can address are read and written without a kernel, with
// the bits that a kernel would give.

// accessor returns t's backend if its elements can be read and written directly.
func (t *Tensor) accessor() (driver.Accessor, bool) {
	if t.mem.origin != nil { // read through nearest
		return nil, false
	}
	a, ok := t.mem.backend.(driver.Accessor)
	return a, ok
}

// element returns the element at an offset in t's memory, as [Tensor.Float64s] converts it.
func (t *Tensor) element(offset int) float64 {
	a, ok := t.accessor()
	if !ok {
		return t.alias(offset, []int{}, []int{}).Float64s()[0]
	}
	driver.Poll()
	size := t.dtype.Size()
	return decoded(t.dtype, a.Load(t.mem.buffer, offset*size, size))
}

// elements returns the elements of a short tensor in row-major order, or nil if a kernel reads them
// faster.
func (t *Tensor) elements() []float64 {
	const short = 256
	n := t.Numel()
	if n > short || n == 0 {
		return nil
	}
	a, ok := t.accessor()
	if !ok {
		return nil
	}
	driver.Poll()
	list := make([]float64, n)
	size := t.dtype.Size()
	var room [8]int
	index := room[:]
	if len(t.shape) > len(room) {
		index = make([]int, len(t.shape))
	}
	offset := t.offset
	for i := range list {
		list[i] = decoded(t.dtype, a.Load(t.mem.buffer, offset*size, size))
		for d := len(t.shape) - 1; d >= 0; d-- {
			offset += t.stride[d]
			if index[d]++; index[d] < t.shape[d] {
				break
			}
			offset -= t.stride[d] * t.shape[d]
			index[d] = 0
		}
	}
	return list
}

// elementAt returns the offset in t's memory of the element that the items of [Tensor.Index] select,
// if they are one int in range per dimension.
func (t *Tensor) elementAt(at []any) (offset int, ok bool) {
	if len(at) != len(t.shape) {
		return 0, false
	}
	offset = t.offset
	for d, a := range at {
		i, ok := a.(int)
		if !ok || i < -t.shape[d] || i >= t.shape[d] {
			return 0, false
		}
		if i < 0 {
			i += t.shape[d]
		}
		offset += i * t.stride[d]
	}
	return offset, true
}

// setElement sets the element at an offset in t's memory to a bool, int or float64. It reports false
// if only a kernel can: observers see the kernel, and it rounds integers of many digits.
func (t *Tensor) setElement(offset int, value any) bool {
	a, ok := t.accessor()
	if !ok || observers.load() != nil {
		return false
	}
	var x float64
	switch v := value.(type) {
	case bool:
		if v {
			x = 1
		}
	case int:
		if x = float64(v); v < -1<<24 || v > 1<<24 {
			return false
		}
	case float64:
		x = v
	}
	driver.Poll()
	size := t.dtype.Size()
	a.Store(t.mem.buffer, offset*size, size, encoded(t.dtype, x))
	return true
}

// decoded returns the value of an element, given its bits.
func decoded(d DType, bits uint64) float64 {
	switch d {
	case Float64:
		return math.Float64frombits(bits)
	case Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case Float16:
		return float64(half.Float16frombits(uint16(bits)))
	case BFloat16:
		return float64(half.BFloat16frombits(uint16(bits)))
	case Float8E4M3:
		return small(half.FromFloat8E4M3, uint8(bits))
	case Float8E5M2:
		return small(half.FromFloat8E5M2, uint8(bits))
	case Int64:
		return float64(int64(bits))
	case Int32:
		return float64(int32(bits))
	case Int16:
		return float64(int16(bits))
	case Int8:
		return float64(int8(bits))
	default: // Uint8, Bool
		return float64(uint8(bits))
	}
}

func small(from func(dst []float32, src []uint8), bits uint8) float64 {
	var x [1]float32
	from(x[:], []uint8{bits})
	return float64(x[0])
}

// encoded returns the bits of x as an element: rounded to a floating-point dtype, by float32 to a
// smaller one, or truncated to an integer.
func encoded(d DType, x float64) uint64 {
	switch d {
	case Float64:
		return math.Float64bits(x)
	case Float32:
		return uint64(math.Float32bits(float32(x)))
	case Float16:
		return uint64(half.Float16bits(float32(x)))
	case BFloat16:
		return uint64(half.BFloat16bits(float32(x)))
	case Float8E4M3:
		return tiny(half.ToFloat8E4M3, x)
	case Float8E5M2:
		return tiny(half.ToFloat8E5M2, x)
	case Bool:
		if x != 0 {
			return 1
		}
		return 0
	default:
		return uint64(int64(x))
	}
}

func tiny(to func(dst []uint8, src []float32), x float64) uint64 {
	var bits [1]uint8
	to(bits[:], []float32{float32(x)})
	return uint64(bits[0])
}
