package engine

import "runtime"

// frames sets pcs to the return addresses of the active functions of the calling
// goroutine, innermost first, and returns their number, at most len(pcs). It follows
// the frame pointers, which Go's compiler keeps on this processor, in a tenth of the
// time of runtime.Callers, which looks each function up.
//
//go:noescape
func frames(pcs []uintptr) int

// whole returns the function that the compiler inlined f into, or f itself: frames sees
// only whole functions.
func whole(f *runtime.Func) *runtime.Func { return runtime.FuncForPC(f.Entry()) }
