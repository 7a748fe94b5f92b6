package asm

import "unsafe"

// Selects holds a tier's kernels that choose between numbers. Those that the tier lacks are nil. NaN
// is preferred to numbers, and 0 is above -0.
type Selects struct {
	Max, Min, Equal, Less, LessEqual Pass
	// Where sets dst to y where x is not 0, otherwise to z, all float32.
	Where func(dst, x, y, z unsafe.Pointer, n int)
	// MaxRows and MinRows set dst to the maximum or minimum of each row of n float32; rows are
	// adjacent.
	MaxRows, MinRows func(dst, x unsafe.Pointer, rows, n int)
	// WidenBool and NarrowBool convert between bool and float32; numbers other than 0 become true.
	WidenBool, NarrowBool func(dst, src unsafe.Pointer, n int)
	// Repeat2 and Repeat4 set each row of n numbers of 2 or 4 bytes to one number. Rows are adjacent,
	// and the numbers are step bytes apart.
	Repeat2, Repeat4 func(dst, src unsafe.Pointer, rows, n, step int)
	// FirstMost and FirstLeast set best to x, and at to place, where x is above or below best. Those
	// named Row compute this for each of 16 lanes, of every 16th of n float32, n a multiple of 16; at
	// counts the elements of the lane.
	FirstMost, FirstLeast       func(best, at, x unsafe.Pointer, n int, place float32)
	FirstMostRow, FirstLeastRow func(best, at *[16]float32, x unsafe.Pointer, n int)
	// GatherRows copies rows of n bytes to adjacent rows of dst. Row i is at src + step * index i, of
	// int64 indices istep bytes apart.
	GatherRows func(dst, src, index unsafe.Pointer, rows, n, step, istep int)
	// Transpose2 and Transpose4 are [Packing].Transpose for elements of 16 and of 32 bits, which
	// they do not convert. They take 16 lines.
	Transpose2, Transpose4 Pack
	Weave                  func(w *Weave)
	// Add, Sub, Mul and Div combine each row of x with one number of y or, named Row, with a row of
	// y.
	Add, AddRow, Sub, SubRow, Mul, MulRow, Div, DivRow RowPass
}

// RowPass computes rows of n elements of dst from x and y. Rows of dst and of x are adjacent. The
// operand y of consecutive rows is step bytes apart.
type RowPass = func(dst, x, y unsafe.Pointer, rows, n, step int)
