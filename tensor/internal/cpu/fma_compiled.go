//go:build arm64 || ppc64 || ppc64le || riscv64 || s390x

package cpu

import "math"

// flushedFMA is [flushedSmallFMA]. Sums above 2^-126 need no special treatment.
func flushedFMA(a, b, c float32) float32 {
	s := a*b + c
	if math.Float32bits(s)<<1 > 0x00800000<<1 {
		return s
	}
	return flushedSmallFMA(a, b, c)
}
