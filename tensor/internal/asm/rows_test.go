package asm

import (
	"slices"
	"testing"
	"unsafe"
)

// TestSpreadRows compares kernels with a loop, and checks that they leave the other elements alone.
func TestSpreadRows(t *testing.T) {
	for _, tier := range Tiers() {
		if tier.Norms.SpreadRows == nil {
			continue
		}
		for _, n := range []int{1, 2, 7, 15, 16, 17, 31, 32, 33, 48} {
			const rows = 3
			src, got := make([]uint16, rows*(n+5)), make([]uint16, rows*(2*n+3))
			for i := range src {
				src[i] = uint16(i + 1)
			}
			for i := range got {
				got[i] = 0xfff0
			}
			want := slices.Clone(got)
			for i := range rows {
				for j := range n {
					want[i*(2*n+3)+2*j] = src[i*(n+5)+j]
				}
			}
			tier.Norms.SpreadRows(unsafe.Pointer(&got[0]), unsafe.Pointer(&src[0]), rows, n, 2*(2*n+3), 2*(n+5))
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d elements: got %04x, want %04x", tier.Name, n, got, want)
			}
		}
	}
}
