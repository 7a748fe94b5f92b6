package engine

import "runtime"

// frames sets pcs to where the functions under way in the calling goroutine will go
// on, the innermost first, and returns their number, at most len(pcs). It follows
// the frame pointers, which Go's compiler keeps on this processor: a tenth of what
// runtime.Callers takes, which looks each function up.
//
//go:noescape
func frames(pcs []uintptr) int

// whole returns the function that f is written into by the compiler, or f itself: frames
// knows no others.
func whole(f *runtime.Func) *runtime.Func { return runtime.FuncForPC(f.Entry()) }
