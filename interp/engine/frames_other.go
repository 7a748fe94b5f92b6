//go:build !amd64

package engine

import "runtime"

// frames sets pcs to where the functions under way in the calling goroutine will go
// on, the innermost first, and returns their number, at most len(pcs).
func frames(pcs []uintptr) int { return runtime.Callers(0, pcs) }

func whole(f *runtime.Func) *runtime.Func { return f }
