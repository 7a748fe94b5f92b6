//go:build cuda && linux && cgo

package link

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import "unsafe"

// Params is the maximum number of parameters of a launch.
const Params = C.LINK_PARAMS

// Launch enqueues f on stream. Parameter i, by value, starts at params[offset[i]]. The driver has
// copied all parameters when Launch returns.
func Launch(ctx, f uintptr, grid, block [3]uint32, shared uint32, stream uintptr, params *byte, offset *uint16, n int) int {
	return int(C.link_launch(C.uintptr_t(ctx), C.uintptr_t(f),
		C.uint(grid[0]), C.uint(grid[1]), C.uint(grid[2]), C.uint(block[0]), C.uint(block[1]), C.uint(block[2]),
		C.uint(shared), C.uintptr_t(stream), (*C.char)(unsafe.Pointer(params)), (*C.uint16_t)(unsafe.Pointer(offset)), C.int(n)))
}

// BeginCapture makes stream record work instead of running it.
func BeginCapture(ctx, stream uintptr) int {
	return int(C.link_begin_capture(C.uintptr_t(ctx), C.uintptr_t(stream)))
}

// EndCapture returns the recorded work as an executable graph.
func EndCapture(ctx, stream uintptr) (exec uintptr, result int) {
	var x C.uintptr_t
	r := C.link_end_capture(C.uintptr_t(ctx), C.uintptr_t(stream), &x)
	return uintptr(x), int(r)
}

// LaunchGraph enqueues an executable graph on stream.
func LaunchGraph(ctx, exec, stream uintptr) int {
	return int(C.link_graph_launch(C.uintptr_t(ctx), C.uintptr_t(exec), C.uintptr_t(stream)))
}

// FreeGraph frees an executable graph, once it has run.
func FreeGraph(ctx, exec uintptr) int {
	return int(C.link_graph_free(C.uintptr_t(ctx), C.uintptr_t(exec)))
}

// AllocHost returns n bytes of page-locked memory that every device can copy from and to.
func AllocHost(ctx uintptr, n int) (p unsafe.Pointer, result int) {
	var x C.uintptr_t
	r := C.link_host_alloc(C.uintptr_t(ctx), C.size_t(n), &x)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x)), int(r)
}

// FreeHost frees memory of AllocHost.
func FreeHost(ctx uintptr, p unsafe.Pointer) int {
	return int(C.link_host_free(C.uintptr_t(ctx), C.uintptr_t(uintptr(p))))
}

// SetFunction sets a CUfunction_attribute.
func SetFunction(ctx, f uintptr, attribute, value int) int {
	return int(C.link_function_set(C.uintptr_t(ctx), C.uintptr_t(f), C.int(attribute), C.int(value)))
}

// LoadModule compiles PTX text. log holds the compiler's errors.
func LoadModule(ctx uintptr, ptx string) (module uintptr, log string, result int) {
	const size = 16 << 10
	text, buffer := C.CString(ptx), (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(buffer))
	var m C.uintptr_t
	r := C.link_module_load(C.uintptr_t(ctx), text, &m, buffer, size-1)
	return uintptr(m), C.GoString(buffer), int(r)
}

// ErrorName returns the name of a result, for example "CUDA_ERROR_OUT_OF_MEMORY", and the
// driver's description; both are empty without a driver that knows it.
func ErrorName(code int) (name, text string) {
	return C.GoString(C.link_error_name(C.int(code))), C.GoString(C.link_error_text(C.int(code)))
}
