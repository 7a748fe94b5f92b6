// Package ssa compiles functions of numbers without branches to AVX-512, to AVX2, and to Go. All three do the same
// operations in the same order, and give the same bits.
//
// # Programs
//
// A [Program] is a list of lines in static single assignment form: each line is one operation on the results of
// lines above it, and its number, a [Value], stands for its result. Methods of a program append lines: p.Add(a, b)
// appends a sum. A program computes in float32 if it is Single, otherwise in float64; its operands x, y and alpha and its
// result are float32 in either case. The lines of
//
//	x := p.X()
//	result := p.FMA(x, x, p.Float(0.5))
//
// are these lines, as [Program.String] prints them:
//
//	0 x
//	1 const 0x3f000000
//	2 fma 0 0 1
//
// The table of operations has one row for each: how many operands it has, its expression in Go, its instruction, and
// whether the operands may be exchanged. For an operation with one or two operands, the row and a method of Program suffice.
//
// # Passes
//
//  1. Equal lines are merged while a program is written: a line with the operation, the operands and the bits of
//     another is that one. A polynomial may use x*x in several places and compute it once.
//  2. Lines that the result does not need are dropped, and the others are repeated for several results at a time, each
//     next to itself, so that a processor always has some whose operands are ready.
//  3. For each line, the last one that reads its value is found.
//  4. The back end prints the lines in order. Those for registers choose them while they print.
//
// # Registers
//
// A result takes the register of an operand that no later line reads, otherwise the first free one. After each line,
// registers whose values are not read again become free. Constants stay in memory, where instructions read
// them as operands. One that an instruction needs in a register is loaded for this instruction alone.
//
// Values are never spilled to memory. If a loop needs more registers than there are, [Emitter.Fit] discards what was
// printed and prints it for fewer results at a time, and panics if one result still needs too many. Registers that are left over with
// AVX-512 hold constants throughout the loop, those first that are read most. AVX2 has none to spare.
//
// # Back ends
//
//   - [Program.Go] prints a Go function (x, y, alpha float32) float32. Products are converted explicitly, so that no
//     compiler fuses them with a sum.
//   - [Emitter] prints assembly: with Wide set for AVX-512's registers Z0 to Z30, with alpha in Z31, otherwise for AVX2's Y0 to Y14,
//     with alpha in Y15. Masks are K2 with AVX-512 and a free register with AVX2. AX is the address of the constants and R10 that of the
//     tables, both of which [Tables.Print] prints. Labels, counters and pointers belong to the caller, who prints the loop
//     around [Emitter.Print], and says by a [Memory] how numbers are loaded and stored.
//
// Some operations are of programs of float32, and three exist for AVX-512 alone. Both are checked.
package ssa
