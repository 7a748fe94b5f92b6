package asm

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// truths are the functions in float64 and how many of a million float32 may be one
// unit in the last place off the nearest.
var truths = map[Function]func(x float64) float64{
	Exp: math.Exp, Exp2: math.Exp2, Expm1: math.Expm1, Log: math.Log, Log2: math.Log2, Log10: math.Log10, Log1p: math.Log1p,
	Tanh: math.Tanh, Erf: math.Erf, Sin: math.Sin, Cos: math.Cos,
	Quotient: func(x float64) float64 { return x / float64(float32(0.7)) }, // alphaOf
	Rsqrt:    func(x float64) float64 { return 1 / math.Sqrt(x) },
	Silu:     func(x float64) float64 { return x / (1 + math.Exp(-x)) },
	Sigmoid:  func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
	GeluHalf: func(x float64) float64 { return 0.5 * x * math.Erfc(-x*(math.Sqrt2/2)) },
	Gelu:     func(x float64) float64 { return 0.5 * x * math.Erfc(-x*(math.Sqrt2/2)) },
	GeluGrad: func(x float64) float64 {
		return 0.5*math.Erfc(-x*(math.Sqrt2/2)) + x*math.Exp(-0.5*x*x)/math.Sqrt(2*math.Pi)
	},
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

// TestFunctionValues compares with package math, for one of about a thousand float32:
// none is off by more than one unit in the last place, and hardly any by that.
func TestFunctionValues(t *testing.T) {
	for f := range functions {
		truth := truths[f]
		if truth == nil {
			t.Errorf("%v has no truth", f)
			continue
		}
		off, count := 0, 0
		for b := range uint64(1<<32)/997 + uint64(len(special)) {
			x := math.Float32frombits(uint32(b * 997))
			if b < uint64(len(special)) {
				x = special[b]
			}
			if l := f.Limit(); l > 0 && !(float32(math.Abs(float64(x))) <= l) {
				continue
			}
			count++
			got, want := f.Of(x, 1, alphaOf(f)), float32(truth(float64(x)))
			if got == want && math.Signbit(float64(got)) == math.Signbit(float64(want)) || got != got && want != want {
				continue
			}
			off++
			if !(math.Abs(float64(got)-float64(want)) <= 1.01*math.Abs(float64(math.Nextafter32(want, 0))-float64(want))) {
				t.Errorf("%v of %v: got %v, want %v", f, x, got, want)
				if off > 5 {
					break
				}
			}
		}
		if off > count/5000 {
			t.Errorf("%v: %d of %d values are not the nearest", f, off, count)
		}
		t.Logf("%v: %d of %d values are not the nearest", f, off, count)
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
				tier.Functions[f](unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n, alpha, 0)
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
