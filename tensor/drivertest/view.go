package drivertest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// strategy is the layout of a view's elements in its buffer.
type strategy int

const (
	dense    strategy = iota // row-major
	reversed                 // column-major
	gaps                     // every second element from the third on
	repeated                 // the first axis has stride 0; for operands only
	scalar                   // all axes have stride 0; for operands only
)

var strategies = []strategy{dense, reversed, gaps, repeated, scalar}

// layoutsOf returns the layouts to test for a shape: all layouts for a small shape, and one for a shape
// that is only large to keep several workers busy.
func layoutsOf(shape []int) []strategy {
	if (driver.View{Shape: shape}).Len() > 5000 {
		return strategies[:1]
	}
	return strategies
}

func (s strategy) String() string {
	return [...]string{"dense", "reversed", "gaps", "repeated", "scalar"}[s]
}

// hole is the byte in the gaps of a view. Kernels must not change it.
const hole = 0xa5

func newView(t testing.TB, b driver.Backend, d driver.DType, shape []int, s strategy) driver.View {
	t.Helper()
	v := driver.View{DType: d, Shape: shape, Stride: make([]int, len(shape))}
	n := 1
	if s == gaps {
		n, v.Offset = 2, 3
	}
	for i := range shape {
		axis := len(shape) - 1 - i
		if s == reversed {
			axis = i
		}
		if s == scalar || s == repeated && axis == 0 {
			continue
		}
		v.Stride[axis] = n
		n *= shape[axis]
	}
	size := (v.Offset + n + 2) * d.Size()
	var err error
	if v.Buffer, err = b.Alloc(size); err != nil {
		t.Fatal(err)
	}
	b.Write(v.Buffer, 0, bytes.Repeat([]byte{hole}, size))
	return v
}

// place returns a view with elements x, in row-major order, repeated as needed.
func place(t testing.TB, b driver.Backend, d driver.DType, shape []int, s strategy, x []float64) driver.View {
	t.Helper()
	v := newView(t, b, d, shape, s)
	set(b, v, x)
	return v
}

// set sets the elements of v to x, rounded to its dtype.
func set(b driver.Backend, v driver.View, x []float64) {
	p := make([]byte, v.Buffer.Bytes())
	b.Read(p, v.Buffer, 0)
	for i, at := range indices(v) {
		encode(p[at*v.DType.Size():], v.DType, x[i%len(x)])
	}
	b.Write(v.Buffer, 0, p)
}

// values returns the elements of v in row-major order.
func values(b driver.Backend, v driver.View) []float64 {
	p := make([]byte, v.Buffer.Bytes())
	b.Read(p, v.Buffer, 0)
	x := make([]float64, v.Len())
	for i, at := range indices(v) {
		x[i] = decode(p[at*v.DType.Size():], v.DType)
	}
	return x
}

// checkHoles fails if a byte outside the elements of v was written.
func checkHoles(t testing.TB, b driver.Backend, v driver.View) {
	t.Helper()
	p := make([]byte, v.Buffer.Bytes())
	b.Read(p, v.Buffer, 0)
	for _, at := range indices(v) {
		for i := range v.DType.Size() {
			p[at*v.DType.Size()+i] = hole
		}
	}
	for i, x := range p {
		if x != hole {
			t.Errorf("byte %d outside all elements was written", i)
			return
		}
	}
}

// indices returns the buffer positions of the elements of v, in row-major order.
func indices(v driver.View) []int {
	list := []int{v.Offset}
	for axis, n := range v.Shape {
		next := make([]int, 0, len(list)*n)
		for _, at := range list {
			for i := range n {
				next = append(next, at+i*v.Stride[axis])
			}
		}
		list = next
	}
	return list
}

