package asm

import "unsafe"

// Selects are a tier's passes that choose between numbers, those that it has not got being
// nil. NaN is chosen where there is one, and 0 is above -0.
type Selects struct {
	Max, Min, Equal, Less, LessEqual Pass
	// Where sets dst to y where x is not 0, else to z, all float32.
	Where func(dst, x, y, z unsafe.Pointer, n int)
	// MaxRows and MinRows set dst to that of each of rows of n float32, side by side.
	MaxRows, MinRows func(dst, x unsafe.Pointer, rows, n int)
	// Conversions between bool and float32; what is not 0 is true.
	WidenBool, NarrowBool func(dst, src unsafe.Pointer, n int)
	// Repeat2 and Repeat4 set rows of n numbers of as many bytes, side by side, to one
	// number each; those lie step bytes apart.
	Repeat2, Repeat4 func(dst, src unsafe.Pointer, rows, n, step int)
	// FirstMost and FirstLeast set best to x and at to place where x is beyond best; those
	// with Row do so for every 16th of n float32, a multiple of 16, counting in their lane.
	FirstMost, FirstLeast       func(best, at, x unsafe.Pointer, n int, place float32)
	FirstMostRow, FirstLeastRow func(best, at *[16]float32, x unsafe.Pointer, n int)
	// GatherRows copies rows of n bytes to dst, side by side, from where they lie at src
	// plus step times each of int64s that lie istep bytes apart.
	GatherRows func(dst, src, index unsafe.Pointer, rows, n, step, istep int)
	// Transpose4 is [Packing].Transpose of 32 bits.
	Transpose4 Pack
	// Add, Sub, Mul and Div are passes over rows of x with a number y each, or, with Row,
	// rows of y.
	Add, AddRow, Sub, SubRow, Mul, MulRow, Div, DivRow RowPass
}

// RowPass computes rows of n elements of dst from those of x, both side by side, and from
// y, of which that of the next row lies step bytes further.
type RowPass = func(dst, x, y unsafe.Pointer, rows, n, step int)
