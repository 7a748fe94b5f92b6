//go:build cuda && linux && cgo

// Package link replaces -lcuda. A program that imports it can call the NVIDIA driver, directly or
// through gorgonia.org/cu, and still starts on machines without one: every function of names.txt
// is a jump through a table, whose entries return "not initialized" until [Load] has bound the
// driver, and "no device" after Load has failed. An empty archive, ld/libcuda.a, satisfies cu's
// -lcuda. The driver's names are hidden, so that a real libcuda in the same process calls its
// own.
//
// The package also provides calls that cu lacks: launches in one crossing, graphs, pinned memory,
// attributes of functions, compiler logs, names of errors. Handles are the driver's, as uintptr;
// results are CUresult, 0 for success. Each call first makes ctx current on its thread.
//
// The order of streams, lifetimes and the meaning of errors belong to package drv.
package link

//go:generate go run ./gen
