package asm

import (
	"math"
	"testing"
	"unsafe"

	"halfnote/tensor/internal/half"
)

// TestHalfFunctionBits compares passes over all halves with the function in Go.
func TestHalfFunctionBits(t *testing.T) {
	all, dy, got, want := make([]uint16, 1<<16), make([]uint16, 1<<16), make([]uint16, 1<<16), make([]uint16, 1<<16)
	x, y := make([]float32, len(all)), make([]float32, len(all))
	for i := range all {
		all[i] = uint16(i)
	}
	for _, tier := range Tiers() {
		for _, d := range []struct {
			name   string
			passes []HalfPass
			from   func([]float32, []uint16)
			to     func([]uint16, []float32)
		}{{"float16", tier.Float16Functions, half.FromFloat16, half.ToFloat16}, {"bfloat16", tier.BFloat16Functions, half.FromBFloat16, half.ToBFloat16}} {
			for f, pass := range d.passes {
				if pass == nil {
					continue
				}
				d.from(x, all)
				for i := range y {
					y[i] = float32(i%7) - 2.5
				}
				d.to(dy, y)
				for i := range x {
					x[i] = Function(f).Of(x[i], y[i], 0)
				}
				d.to(want, x)
				pass(unsafe.Pointer(&got[0]), unsafe.Pointer(&all[0]), unsafe.Pointer(&dy[0]), len(all), 2, 0, 0, 0)
				wrong := 0
				for i := range got {
					if got[i] != want[i] {
						if wrong++; wrong < 4 {
							t.Errorf("%s: %v of %s %04x: got %04x, want %04x", tier.Name, Function(f), d.name, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// TestHalfFunctionValues compares the functions of all halves with float64: of both dtypes, all but
// few results are the nearest half, and those are its neighbours.
func TestHalfFunctionValues(t *testing.T) {
	list := map[Function]func(float64) float64{
		SigmoidHalf: truths[Sigmoid].of, ErfHalf: truths[Erf].of, SiluHalf: truths[Silu].of, GeluHalf: geluTruth, GeluGradHalf: geluGradTruth,
		SinHalf: truths[Sin].of, CosHalf: truths[Cos].of,
		SiluGrad: siluGradTruth, GeluTanh: geluTanhTruth, GeluTanhGrad: geluTanhGradTruth,
	}
	for f, truth := range truths {
		if f != Sigmoid && f != Silu && f != Gelu && f != GeluGrad && f != Quotient && f != Sin && f != Cos && f != Erf {
			list[f] = truth.of
		}
	}
	all, result := make([]uint16, 1<<16), make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	x, y := make([]float32, len(all)), make([]float32, len(all))
	for _, d := range []struct {
		name string
		from func([]float32, []uint16)
		to   func([]uint16, []float32)
	}{{"float16", half.FromFloat16, half.ToFloat16}, {"bfloat16", half.FromBFloat16, half.ToBFloat16}} {
		d.from(x, all)
		want := make([]uint16, len(all))
		for f, truth := range list {
			for i, x := range x {
				y[i] = f.Of(x, 1, 0)
			}
			d.to(result, y)
			for i, x := range x {
				y[i] = float32(truth(float64(x)))
			}
			d.to(want, y)
			off := 0
			for i := range want {
				if l := f.Limit(); result[i] == want[i] || (result[i]|want[i])&0x7fff == 0 || l > 0 && !(float32(math.Abs(float64(x[i]))) <= l) || y[i] != y[i] {
					continue
				}
				if off++; math.Abs(float64(int16(result[i]))-float64(int16(want[i]))) > 1 && math.Abs(truth(float64(x[i]))) > 1e-4 {
					t.Errorf("%s: %v of %v: got %04x, want %04x", d.name, f, x[i], result[i], want[i])
				}
			}
			t.Logf("%s: %v: %d are not the nearest", d.name, f, off)
			if off > 40 {
				t.Errorf("%s: %v: %d of 65536 are not the nearest, want at most 40", d.name, f, off)
			}
		}
	}
}

// TestHalfFunctionShort compares the short functions of halves with those whose bits they promise.
func TestHalfFunctionShort(t *testing.T) {
	type dtype struct {
		name string
		from func([]float32, []uint16)
		to   func([]uint16, []float32)
	}
	float16 := dtype{"float16", half.FromFloat16, half.ToFloat16}
	bfloat16 := dtype{"bfloat16", half.FromBFloat16, half.ToBFloat16}
	all, got, want := make([]uint16, 1<<16), make([]uint16, 1<<16), make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	x, y, z := make([]float32, len(all)), make([]float32, len(all)), make([]float32, len(all))
	for _, c := range []struct {
		short, long Function
		dtype
	}{{GeluBFloat16, GeluHalf, bfloat16}, {GeluFloat16, GeluHalf, float16}, {ErfHalf, Erf, bfloat16}, {ErfHalf, Erf, float16}} {
		c.from(x, all)
		for i, x := range x {
			y[i], z[i] = c.short.Of(x, 0, 0), c.long.Of(x, 0, 0)
		}
		c.to(got, y)
		c.to(want, z)
		for i := range all {
			if got[i] != want[i] {
				t.Errorf("%v of %s %04x: got %04x, want %04x", c.short, c.name, i, got[i], want[i])
			}
		}
	}
}

// TestRsqrtTies checks that an estimate of 1/√x for a half, with a relative error below 2^-21.5, rounds like the exact
// number: no number between two neighbouring halves is so close. It is enough to look at x from 1 to 4.
func TestRsqrtTies(t *testing.T) {
	for _, bits := range []int{8, 11} {
		for _, lowest := range []float64{1, 2} {
			for i := range 1 << (bits - 1) {
				x := lowest * (1 + math.Ldexp(float64(i), 1-bits))
				step := math.Ldexp(1, -bits) // between neighbours of 1/√x, which is from 1/2 to 1
				for _, tie := range []float64{-0.5, 0.5} {
					between := (math.Round(1/math.Sqrt(x)/step) + tie) * step
					if gap := math.Abs(1-between*between*x) / 2; gap < math.Exp2(-21.5) {
						t.Errorf("1/√%v is 2^%.2f from the tie %v; want at least 2^-21.5", x, math.Log2(gap), between)
					}
				}
			}
		}
	}
}
