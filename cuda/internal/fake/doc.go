//go:build cuda && linux && cgo

// Package fake is a CUDA driver on the CPU, for tests: a libcuda.so.1 that the test builds from C
// and that runs kernels with the PTX interpreter.
//
// [Use] makes it the process's driver. It exposes a program's mistakes as hardware would: work is
// delayed, and ordered only by streams and events; new memory holds NaN; accesses are
// bounds-checked; copies of pageable memory wait; a fault in a kernel ends its context, and
// [LastFault] names the line of the kernel.
//
// If HALFNOTE_CUDA_TEST is "device", Use keeps the machine's own driver, so that the same tests
// run on a GPU. Counters are then 0, and tests of what only the fake can do must be skipped if
// [Real].
package fake
