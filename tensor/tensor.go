package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

// Tensor is an array of one dtype on one device: torch.Tensor. Operations return new tensors;
// only methods whose names end in Assign, and Fill, Zero, Set and SetData, change one.
// Concurrent reads of a tensor are safe; concurrent changes are not.
type Tensor struct {
	mem    *storage
	dtype  DType
	offset int
	shape  []int
	stride []int
	id     uint64
	isView bool
	frozen bool // view, made inside NoGrad, of a tensor that requires a gradient: it changes in place only there

	v    *vertex // place on the tape, nil if the tensor needs no gradient
	grad *Tensor
}

// newTensor returns a zeroed tensor.
func newTensor(b driver.Backend, d DType, shape []int) *Tensor {
	return &Tensor{
		mem: newStorage("new", b, d, shape, false), dtype: d,
		shape: shape, stride: rowMajor(shape), id: ids.Add(1),
	}
}

// unsetTensor is newTensor for results: the elements are uninitialised until a kernel sets all
// of them.
func unsetTensor(b driver.Backend, d DType, shape []int) *Tensor {
	return &Tensor{
		mem: newStorage("new", b, d, shape, true), dtype: d,
		shape: shape, stride: rowMajor(shape), id: ids.Add(1),
	}
}

// alias returns a view of t's memory.
func (t *Tensor) alias(offset int, shape, stride []int) *Tensor {
	return &Tensor{mem: t.mem, dtype: t.dtype, offset: offset, shape: shape, stride: stride, id: ids.Add(1), isView: true}
}

// Shape returns a copy of the sizes; a scalar has none.
func (t *Tensor) Shape() []int {
	t.given("shape")
	return slices.Clone(t.shape)
}

// Dim returns the number of dimensions, 0 for a scalar.
func (t *Tensor) Dim() int {
	t.given("dim")
	return len(t.shape)
}

// Size returns the size of dimension dim. Negative dimensions count from the end: -1 is the
// last.
func (t *Tensor) Size(dim int) int {
	t.given("size")
	return t.shape[axis("size", t, dim, len(t.shape))]
}

// Stride returns a copy of how many elements lie from one to the next along each dimension.
// It is torch.Tensor.stride.
func (t *Tensor) Stride() []int {
	t.given("stride")
	return slices.Clone(t.stride)
}

// Numel returns the number of elements.
func (t *Tensor) Numel() int {
	t.given("numel")
	return size(t.shape)
}

// DType returns the element type.
func (t *Tensor) DType() DType {
	t.given("dtype")
	return t.dtype
}

// Device returns the device that holds t.
func (t *Tensor) Device() Device {
	t.given("device")
	return Device(t.mem.backend.Name())
}

// Bytes returns the size of t's elements in bytes, even if t is a view.
func (t *Tensor) Bytes() int {
	t.given("bytes")
	return t.Numel() * t.dtype.Size()
}

// ID returns a number that is unique in this process.
func (t *Tensor) ID() int {
	t.given("id")
	return int(t.id)
}

// Version returns the number of changes in place of t's memory, which views share.
func (t *Tensor) Version() int {
	t.given("version")
	return int(t.mem.version.Load())
}

// IsView reports whether t was made as a view of another tensor.
func (t *Tensor) IsView() bool {
	t.given("is_view")
	return t.isView
}

// IsContiguous reports whether t's elements are in row-major order without gaps.
func (t *Tensor) IsContiguous() bool {
	t.given("is_contiguous")
	return t.view().Contiguous()
}

func (t *Tensor) view() driver.View {
	return driver.View{Buffer: t.mem.buffer, DType: t.dtype, Offset: t.offset, Shape: t.shape, Stride: t.stride}
}

// Item returns the value of a tensor of one element. It is torch.Tensor.item.
func (t *Tensor) Item() float64 {
	t.given("item")
	if t.Numel() != 1 {
		fail("item", []*Tensor{t}, "the tensor has %d elements; want 1", t.Numel())
	}
	if calls.load() != nil {
		note(call{Name: "item", Tensors: []*Tensor{t}})
	}
	return t.element(t.offset)
}

