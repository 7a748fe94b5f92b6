// Package ptx runs PTX on the CPU, so that kernels can be tested without a GPU. It takes the same
// text as a driver.
//
// [Parse] parses a module, [Module.Kernel] returns a kernel, and [Kernel.Launch] runs a grid. Blocks
// run in parallel on the cores. The 32 threads of a warp run in lock step under a mask. If they have
// diverged, the threads with the lowest program counter run first, so that they converge again.
// Errors that an assembler would report are reported if they are cheap to detect: unknown
// instructions, operands of the wrong width or kind, and instructions that are newer than the
// module's .version or .target.
//
// Errors that a GPU or its sanitizer would report are errors here: accesses that are misaligned or
// outside all allocations, barriers that part of a block never reaches, shuffles that wait for
// threads that never arrive and, on request, races on shared memory and reads of uninitialised
// shared memory (see [Launch]).
//
// # Arithmetic
//
// Operations that IEEE 754 defines follow the manual exactly: add, mul, fma, div.rn, sqrt.rn, rcp.rn
// and all conversions, with all rounding modes, on f16, bf16, f32 and f64, including subnormals.
// Arithmetic that results in NaN gives the canonical NaN.
//
// Approximate instructions return the exact value rounded coarsely, so that a test that requires
// more precision than a GPU has fails here too. The error is within the bound of the PTX ISA manual:
//
//	ex2, rcp, rsqrt, sqrt, div  23 significant bits: relative error 2^-23
//	lg2                         a multiple of 2^-22 between 0.5 and 2, else 23 significant bits
//	sin, cos                    a multiple of 2^-21: absolute error 2^-22
//	tanh                        11 significant bits: relative error 2^-11
//	ex2 and tanh of halves      rounded to the half
//
// mma adds the products of a row and the accumulator in float64 and rounds once; a tensor core adds
// with fewer bits.
//
// The package does not model speed or the memory model between blocks, and it accepts some text
// that an assembler rejects.
package ptx
