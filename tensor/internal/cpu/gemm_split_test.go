package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/half"
)

// TestHighIsThreeProducts compares products of high precision with a product of bfloat16 of the parts, which the test writes out.
// TestTierBits and TestContractBits compare the tiers and views.
func TestHighIsThreeProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, tier := range append(testTiers(), nil) {
		b := on(2, tier)
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 31}, {20, 40, 32}, {17, 33, 33}, {40, 70, 1000}, {4, 3, 700}, {1, 90, 64}} {
			m, n, k := s[0], s[1], s[2]
			x, y := normal(r, m*k), normal(r, k*n)
			long := splitLen(k)
			parts := func(v []float32, lines int, at func(line, k int) int, low lows) []uint16 {
				out := make([]uint16, lines*long)
				for l := range lines {
					for i := range long {
						from := i/splitUnit*blockLen + i%blockLen
						if from >= k {
							continue
						}
						z := v[at(l, from)]
						h := half.BFloat16bits(z)
						if low[i%splitUnit/blockLen] {
							h = half.BFloat16bits(z - half.BFloat16frombits(h))
						}
						out[l*long+i] = h
					}
				}
				return out
			}
			u := parts(x, m, func(l, i int) int { return l*k + i }, lows{true, false, false})
			v := parts(y, n, func(l, i int) int { return i*n + l }, lows{false, true, false})
			got, want := view32(t, b, make([]float32, m*n), m, n), view32(t, b, make([]float32, m*n), m, n)
			b.Run(driver.Kernel{Code: driver.Matmul, High: true}, got, view32(t, b, x, m, k), view32(t, b, y, k, n))
			turned := view16(t, b, v, n, long)
			turned.Shape, turned.Stride = []int{long, n}, []int{1, long}
			b.Run(driver.Kernel{Code: driver.Matmul}, want, view16(t, b, u, m, long), turned)
			g, w := wordsOf(got), wordsOf(want)
			for i := range w {
				if g[i] != w[i] {
					t.Errorf("%s: %v: element %d: got %08x, want %08x", b.Tier(), s, i, g[i], w[i])
					break
				}
			}
		}
	}
}

// TestHighPrecision measures the error of products of high precision against float64: at most 2^-15 of the
// sum of the magnitudes, with a root mean square of less than 2^-17. One product of bfloat16 has 2^-8 and 2^-11.
func TestHighPrecision(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b := on(2, New(1).tier)
	for _, k := range []int{1, 64, 4096} {
		const m, n = 48, 64
		x, y := normal(r, m*k), normal(r, k*n)
		dst := view32(t, b, make([]float32, m*n), m, n)
		b.Run(driver.Kernel{Code: driver.Matmul, High: true}, dst, view32(t, b, x, m, k), view32(t, b, y, k, n))
		worst, square := 0.0, 0.0
		for i := range m {
			for j := range n {
				sum, size := 0.0, 0.0
				for q := range k {
					p := float64(x[i*k+q]) * float64(y[q*n+j])
					sum, size = sum+p, size+math.Abs(p)
				}
				e := math.Abs(float64(elements[float32](bufferOf(dst.Buffer))[i*n+j])-sum) / size
				worst, square = max(worst, e), square+e*e
			}
		}
		rms := math.Sqrt(square / (m * n))
		t.Logf("k %d: worst 2^%.1f, root mean square 2^%.1f", k, math.Log2(worst), math.Log2(rms))
		if worst > 0x1p-15 || rms > 0x1p-17 {
			t.Errorf("k %d: worst 2^%.1f, root mean square 2^%.1f; want at most 2^-15 and 2^-17", k, math.Log2(worst), math.Log2(rms))
		}
	}
}

func normal(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func view32(t *testing.T, b *Backend, x []float32, rows, cols int) driver.View {
	t.Helper()
	return viewOf(t, b, driver.Float32, x, rows, cols)
}

func view16(t *testing.T, b *Backend, x []uint16, rows, cols int) driver.View {
	t.Helper()
	return viewOf(t, b, driver.BFloat16, x, rows, cols)
}

func viewOf[E float32 | uint16](t *testing.T, b *Backend, d driver.DType, x []E, rows, cols int) driver.View {
	t.Helper()
	buf, err := b.Alloc(len(x) * d.Size())
	if err != nil {
		t.Fatal(err)
	}
	copy(elements[E](bufferOf(buf)), x)
	return driver.View{Buffer: buf, DType: d, Shape: []int{rows, cols}, Stride: []int{cols, 1}}
}
