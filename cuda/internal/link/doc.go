//go:build cuda && linux && cgo

// Package link takes the place of -lcuda. A program that imports it may call the
// NVIDIA driver, itself or through gorgonia.org/cu, and still starts on machines
// that have none: every function of names.txt is a jump through a table, whose
// entries answer "not initialized" until [Load] has bound the driver, and "no
// device" after Load has failed. An empty archive, ld/libcuda.a, satisfies cu's
// -lcuda; the driver's names are hidden, so that a real libcuda in the same
// process calls its own.
//
// Beside the table stand the calls that cu lacks: launches in one crossing,
// graphs, pinned memory, attributes of functions, logs of the compiler, names
// of errors. Handles are the driver's, as uintptr; results are CUresult, 0 for
// success; each call first makes ctx current on the thread that it runs on.
//
// It knows nothing of streams' order, lifetimes or what an error means: that is
// package drv.
package link

//go:generate go run ./gen
