package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestLoops compares the bits of the kernels that use a tier's loops with those of the loops in Go, on
// numbers of all magnitudes.
func TestLoops(t *testing.T) {
	defer func(l asm.Loops, n asm.Norms, s asm.Selects) { loops, norms, selects = l, n, s }(loops, norms, selects)
	r := rand.New(rand.NewPCG(7, 8))
	b := New(1)
	for _, tier := range asm.Tiers() {
		for _, n := range []int{1, 15, 16, 17, 63, 64, 100, 1023, 1024, 3000} {
			words := magnitudes(r, driver.Float32, n%2 == 0, 5*n)
			for i := range words {
				if r.IntN(4) == 0 {
					words[i] &= 1 << 31 // zeros of both signs
				}
			}
			for _, k := range []driver.Kernel{
				{Code: driver.Add}, {Code: driver.Sub}, {Code: driver.Mul}, {Code: driver.Div}, {Code: driver.AddScaled, Alpha: 0.3},
				{Code: driver.Affine, Alpha: 0.7}, {Code: driver.Affine, Alpha: 0.7, Beta: 0.1}, {Code: driver.Relu}, {Code: driver.ReluGrad}, {Code: driver.Sqrt},
				{Code: driver.Neg}, {Code: driver.Abs}, {Code: driver.TanhGrad}, {Code: driver.SigmoidGrad},
				{Code: driver.Sum}, {Code: driver.SumSquares}, {Code: driver.ReduceMax}, {Code: driver.ReduceMin},
				{Code: driver.Max}, {Code: driver.Min}, {Code: driver.Equal}, {Code: driver.Less}, {Code: driver.LessEqual}, {Code: driver.Where}, {Code: driver.Unscale, Alpha: 0.25},
				{Code: driver.SGD, Params: driver.SGDParams{Rate: 0.1, Momentum: 0.9}}, {Code: driver.Adam, Params: driver.AdamParams{Rate: 0.001, Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, Decay: 0.01, Scale: 1.2}},
			} {
				var got [2][]uint32
				for i, kernels := range []*asm.Tier{nil, tier} {
					loops, norms, selects = loopsOf(kernels), normsOf(kernels), selectsOf(kernels)
					got[i] = runLoop(t, b, k, n, words)
				}
				for i, want := range got[0] {
					if got[1][i] != want {
						t.Errorf("%s: %v of %d: element %d: got bits %08x, want %08x", tier.Name, k, n, i, got[1][i], want)
						break
					}
				}
			}
		}
	}
}

// runLoop returns the bits of all vectors after k. All NaN have the same bits.
func runLoop(t *testing.T, b *Backend, k driver.Kernel, n int, words []uint32) (out []uint32) {
	t.Helper()
	views := make([]driver.View, 4)
	for i := range views {
		x := make([]float32, n)
		for j := range x {
			x[j] = math.Float32frombits(words[i*n+j])
		}
		views[i] = vector(t, b, x...)
	}
	dst, src := views[0], views[1:]
	switch k.Code {
	case driver.Sum, driver.SumSquares, driver.ReduceMax, driver.ReduceMin:
		dst.Shape, src = []int{1}, src[:1]
	case driver.Unscale:
		src[0].Shape, src = []int{1}, src[:1]
	case driver.Affine, driver.Relu, driver.Sqrt, driver.Neg, driver.Abs:
		src = src[:1]
	case driver.Adam, driver.Where:
	default:
		src = src[:2]
	}
	b.Run(k, dst, src...)
	for _, v := range views {
		for _, w := range elements[uint32](bufferOf(v.Buffer)) {
			if w&0x7fffffff > 0x7f800000 {
				w = math.MaxUint32
			}
			out = append(out, w)
		}
	}
	return out
}

// TestStreamingStores checks results that are large enough for stores around the caches, in memory that
// is aligned to 64 bytes and in memory that is not.
func TestStreamingStores(t *testing.T) {
	b := New(2)
	for _, d := range []driver.DType{driver.Float32, driver.Float16, driver.BFloat16} {
		n := streamMin/d.Size() + 3*chunk + 50
		room := func(d driver.DType) driver.View {
			buf, err := b.Alloc((n + 1) * d.Size())
			if err != nil {
				t.Fatal(err)
			}
			return driver.View{Buffer: buf, DType: d, Shape: []int{n + 1}, Stride: []int{1}}
		}
		wide, x, y := room(driver.Float32), room(d), room(d)
		values := elements[float32](bufferOf(wide.Buffer))
		for i := range values {
			values[i] = float32(i % 100)
		}
		b.Run(driver.Kernel{Code: driver.Copy}, x, wide)
		for offset := range 2 {
			src, dst := x, y
			src.Shape, dst.Shape, dst.Offset = []int{n}, []int{n}, offset
			b.Run(driver.Kernel{Code: driver.Fill, Alpha: 7}, y)
			b.Run(driver.Kernel{Code: driver.Affine, Alpha: 2, Beta: 1}, dst, src)
			b.Run(driver.Kernel{Code: driver.Copy}, wide, y)
			for i, v := range values[offset:][:n] {
				if want := float32(2*(i%100) + 1); v != want {
					t.Fatalf("%v, offset %d: element %d: got %v, want %v", d, offset, i, v, want)
				}
			}
			if rest := values[n*(1-offset)]; rest != 7 {
				t.Errorf("%v, offset %d: element outside the result: got %v, want 7", d, offset, rest)
			}
			for i := range values {
				values[i] = 0
			}
		}
	}
}

// TestStreamedFunctions compares functions whose results are large enough for stores around the caches
// with those of parts that are not, in memory that is aligned to 64 bytes and in memory that is not.
func TestStreamedFunctions(t *testing.T) {
	b := New(2)
	const n = streamMin/4 + 3*chunk + 50
	room := func() driver.View {
		buf, err := b.Alloc((n + 1) * 4)
		if err != nil {
			t.Fatal(err)
		}
		return driver.View{Buffer: buf, DType: driver.Float32, Shape: []int{n}, Stride: []int{1}}
	}
	x, y, got, want := room(), room(), room(), room()
	a, c := elements[float32](bufferOf(x.Buffer)), elements[float32](bufferOf(y.Buffer))
	for i := range a {
		a[i], c[i] = float32(i%1000)/100-3, float32(i%7)
	}
	a[5*chunk+7], a[n-9] = 1e30, float32(math.NaN()) // beyond limits
	part := func(v driver.View, lo, hi int) driver.View {
		v.Offset, v.Shape = v.Offset+lo, []int{hi - lo}
		return v
	}
	for code := range functionsByCode {
		src := []driver.View{x, y}[:pointwises[code].operands]
		const size = streamMin / 8
		for lo := 0; lo < n; lo += size {
			hi := min(n, lo+size)
			in := []driver.View{part(x, lo, hi), part(y, lo, hi)}[:len(src)]
			b.Run(driver.Kernel{Code: code}, part(want, lo, hi), in...)
		}
		for offset := range 2 {
			got.Offset = offset
			b.Run(driver.Kernel{Code: code}, got, src...)
			for i, v := range elements[float32](bufferOf(got.Buffer))[offset:][:n] {
				if w := elements[float32](bufferOf(want.Buffer))[i]; math.Float32bits(v) != math.Float32bits(w) && (v == v || w == w) {
					t.Fatalf("code %v, offset %d, element %d of %v: got %v, want %v", code, offset, i, a[i], v, w)
				}
			}
		}
	}
}
