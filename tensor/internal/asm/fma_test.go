package asm

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactFMA returns a*b + c rounded once, by way of numbers of any precision.
func exactFMA(a, b, c float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(float64(x)) }
	r := exact(a)
	r.Mul(r, exact(b))
	f, _ := r.Add(r, exact(c)).Float32()
	return f
}

// TestFMA compares FMA with exact numbers, at random and where two roundings differ from one: for sums
// halfway between two float32, or close to that.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200000 {
		a, b, c := r.Float32()-0.5, r.Float32()-0.5, r.Float32()-0.5
		switch i % 4 {
		case 1: // c is much larger or smaller than the product
			c *= float32(math.Ldexp(1, r.IntN(120)-60))
		case 2: // the sum is about halfway between two float32
			a, b = 1+float32(r.IntN(8))*0x1p-12, 1+float32(r.IntN(8))*0x1p-12
			c = float32(math.Ldexp(1+float64(r.IntN(64))*0x1p-23, 24+r.IntN(8)))
		case 3: // results are subnormal or close to it
			a, b, c = a*0x1p-70, b*0x1p-60, c*float32(math.Ldexp(1, -124-r.IntN(20)))
		}
		want := exactFMA(a, b, c)
		for _, got := range []float32{FMA(a, b, c), fmaEmulated(a, b, c)} {
			if got != want {
				t.Fatalf("%x * %x + %x: got %x, want %x", a, b, c, got, want)
			}
		}
	}
}
