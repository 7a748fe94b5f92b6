package asm

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// TestQuotientRows compares quotients with division, also of subnormal numbers, and by numbers whose
// significands are next to powers of 2.
func TestQuotientRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = 1000
	x, got := make([]float32, n), make([]float32, n)
	for _, tier := range Tiers() {
		run := tier.Norms.QuotientRows
		if run == nil {
			continue
		}
		for row := range 3000 {
			by := math.Float32frombits(127<<23 + r.Uint32N(20<<23))
			switch row % 4 {
			case 0:
				by = math.Float32frombits(math.Float32bits(by)&0xff800000 | []uint32{0, 1, 1<<23 - 1, 1<<23 - 2}[r.IntN(4)])
			case 1:
				by = float32(math.Trunc(float64(by)))
			}
			least := []uint32{0, 47 << 23, 90 << 23}[r.IntN(3)] // with and without small numbers
			for i := range x {
				x[i] = math.Float32frombits(least + r.Uint32N(127<<23-least+1))
				if r.IntN(8) == 0 {
					x[i] = 0
				}
				if r.IntN(8) == 1 {
					x[i] = min(1, float32(r.IntN(1<<12))*0x1p-12*by) // an exact quotient, or nearly
				}
			}
			if row == 5 {
				by = float32(math.NaN())
			}
			run(unsafe.Pointer(&got[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&by), 1, n)
			for i, x := range x {
				if want := x / by; bits(got[i]) != bits(want) && (got[i] == got[i] || want == want) {
					t.Fatalf("%s: %v / %v: got %v, want %v", tier.Name, x, by, got[i], want)
				}
			}
		}
	}
}
