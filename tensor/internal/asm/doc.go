// Package asm is the CPU backend's assembly: the inner loops of matrix products,
// the packing in front of them, conversions of halves, passes over memory, and
// elementary functions. It knows addresses and
// strides; it knows nothing of views, blocks or workers, which are package cpu's.
//
// The kernels come in tiers, one for each set of instructions ([Tiers]); where there
// is none, package cpu computes in portable Go. All tiers give the same bits, and so
// does the portable code, because what they compute is defined to the last bit:
//
//   - A float32 product is a chain of fused multiply-adds, each rounded once. float16
//     is widened to float32 first.
//   - A bfloat16 product is what AMX's instruction TDPBF16PS does: k is taken in blocks
//     of 32, the last one filled up with zeros. In each block two sums begin with 0: of
//     the first, the third and so on, and of the second, the fourth and so on, each a
//     chain of fused multiply-adds. The two are added, and their sum is added to C, which
//     begins with 0. Every number below 2^-126, factors and sums alike, counts as zero of
//     its sign; what counts is a sum rounded to 24 bits, before it is a subnormal number.
//     Zeros that fill up a block matter where a sum is -0, which they make 0. Without AMX
//     the same is done in float32 with the processor told to flush, or by VDPBF16PS, which
//     takes a slot's second half before its first.
//
// The code is printed by gen; a test compares.
package asm

//go:generate go run ./gen
