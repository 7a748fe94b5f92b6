package asm

import (
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
