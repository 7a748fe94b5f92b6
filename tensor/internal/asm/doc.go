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
//   - A bfloat16 product is what the instruction VDPBF16PS does: k is taken in pairs,
//     of each pair the second before the first, in fused multiply-adds that take
//     numbers below 2^-126 for zero and give zero for them. Where the instruction is
//     slow or missing, the same is done in float32 with the processor told to flush.
//
// The code is printed by gen; a test compares.
package asm

//go:generate go run ./gen
