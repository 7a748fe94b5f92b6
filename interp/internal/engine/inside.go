package engine

import (
	"runtime"
	"strings"
)

// Inside lists the compiled functions that the current panic of the calling goroutine
// has left, up to the first function of the interpreter's packages, whose paths start
// with prefix.
func Inside(prefix string) (list []string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	panicked := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked, list = true, nil
		case strings.HasPrefix(f.Function, "reflect."), strings.HasPrefix(f.Function, prefix):
			if panicked {
				return list
			}
		case panicked && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "halfnote/interp"):
			list = append(list, f.Function)
		}
		if !more {
			return nil
		}
	}
}
