//go:build !(arm64 || ppc64 || ppc64le || riscv64 || s390x)

package cpu

import (
	"math"

	"halfnote/tensor/internal/asm"
)

// fusedSums is sums for float32 with fused multiply-adds: each product and addition
// rounds once. Most sums are rounded from float64, in which products are exact. The sums of a step
// are checked together, without branches, which cost more than the sums in WebAssembly.
func fusedSums(x, y []float32) [tileRows * tileCols]float32 {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		a0, a1, a2, a3, b0, b1 := float64(a[0]), float64(a[1]), float64(a[2]), float64(a[3]), float64(b[0]), float64(b[1])
		t00, t01, t10, t11 := a0*b0+float64(s00), a0*b1+float64(s01), a1*b0+float64(s10), a1*b1+float64(s11)
		t20, t21, t30, t31 := a2*b0+float64(s20), a2*b1+float64(s21), a3*b0+float64(s30), a3*b1+float64(s31)
		if (delicate(t00)|delicate(t01)|delicate(t10)|delicate(t11)|delicate(t20)|delicate(t21)|delicate(t30)|delicate(t31))>>63 == 0 {
			s00, s01, s10, s11 = float32(t00), float32(t01), float32(t10), float32(t11)
			s20, s21, s30, s31 = float32(t20), float32(t21), float32(t30), float32(t31)
		} else {
			s00, s01 = asm.FMA(a[0], b[0], s00), asm.FMA(a[0], b[1], s01)
			s10, s11 = asm.FMA(a[1], b[0], s10), asm.FMA(a[1], b[1], s11)
			s20, s21 = asm.FMA(a[2], b[0], s20), asm.FMA(a[2], b[1], s21)
			s30, s31 = asm.FMA(a[3], b[0], s30), asm.FMA(a[3], b[1], s31)
		}
		x, y = x[tileRows:], y[tileCols:]
	}
	return [...]float32{s00, s01, s10, s11, s20, s21, s30, s31}
}

// flushedSums is fusedSums for every second element of k, with sums below 2^-126 flushed to zero. It is for products of bfloat16.
func flushedSums(x, y []float32) [tileRows * tileCols]float32 {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		a0, a1, a2, a3, b0, b1 := float64(a[0]), float64(a[1]), float64(a[2]), float64(a[3]), float64(b[0]), float64(b[1])
		t00, t01, t10, t11 := a0*b0+float64(s00), a0*b1+float64(s01), a1*b0+float64(s10), a1*b1+float64(s11)
		t20, t21, t30, t31 := a2*b0+float64(s20), a2*b1+float64(s21), a3*b0+float64(s30), a3*b1+float64(s31)
		if (delicate(t00)|delicate(t01)|delicate(t10)|delicate(t11)|delicate(t20)|delicate(t21)|delicate(t30)|delicate(t31))>>63 == 0 {
			s00, s01, s10, s11 = float32(t00), float32(t01), float32(t10), float32(t11)
			s20, s21, s30, s31 = float32(t20), float32(t21), float32(t30), float32(t31)
		} else {
			s00, s01 = flushedSmallFMA(a[0], b[0], s00), flushedSmallFMA(a[0], b[1], s01)
			s10, s11 = flushedSmallFMA(a[1], b[0], s10), flushedSmallFMA(a[1], b[1], s11)
			s20, s21 = flushedSmallFMA(a[2], b[0], s20), flushedSmallFMA(a[2], b[1], s21)
			s30, s31 = flushedSmallFMA(a[3], b[0], s30), flushedSmallFMA(a[3], b[1], s31)
		}
		x, y = x[min(2*tileRows, len(x)):], y[min(2*tileCols, len(y)):]
	}
	return [...]float32{s00, s01, s10, s11, s20, s21, s30, s31}
}

// delicate returns a number whose highest bit is set if s, a product of float32 numbers plus one, could round to another float32 number than
// their exact sum does, or could be flushed: it lies halfway between two, or it is not above 2^-126 and not 0.
func delicate(s float64) uint64 {
	size := math.Float64bits(s) &^ (1 << 63)
	up := size + 1<<28 // its lowest 29 bits are 0 halfway, and only then does up-1 differ in the lowest 29
	return (up-1)&^up<<35 | (size-(0x381<<52+1))&^(size-1)
}
