// Package ptx runs PTX on the CPU, so that kernels can be tested without a GPU:
// the very text that a driver would get.
//
// [Parse] reads a module, [Module.Kernel] finds an entry, [Kernel.Launch] runs a
// grid. Blocks run in parallel on the cores; a warp's 32 threads run in lock
// step under a mask, and of threads that have diverged those with the lowest
// program counter run first, so that they meet again. Text that an assembler
// would refuse is refused where that is cheap to see: unknown instructions,
// operands of the wrong width or kind, instructions that are newer than the
// module's .version or .target.
//
// What a GPU or its sanitizer would report is an error here: accesses outside
// all allocations or misaligned, barriers that part of a block never reaches,
// shuffles that wait for threads which do not come and, if asked, races on
// shared memory and reads of uninitialised shared memory (see [Launch]).
//
// # Arithmetic
//
// Everything that IEEE 754 defines is computed exactly as the manual says: add,
// mul, fma, div.rn, sqrt.rn, rcp.rn and all conversions in all roundings, on
// f16, bf16, f32 and f64, subnormals included. A NaN that arithmetic makes is
// the canonical one.
//
// Approximate instructions give the exact value rounded coarsely, so that a
// test which asks more than a GPU gives fails here too. The error stays within
// the bound of the PTX ISA manual:
//
//	ex2, rcp, rsqrt, sqrt, div  23 significant bits: relative error 2^-23
//	lg2                         a multiple of 2^-22 between 0.5 and 2, else 23 significant bits
//	sin, cos                    a multiple of 2^-21: absolute error 2^-22
//	tanh                        11 significant bits: relative error 2^-11
//	ex2 and tanh of halves      rounded to the half
//
// mma adds a row's products and the accumulator in float64 and rounds once; a
// tensor core adds with fewer bits.
//
// It says nothing about speed, about the memory model between blocks, or about
// whether an assembler accepts the text.
package ptx
