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
}