// At returns the element at index, which has one number per dimension. Negative numbers count
// from the end.
func (t *Tensor) At(index ...int) float64 {
	t.given("at")
	if len(index) != len(t.shape) {
		fail("at", []*Tensor{t}, "the number of indices is %d; want %d", len(index), len(t.shape))
	}
	offset := t.offset
	for i, x := range index {
		if x < -t.shape[i] || x >= t.shape[i] {
			fail("at", []*Tensor{t}, "index %d is out of range for dimension %d; want %d to %d", x, i, -t.shape[i], t.shape[i]-1)
		}
		if x < 0 {
			x += t.shape[i]
		}
		offset += x * t.stride[i]
	}
	return t.element(offset)
}

// Int64s returns a copy of the elements, truncated to integers, in row-major order.
func (t *Tensor) Int64s() []int64 {
	t.given("int64s")
	return contents[int64](convert(t.nearest(), Int64))
}

// Ints returns a copy of the elements, truncated to integers, in row-major order.
func (t *Tensor) Ints() []int {
	t.given("read")
	return contents[int](convert(t.nearest(), Int64)) // an int has 64 bits, as backends require
}

// Bools returns, for each element in row-major order, whether it is nonzero.
func (t *Tensor) Bools() []bool {
	t.given("read")
	out := hostSlice[bool]("read", t.Numel())
	for i, b := range convert(t.nearest(), Bool).bytes() {
		pollAt(i)
		out[i] = b != 0
	}
	return out
}

// Float64s returns a copy of the elements in row-major order. It is exact except for integers
// beyond 2^53.
func (t *Tensor) Float64s() []float64 {
	t.given("float64s")
	if list := t.elements(); list != nil {
		return list
	}
	return contents[float64](convert(t.nearest(), Float64))
}

// Rows returns a copy of the elements of a matrix, row by row.
func (t *Tensor) Rows() [][]float64 {
	t.given("rows")
	if len(t.shape) != 2 {
		fail("rows", []*Tensor{t}, "the tensor is %d-dimensional; want 2 dimensions", len(t.shape))
	}
	data, n := t.Float64s(), t.shape[1]
	rows := hostSlice[[]float64]("rows", t.shape[0])
	for i := range rows {
		pollAt(i)
		rows[i] = data[i*n : (i+1)*n : (i+1)*n]
	}
	return rows
}

// Float32s returns a copy of the elements in row-major order; float64 is rounded to float32.
func (t *Tensor) Float32s() []float32 {
	t.given("float32s")
	return contents[float32](convert(t, Float32))
}

// Bits returns the elements' bit patterns in row-major order, each in the low bits of a uint64:
// 0x3c00 is float16's 1.
func (t *Tensor) Bits() []uint64 {
	t.given("bits")
	switch x := compact(t); t.dtype.Size() {
	case 1:
		return widened(contents[uint8](x))
	case 2:
		return widened(contents[uint16](x))
	case 4:
		return widened(contents[uint32](x))
	default:
		return contents[uint64](x)
	}
}

func widened[E plain](list []E) []uint64 {
	out := hostSlice[uint64]("read", len(list))
	for i, x := range list {
		pollAt(i)
		out[i] = uint64(x)
	}
	return out
}

// bytes returns a copy of the memory of a contiguous tensor.
func (t *Tensor) bytes() []byte { return contents[byte](t) }

// setFloat64s sets the elements of a new tensor, rounded once to its dtype.
func (t *Tensor) setFloat64s(data []float64) *Tensor {
	if t.dtype == Float64 {
		return setContents(t, data)
	}
	run(driver.Kernel{Code: driver.Copy}, t, setContents(unsetTensor(t.mem.backend, Float64, t.shape), data))
	return t
}
