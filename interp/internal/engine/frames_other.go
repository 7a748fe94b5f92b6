//go:build !amd64

package engine

import "runtime"

// frames sets pcs to the return addresses of the active functions of the calling
// goroutine, innermost first, and returns their number, at most len(pcs).
func frames(pcs []uintptr) int { return runtime.Callers(0, pcs) }

func whole(f *runtime.Func) *runtime.Func { return f }