func encode(p []byte, d driver.DType, x float64) {
	switch d {
	case driver.Float16:
		binary.NativeEndian.PutUint16(p, half.Float16bits(float32(x)))
	case driver.BFloat16:
		binary.NativeEndian.PutUint16(p, half.BFloat16bits(float32(x)))
	case driver.Float32:
		binary.NativeEndian.PutUint32(p, math.Float32bits(float32(x)))
	case driver.Float64:
		binary.NativeEndian.PutUint64(p, math.Float64bits(x))
	case driver.Float8E4M3:
		half.ToFloat8E4M3(p[:1], []float32{float32(x)})
	case driver.Float8E5M2:
		half.ToFloat8E5M2(p[:1], []float32{float32(x)})
	case driver.Int64:
		binary.NativeEndian.PutUint64(p, uint64(whole(x)))
	case driver.Int32:
		binary.NativeEndian.PutUint32(p, uint32(whole(x)))
	case driver.Int16:
		binary.NativeEndian.PutUint16(p, uint16(whole(x)))
	case driver.Int8, driver.Uint8:
		p[0] = uint8(whole(x))
	case driver.Bool:
		p[0] = uint8(truth(x != 0))
	}
}

// whole returns x as an integer, or the smallest integer if x is out of range.
func whole(x float64) int64 {
	if x != x || x < -0x1p63 || x >= 0x1p63 {
		return math.MinInt64
	}
	return int64(x)
}

func decode(p []byte, d driver.DType) float64 {
	switch d {
	case driver.Float16:
		return float64(half.Float16frombits(binary.NativeEndian.Uint16(p)))
	case driver.BFloat16:
		return float64(half.BFloat16frombits(binary.NativeEndian.Uint16(p)))
	case driver.Float32:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(p)))
	case driver.Float8E4M3, driver.Float8E5M2:
		var x [1]float32
		if d == driver.Float8E4M3 {
			half.FromFloat8E4M3(x[:], p[:1])
		} else {
			half.FromFloat8E5M2(x[:], p[:1])
		}
		return float64(x[0])
	case driver.Int64:
		return float64(int64(binary.NativeEndian.Uint64(p)))
	case driver.Int32:
		return float64(int32(binary.NativeEndian.Uint32(p)))
	case driver.Int16:
		return float64(int16(binary.NativeEndian.Uint16(p)))
	case driver.Int8:
		return float64(int8(p[0]))
	case driver.Uint8, driver.Bool:
		return float64(p[0])
	}
	return math.Float64frombits(binary.NativeEndian.Uint64(p))
}

// round returns x rounded to d. For a d of 16 bits x is first rounded to float32.
func round(d driver.DType, x float64) float64 {
	var p [8]byte
	encode(p[:], d, x)
	return decode(p[:], d)
}

// wide returns the dtype of arithmetic on d.
func wide(d driver.DType) driver.DType {
	if d == driver.Float64 {
		return d
	}
	return driver.Float32
}

// ulp returns the distance between neighbours in d at x.
func ulp(d driver.DType, x float64) float64 {
	digits, least := 24, -149 // bits of the fraction with its leading one; smallest exponent
	switch d {
	case driver.Float16:
		digits, least = 11, -24
	case driver.BFloat16:
		digits, least = 8, -133
	case driver.Float64:
		digits, least = 53, -1074
	}
	if x == 0 {
		return math.Ldexp(1, least)
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-digits, least))
}

// equal reports whether two values are the same. NaN equals NaN, and zeros differ by sign.
func equal(a, b float64) bool {
	return a == b && math.Signbit(a) == math.Signbit(b) || math.IsNaN(a) && math.IsNaN(b)
}

var randoms sync.Map

// random returns n numbers, some of moderate and some of very different magnitudes. The slice is shared and
// must not be changed.
func random(n int) []float64 {
	if x, ok := randoms.Load(n); ok {
		return x.([]float64)
	}
	r := rand.New(rand.NewPCG(1, uint64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
		if i%5 == 4 {
			x[i] *= math.Ldexp(1, r.IntN(30)-20)
		}
	}
	randoms.Store(n, x)
	return x
}

// shapes are shapes that kernels often get wrong: empty, one element, odd, long, many axes.
var shapes = [][]int{{}, {0}, {1}, {7}, {1, 1}, {3, 0, 2}, {2, 3}, {5, 1, 4}, {3, 1025}, {1025, 3}, {2, 3, 4, 5}, {70001}, {2, 1, 2, 1, 2, 1, 2, 1, 2, 2}}

func name(parts ...any) string {
	s := ""
	for i, p := range parts {
		if i > 0 {
			s += "/"
		}
		s += fmt.Sprint(p)
	}
	return s
}
