package main

import "halfnote/tensor/internal/asm/gen/ssa"

// value is the number of an operation, and stands for its result.
type value = ssa.Value

// line is a program under construction: a function of float32, which has the same bits in each of its three forms.
// A program computes in float32 if it is Single. The others compute in float64, where the rounded value is nearly
// always the nearest float32. A wide program is for AVX-512 alone, and a half one for results that are rounded to
// float16 or bfloat16.
type line struct {
	*ssa.Program
	wide bool
	half bool
}

// tables are the constants and lookup tables of all functions.
var tables ssa.Tables
