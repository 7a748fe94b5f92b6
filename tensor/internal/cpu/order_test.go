package cpu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
)

// The definitions of the orders of sums, written independently and without regard to speed.

func definedSum(x []float32) float32 {
	var partial []float32
	for len(x) > 0 {
		n := min(len(x), 1024)
		var lane [16]float32
		for i, v := range x[:n] {
			lane[i%16] += v
		}
		for _, h := range []int{8, 4, 2, 1} {
			for l := range h {
				lane[l] += lane[l+h]
			}
		}
		partial, x = append(partial, lane[0]), x[n:]
	}
	var joined func(p []float32) float32
	joined = func(p []float32) float32 {
		switch len(p) {
		case 0:
			return 0
		case 1:
			return p[0]
		}
		h := 1
		for h*2 < len(p) {
			h *= 2
		}
		return joined(p[:h]) + joined(p[h:])
	}
	return joined(partial)
}

func definedProduct(x, y []float32, depth int, pairs bool) float32 {
	var sum float32
	for k0 := 0; k0 < len(x); k0 += depth {
		var part float32
		end := min(k0+depth, len(x))
		for k := k0; k < end; k++ {
			at := k
			if pairs && k0+(k-k0)^1 < end {
				at = k0 + (k - k0) ^ 1
			}
			part = exactFMA(x[at], y[at], part)
		}
		if k0 == 0 {
			sum = part
		} else {
			sum += part
		}
	}
	return sum
}

// exactFMA returns a*b + c rounded once, by way of numbers of any precision.
func exactFMA(a, b, c float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(x)) }
	r := exact(a)
	r.Mul(r, exact(b))
	f, _ := r.Add(r, exact(c)).Float32()
	return f
}

// TestFMA compares with exact numbers, at random and where two roundings differ from
// one: sums that lie halfway between two float32, and beside it.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200000 {
		a, b, c := r.Float32()-0.5, r.Float32()-0.5, r.Float32()-0.5
		switch i % 4 {
		case 1: // c is far larger or smaller
			c *= float32(math.Ldexp(1, r.IntN(120)-60))
		case 2: // the sum lies halfway, give or take a little
			a, b = 1+float32(r.IntN(8))*0x1p-12, 1+float32(r.IntN(8))*0x1p-12
			c = float32(math.Ldexp(1+float64(r.IntN(64))*0x1p-23, 24+r.IntN(8)))
		case 3: // near the smallest
			a, b, c = a*0x1p-70, b*0x1p-60, c*float32(math.Ldexp(1, -124-r.IntN(20)))
		}
		want := exactFMA(a, b, c)
		for _, got := range []float32{fma(a, b, c), fmaEmulated(a, b, c)} {
			if got != want {
				t.Fatalf("%x * %x + %x: got %x, want %x", a, b, c, got, want)
			}
		}
	}
}

func vector(t *testing.T, b *Backend, x ...float32) driver.View {
	t.Helper()
	buf, err := b.Alloc(4 * len(x))
	if err != nil {
		t.Fatal(err)
	}
	copy(elements[float32](bufferOf(buf)), x)
	return driver.View{Buffer: buf, DType: driver.Float32, Shape: []int{len(x)}, Stride: []int{1}}
}

func numbers(n int) []float32 {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestSumOrder(t *testing.T) {
	b := New(2)
	for _, n := range []int{1, 15, 16, 17, 1000, 1024, 1025, 3000, 5 * 1024, 7*1024 + 1, 100000} {
		x := numbers(n)
		out := vector(t, b, 0)
		b.Run(driver.Kernel{Code: driver.Sum}, out, vector(t, b, x...))
		got, want := elements[float32](bufferOf(out.Buffer))[0], definedSum(x)
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Errorf("sum of %d: got %v, want %v", n, got, want)
		}
	}
}

func TestProductOrder(t *testing.T) {
	b := New(2)
	const m, n = 5, 3
	for _, k := range []int{1, 511, 512, 513, 1024, 1025, 3000} {
		for _, d := range []driver.DType{driver.Float32, driver.Float16, driver.BFloat16} {
			a, c := vector(t, b, numbers(m*k)...), vector(t, b, numbers(k*n)...)
			a.Shape, a.Stride = []int{m, k}, []int{k, 1}
			c.Shape, c.Stride = []int{k, n}, []int{1, k}
			depth := 512
			if d == driver.BFloat16 {
				depth = 1024
			}
			if d != driver.Float32 {
				a, c = rounded(b, a, d), rounded(b, c, d)
			}
			out := vector(t, b, make([]float32, m*n)...)
			out.Shape, out.Stride = []int{m, n}, []int{n, 1}
			b.Run(driver.Kernel{Code: driver.Matmul}, out, a, c)
			wideA, wideC := elementsOf(b, a), elementsOf(b, c)
			for i := range m {
				for j := range n {
					row, column := wideA[i*k:][:k], make([]float32, k)
					for p := range column {
						column[p] = wideC[p*n+j]
					}
					got, want := elements[float32](bufferOf(out.Buffer))[i*n+j], definedProduct(row, column, depth, d == driver.BFloat16)
					if math.Float32bits(got) != math.Float32bits(want) {
						t.Errorf("%v, k = %d: element %d, %d: got %v, want %v", d, k, i, j, got, want)
					}
				}
			}
		}
	}
}

// rounded returns v in a 16-bit dtype, densely.
func rounded(b *Backend, v driver.View, d driver.DType) driver.View {
	buf, _ := b.Alloc(v.Len() * d.Size())
	to := driver.View{Buffer: buf, DType: d, Shape: v.Shape, Stride: []int{v.Shape[1], 1}}
	b.Run(driver.Kernel{Code: driver.Copy}, to, v)
	return to
}

// elementsOf returns v's elements in row-major order, as float32.
func elementsOf(b *Backend, v driver.View) []float32 {
	buf, _ := b.Alloc(4 * v.Len())
	to := driver.View{Buffer: buf, DType: driver.Float32, Shape: v.Shape, Stride: []int{v.Shape[1], 1}}
	b.Run(driver.Kernel{Code: driver.Copy}, to, v)
	return elements[float32](bufferOf(buf))
}
