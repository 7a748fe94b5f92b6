package engine

import "runtime"

// Depth counts the calls under way in the calling goroutine of the host's function
// that runs interpreted functions: is knows its name.
func Depth(is func(function string) bool) int { return depth(is, 1<<20) }

// Deeper tells whether there are more than limit of them, each of which takes at
// least one further call of the host's: with fewer than 2*limit calls in all there
// is no need to look.
func Deeper(limit int, is func(function string) bool) bool {
	var one [1]uintptr
	if runtime.Callers(2*limit, one[:]) == 0 {
		return false
	}
	return depth(is, 16*limit) > limit
}

func depth(is func(string) bool, maxFrames int) int {
	pcs := make([]uintptr, 1024)
	n := runtime.Callers(0, pcs)
	for n == len(pcs) && n < maxFrames {
		pcs = make([]uintptr, min(8*n, maxFrames))
		n = runtime.Callers(0, pcs)
	}
	calls := 0
	known := map[uintptr]bool{}
	for _, pc := range pcs[:n] {
		runs, ok := known[pc]
		if !ok {
			f := runtime.FuncForPC(pc - 1) // of the call, not of what follows it
			runs = f != nil && is(f.Name())
			known[pc] = runs
		}
		if runs {
			calls++
		}
	}
	return calls
}
