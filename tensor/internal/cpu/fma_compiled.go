//go:build arm64 || ppc64 || ppc64le || riscv64 || s390x

package cpu

import (
	"math"

	"halfnote/tensor/internal/asm"
)

// fusedSums is sums for float32 with fused multiply-adds: each product and addition
// rounds once. Here the compiler fuses the two.
func fusedSums(x, y []float32) [tileRows * tileCols]float32 {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		s00, s01 = asm.FMA(a[0], b[0], s00), asm.FMA(a[0], b[1], s01)
		s10, s11 = asm.FMA(a[1], b[0], s10), asm.FMA(a[1], b[1], s11)
		s20, s21 = asm.FMA(a[2], b[0], s20), asm.FMA(a[2], b[1], s21)
		s30, s31 = asm.FMA(a[3], b[0], s30), asm.FMA(a[3], b[1], s31)
		x, y = x[tileRows:], y[tileCols:]
	}
	return [...]float32{s00, s01, s10, s11, s20, s21, s30, s31}
}

// flushedSums is fusedSums for every second element of k, with sums below 2^-126 flushed to zero. It is for products of bfloat16.
func flushedSums(x, y []float32) [tileRows * tileCols]float32 {
	var s00, s01, s10, s11, s20, s21, s30, s31 float32
	for len(y) >= tileCols && len(x) >= tileRows {
		a, b := (*[tileRows]float32)(x), (*[tileCols]float32)(y)
		s00, s01 = flushedFMA(a[0], b[0], s00), flushedFMA(a[0], b[1], s01)
		s10, s11 = flushedFMA(a[1], b[0], s10), flushedFMA(a[1], b[1], s11)
		s20, s21 = flushedFMA(a[2], b[0], s20), flushedFMA(a[2], b[1], s21)
		s30, s31 = flushedFMA(a[3], b[0], s30), flushedFMA(a[3], b[1], s31)
		x, y = x[min(2*tileRows, len(x)):], y[min(2*tileCols, len(y)):]
	}
	return [...]float32{s00, s01, s10, s11, s20, s21, s30, s31}
}

// flushedFMA is [flushedSmallFMA]. Sums above 2^-126 need no special treatment.
func flushedFMA(a, b, c float32) float32 {
	s := a*b + c
	if math.Float32bits(s)<<1 > 0x00800000<<1 {
		return s
	}
	return flushedSmallFMA(a, b, c)
}
