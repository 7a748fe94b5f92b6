package cpu

import (
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
)

// Definitions of the orders of sums, written independently of the kernels, for clarity rather than
// speed.

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

func definedProduct(x, y []float32, depth int) float32 {
	var sum float32
	for k0 := 0; k0 < len(x); k0 += depth {
		var part float32
		for k := k0; k < min(k0+depth, len(x)); k++ {
			part = exactFMA(x[k], y[k], part)
		}
		if k0 == 0 {
			sum = part
		} else {
			sum += part
		}
	}
	return sum
}

// definedBlocks returns the product of bfloat16 vectors: factors are padded with zeros to blocks of 16
// pairs, and the first and the second elements of pairs are summed separately.
func definedBlocks(x, y []float32) float32 {
	var c float32
	for ; len(x) > 0; x, y = x[min(32, len(x)):], y[min(32, len(y)):] {
		var a, b [16][2]float32
		for k := range min(32, len(x)) {
			a[k/2][k%2], b[k/2][k%2] = x[k], y[k]
		}
		var first, second float32
		for p := range 16 {
			first = flushingFMA(a[p][0], b[p][0], first)
			second = flushingFMA(a[p][1], b[p][1], second)
		}
		c = flushingFMA(1, flushingFMA(1, first, second), c)
	}
	return c
}

// flushingFMA returns a*b + c rounded once to 24 bits, where factors and results below 2^-126 are
// flushed to zero.
func flushingFMA(a, b, c float32) float32 {
	const least = 0x1p-126
	list := [3]float64{float64(a), float64(b), float64(c)}
	for i, v := range list {
		if math.IsInf(v, 0) || v != v {
			zero := func(x float64) float64 {
				if math.Abs(x) < least {
					return math.Copysign(0, x)
				}
				return x
			}
			return float32(zero(list[0])*zero(list[1]) + zero(list[2]))
		}
		if math.Abs(v) < least {
			list[i] = math.Copysign(0, v)
		}
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(900).SetFloat64(x) }
	r := exact(list[0])
	r.Add(r.Mul(r, exact(list[1])), exact(list[2])).SetPrec(24)
	if f, _ := r.Float64(); math.Abs(f) < least {
		return float32(math.Copysign(0, f))
	}
	f, _ := r.Float32()
	return f
}

