//go:build !(arm64 || ppc64 || ppc64le || riscv64 || s390x)

package cpu

import "math"

// flushedFMA is [flushedSmallFMA]. Most sums need no special treatment: those above 2^-126 that do
// not lie halfway between two float32 numbers.
func flushedFMA(a, b, c float32) float32 {
	s := float64(a)*float64(b) + float64(c)
	if bits := math.Float64bits(s); bits&(1<<29-1) != 1<<28 && bits<<1 > 0x381<<53 {
		return float32(s)
	}
	return flushedSmallFMA(a, b, c)
}
