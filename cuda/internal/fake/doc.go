//go:build cuda && linux && cgo

// Package fake is a CUDA driver on the CPU, for tests: a libcuda.so.1 that is
// built from C by the test and runs kernels by the PTX interpreter.
//
// [Use] makes it the process's driver. What it shows is what hardware would show
// of a program's mistakes: work happens late, in the order that streams and
// events ask for and no other; new memory holds NaN; accesses are bounds-checked;
// pageable memory makes copies wait; a fault in a kernel ends its context, and
// [LastFault] says which line of which kernel it was.
//
// Where HALFNOTE_CUDA_TEST is "device", Use leaves the machine's own driver in
// place, so that the same tests run on a GPU; counters are then 0, and what only
// the fake can do is to be skipped by [Real].
package fake
