package tensor

import (
	"fmt"
	"math"
	"testing"
)

// patterns returns a vector of elements of a dtype: all bit patterns of a small one, and numbers
// between which every kind of number of a large one occurs.
func patterns(d DType) *Tensor {
	bytes := make([]byte, 0, 1<<20)
	for i := range uint64(1 << 16) {
		bits := i
		switch d.Size() {
		case 1:
			if d == Bool {
				bits &= 1
			}
		case 4:
			bits = i * 0x1000193
		case 8:
			bits = i * 0x9e3779b97f4a7c15
		}
		for b := range d.Size() {
			bytes = append(bytes, byte(bits>>(8*b)))
		}
	}
	return FromBytes(d, bytes)
}

// TestElements checks that At, Item and the Float64s of short tensors, which read memory directly, give
// the bits that the kernel gives which converts a long tensor.
func TestElements(t *testing.T) {
	for _, d := range DTypes() {
		x := patterns(d)
		want := x.Float64s()
		n := len(want)
		for i, w := range want {
			if got := x.At(i - n); math.Float64bits(got) != math.Float64bits(w) {
				t.Fatalf("%v: At(%d): got %v (%x), want %v (%x)", d, i-n, got, math.Float64bits(got), w, math.Float64bits(w))
			}
		}
		m := x.Slice(0, 100, 164).Reshape(2, 2, 2, 2, 2, 1, 1, 1, 2)
		for name, y := range map[string]*Tensor{
			"whole": m, "transposed": m.Transpose(0, 8), "every third": x.SliceStep(0, 300, 600, 3),
			"expanded": x.Slice(0, 100, 104).Expand(3, 4), "a scalar": x.Select(0, 77), "empty": x.Slice(0, 5, 5),
		} {
			kernel := contents[float64](convert(y, Float64))
			for i, got := range y.Float64s() {
				if math.Float64bits(got) != math.Float64bits(kernel[i]) {
					t.Errorf("%v, %s: element %d is %v, want %v", d, name, i, got, kernel[i])
				}
			}
			if len(kernel) != len(y.Float64s()) || len(kernel) == 1 && math.Float64bits(y.Item()) != math.Float64bits(kernel[0]) {
				t.Errorf("%v, %s: got %v, want %v", d, name, y.Float64s(), kernel)
			}
		}
	}
}

// TestSetElement checks that Set of one element, which writes memory directly, gives the bits that the
// kernels give.
func TestSetElement(t *testing.T) {
	values := []any{true, false, 0, 1, -1, 7, 100, -100, 2049, 1<<24 + 1, 0.0, math.Copysign(0, -1), .1, -.7, 1.5, 2.5, 1e-8, 3e-5, 1e-40, 1e-310, 1.0009765625,
		1.00048828125, 1.000488281250001, 64000.0, 440.0, 3.3e38, math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.Pi, 255, 127, 32767}
	for _, d := range DTypes() {
		set := 0
		for _, v := range values {
			try := func(f func(x *Tensor)) (bits string) {
				x := Ones(2, 3).To(d).T()
				defer func() {
					if r := recover(); r != nil {
						bits = fmt.Sprint(r)
					}
				}()
				f(x)
				return fmt.Sprintf("%x", x.Bits())
			}
			want := try(func(x *Tensor) {
				defer Observe(func(Event) {})()
				x.Set(v, -1, 1)
			})
			if got := try(func(x *Tensor) { x.Set(v, 2, -1) }); got != want {
				t.Errorf("%v, %v: got %v, want %v", d, v, got, want)
			} else if got[0] == '[' {
				set++
			}
		}
		if set < 8 {
			t.Errorf("%v: %d of the values were set, want more", d, set)
		}
	}
	x := Ones(2, 2)
	version := x.Version()
	if x.Set(3, 0, 0).Set(4.5, 1, 1); x.Version() != version+2 || x.At(0, 0) != 3 || x.At(1, 1) != 4.5 {
		t.Errorf("got %v of version %d, want two changes from version %d", x, x.Version(), version)
	}
}

// TestElementAllocations checks that reading one element allocates nothing.
func TestElementAllocations(t *testing.T) {
	for _, d := range DTypes() {
		x, one := Ones(40, 50).To(d), Ones(1).To(d)
		sum := 0.0
		if n := testing.AllocsPerRun(100, func() { sum += x.At(39, 1) }); n != 0 {
			t.Errorf("%v: At allocates %v times", d, n)
		}
		if n := testing.AllocsPerRun(100, func() { sum += one.Item() }); n != 0 {
			t.Errorf("%v: Item allocates %v times", d, n)
		}
	}
}

func BenchmarkElement(b *testing.B) {
	x, one := Rand(100, 100), Rand(1)
	few := Rand(10)
	halves := Rand(100, 100).Half()
	sum := 0.0
	for name, f := range map[string]func(i int){
		"At":            func(i int) { sum += x.At(i%100, 3) },
		"At of float16": func(i int) { sum += halves.At(i%100, 3) },
		"Item":          func(int) { sum += one.Item() },
		"Float64s":      func(int) { sum += few.Float64s()[0] },
		"Set":           func(i int) { x.Set(.5, i%100, 3) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				f(i)
			}
		})
	}
}
