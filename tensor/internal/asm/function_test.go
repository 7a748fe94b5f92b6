package asm

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"halfnote/internal/testenv"
)

// A truth is a function in float64, and how many of a thousand float32 may be a neighbour of the nearest.
type truth struct {
	of  func(x float64) float64
	off float64
}

var truths = map[Function]truth{
	Exp: {math.Exp, 5}, Exp2: {math.Exp2, 5}, Expm1: {math.Expm1, 4},
	Log: {math.Log, 20}, Log2: {math.Log2, 1}, Log10: {math.Log10, 4}, Log1p: {math.Log1p, 2},
	Tanh: {math.Tanh, 2}, Erf: {math.Erf, 8}, Sin: {math.Sin, 6}, Cos: {math.Cos, 6}, SinFar: {math.Sin, 0.1}, CosFar: {math.Cos, 0.1},
	Quotient: {func(x float64) float64 { return x / float64(float32(0.7)) }, 0}, // alphaOf
	Rsqrt:    {func(x float64) float64 { return 1 / math.Sqrt(x) }, 140},
	Sigmoid:  {func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 2},
	Silu:     {func(x float64) float64 { return x / (1 + math.Exp(-x)) }, 2},
	Gelu:     {geluTruth, 9},
	GeluGrad: {geluGradTruth, 0.1},
}

func geluTruth(x float64) float64 { return 0.5 * x * math.Erfc(-x*(math.Sqrt2/2)) }

func geluGradTruth(x float64) float64 {
	return 0.5*math.Erfc(-x*(math.Sqrt2/2)) + x*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi)
}

func siluGradTruth(x float64) float64 {
	s := 1 / (1 + math.Exp(-x))
	return s * (1 + x/(1+math.Exp(x)))
}

func geluTanhTruth(x float64) float64 {
	return x / (1 + math.Exp(-2*math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func geluTanhGradTruth(x float64) float64 {
	c := 2 * math.Sqrt(2/math.Pi)
	u := c * (x + 0.044715*x*x*x)
	s := 1 / (1 + math.Exp(-u))
	return s * (1 + x/(1+math.Exp(u))*c*(1+3*0.044715*x*x))
}

func alphaOf(f Function) float32 {
	if f == Quotient {
		return 0.7
	}
	return 0
}

var special = []float32{
	0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1, -1,
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
}

var every = flag.Int("every", 0, "TestFunctionValues compares one float32 in so many; 1 for all, which takes an hour")

// TestFunctionValues compares with package math: no result but the nearest float32 or a neighbour of
// it, and few neighbours.
func TestFunctionValues(t *testing.T) {
	step := uint64(4001)
	if testenv.Requires("long") {
		step = 499
	}
	if *every > 0 {
		step = uint64(*every)
	}
	const n = 1 << 12
	x, ones, got := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	for f := range functions {
		truth, ok := truths[f]
		if !ok {
			continue
		}
		off, count, wrong := 0, 0, 0
		for first := uint64(0); first < 1<<32 && wrong < 5; first += n * step {
			for i := range x {
				x[i] = math.Float32frombits(uint32(first + uint64(i)*step))
			}
			if first == 0 {
				copy(x, special)
			}
			compute(f, got, x, ones)
			for i, x := range x {
				if l := f.Limit(); l > 0 && !(float32(math.Abs(float64(x))) <= l) {
					continue
				}
				count++
				got, want := got[i], float32(truth.of(float64(x)))
				switch {
				case got != got && want != want, got == want && math.Signbit(float64(got)) == math.Signbit(float64(want)):
				case math.Nextafter32(want, got) == got && got != want:
					off++
				default:
					if wrong++; wrong < 5 {
						t.Errorf("%v of %v: got %v, want %v", f, x, got, want)
					}
				}
			}
		}
		t.Logf("%v: %d of %d values are not the nearest", f, off, count)
		if float64(off) > truth.off/1000*float64(count) {
			t.Errorf("%v: %d of %d values are not the nearest, want at most %g in a thousand", f, off, count, truth.off)
		}
	}
}

// compute sets got to f of x and y by the best tier.
func compute(f Function, got, x, y []float32) {
	if tier := Best(); tier != nil {
		tier.Functions[f](unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), len(x), 0, alphaOf(f))
		return
	}
	for i, x := range x {
		got[i] = f.Of(x, y[i], alphaOf(f))
	}
}

// TestFunctionBits compares the tiers with Go.
func TestFunctionBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 14
	x, y, got := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = math.Float32frombits(r.Uint32()), float32(r.NormFloat64())
		if i%2 == 0 {
			x[i] = float32(r.NormFloat64() * 3)
		}
	}
	copy(x, special)
	for _, tier := range Tiers() {
		for f := range functions {
			for _, alpha := range []float32{0, 0.7} {
				tier.Functions[f](unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n, 0, alpha)
				for i := range got {
					if want := f.Of(x[i], y[i], alpha); bits(got[i]) != bits(want) && (got[i] == got[i] || want == want) {
						t.Errorf("%s: %v of %v, %v: got %v, want %v", tier.Name, f, x[i], y[i], got[i], want)
						break
					}
				}
			}
		}
	}
}

func BenchmarkFunctions(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1024
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(math.Abs(r.NormFloat64()))
	}
	for _, tier := range Tiers() {
		for f := range functions {
			b.Run(tier.Name+"/"+f.String(), func(b *testing.B) {
				for b.Loop() {
					tier.Functions[f](unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&x[0]), n, 0, 0)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
			})
		}
	}
}