// exactFMA returns a*b + c rounded once, computed with arbitrary precision.
func exactFMA(a, b, c float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(x)) }
	r := exact(a)
	r.Mul(r, exact(b))
	f, _ := r.Add(r, exact(c)).Float32()
	return f
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
					got, want := elements[float32](bufferOf(out.Buffer))[i*n+j], definedProduct(row, column, 512)
					if d == driver.BFloat16 {
						want = definedBlocks(row, column)
					}
					if math.Float32bits(got) != math.Float32bits(want) {
						t.Errorf("%v, k = %d: element %d, %d: got %v, want %v", d, k, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestBFloat16Products compares products of bfloat16 of all magnitudes, including infinities and NaN,
// with their definition. Lengths are near those of a slot, a block and a packed panel, in all layouts,
// and also with few rows and columns, which use other kernels.
func TestBFloat16Products(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	lengths := []int{1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 28, 29, 30, 31, 32, 33, 34, 35, 36, 48, 61, 62, 63, 64, 65, 67, 96, 100, 1022, 1023, 1024, 1025, 1026, 1055, 1056, 1057, 2048, 2050}
	for i, k := range append(lengths, lengths...) {
		c := productCase{dtype: driver.BFloat16, to: driver.Float32, batch: 1 + i%2, m: 1 + r.IntN(18), n: 1 + r.IntN(40), k: k, orders: [3]int{r.IntN(4), r.IntN(4), r.IntN(4)}}
		if k > 100 { // the definition is slow
			c.batch, c.m, c.n = 1, 14+r.IntN(3), 1+r.IntN(6)
		}
		if i%5 == 4 {
			c.m, c.orders[1] = 1+r.IntN(4), 1
		}
		words := magnitudes(r, driver.BFloat16, i%3 == 0, 20000)
		if i%3 == 1 { // near 1, so that other orders give other bits
			for q := range words {
				words[q] = r.Uint32()&0x807f | (124+r.Uint32()&7)<<7
			}
		}
		wide := func(i int) float32 { return math.Float32frombits(words[i%len(words)] << 16) }
		column := make([]float32, k)
		var want []uint32
		for b := range c.batch {
			for i := range c.m {
				row := make([]float32, k)
				for p := range row {
					row[p] = wide((b*c.m+i)*k + p)
				}
				for j := range c.n {
					for p := range column {
						column[p] = wide(7000 + ((b*k+p)*c.n+j)%(len(words)-7000))
					}
					bits := math.Float32bits(definedBlocks(row, column))
					if bits&0x7fffffff > 0x7f800000 {
						bits = math.MaxUint32
					}
					want = append(want, bits)
				}
			}
		}
		for _, tier := range append(testTiers(), nil) {
			b := on(1+r.IntN(2), tier)
			for q, got := range c.run(t, b, words) {
				if got != want[q] {
					t.Errorf("%s: %+v: element %d: got bits %08x, want %08x", b.Tier(), c, q, got, want[q])
					break
				}
			}
		}
	}
}

// TestBFloat16Flushing checks the effect of zeros that pad the last block, and which numbers are flushed
// to zero.
func TestBFloat16Flushing(t *testing.T) {
	tiny := map[int]float64{0: 0x1.8p-126, 32: -0x1.cp-126} // C is -0 after two blocks
	with := func(more map[int]float64) map[int]float64 {
		all := maps.Clone(tiny)
		maps.Copy(all, more)
		return all
	}
	for _, c := range []struct {
		name     string
		k        int
		products map[int]float64 // products by index along k; the others are 0
		want     uint32
	}{
		{"two blocks", 64, tiny, 0x80000000},
		{"third block of -0", 96, with(map[int]float64{94: -0x1p-130, 95: -0x1p-130}), 0x80000000},
		{"third block with one sum of 0", 96, with(map[int]float64{94: -0x1p-130}), 0},
		{"padded from the third element on", 66, with(map[int]float64{64: -0x1p-130, 65: -0x1p-130}), 0},
		{"padded in the last element", 95, with(map[int]float64{93: -0x1p-130, 94: -0x1p-130}), 0},
		{"padded from the second element on", 65, with(map[int]float64{64: -0x1p-130}), 0},
		{"padded by slots", 92, with(map[int]float64{90: -0x1p-130, 91: -0x1p-130}), 0},
		{"smallest normal number", 3, map[int]float64{0: 0x1p-126}, 0x00800000},
		{"rounded up to the smallest normal number", 3, map[int]float64{0: 0x1p-126, 2: -0x1p-151}, 0x00800000},
		{"below the smallest normal number after rounding to 24 bits", 3, map[int]float64{0: 0x1p-126, 2: -0x1.8p-151}, 0},
		{"largest negative normal number", 3, map[int]float64{1: -0x1p-126, 0: 0}, 0x80800000},
		{"infinity", 40, map[int]float64{0: 0x1p127, 2: 0x1p127}, 0x7f800000},
		{"large products in different sums", 2, map[int]float64{0: 0x1p127, 1: -0x1p127}, 0},
	} {
		x, y := make([]float32, c.k), make([]float32, c.k)
		for k, v := range c.products { // split into two bfloat16
			f, e := math.Frexp(v)
			x[k], y[k] = float32(math.Ldexp(f, e/2)), float32(math.Ldexp(1, e-e/2))
		}
		if got := math.Float32bits(definedBlocks(x, y)); got != c.want {
			t.Errorf("%s: definition: got bits %08x, want %08x", c.name, got, c.want)
		}
		for _, tier := range append(testTiers(), nil) {
			b := on(1, tier)
			a, w := vector(t, b, x...), vector(t, b, y...)
			a.Shape, a.Stride = []int{1, c.k}, []int{c.k, 1}
			w.Shape, w.Stride = []int{c.k, 1}, []int{1, 1}
			for _, rows := range []int{1, 20} { // all rows are equal
				a, w := rounded(b, a, driver.BFloat16), rounded(b, w, driver.BFloat16)
				a.Shape, a.Stride = []int{rows, c.k}, []int{0, 1}
				w.Shape, w.Stride = []int{c.k, 2 * rows}, []int{1, 0}
				out := vector(t, b, make([]float32, 2*rows*rows)...)
				out.Shape, out.Stride = []int{rows, 2 * rows}, []int{2 * rows, 1}
				b.Run(driver.Kernel{Code: driver.Matmul}, out, a, w)
				for i, v := range elements[float32](bufferOf(out.Buffer))[:2*rows*rows] {
					if got := math.Float32bits(v); got != c.want {
						t.Errorf("%s: %s, %d rows: element %d: got bits %08x, want %08x", b.Tier(), c.name, rows, i, got, c.want)
						break
					}
				}
			}
		}
	}
}

// rounded returns v converted to a 16-bit dtype, contiguous.
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
