// Package goid identifies the calling goroutine by the number that the runtime gives it and prints in
// tracebacks. The number is unique in the life of the program. Go offers no function for it.
//
// The fast way reads the number from the runtime's description of the goroutine, runtime.g. The place of the number
// in the description is found when the program starts, by looking: it is the only place where several goroutines
// each have the number that [runtime.Stack] prints. So neither the name nor the place of a field of the runtime
// matters. Where no place or several places fit, and on processors without an assembly file here, Current asks runtime.Stack
// each time, which is right and takes several hundred times as long.
//
// The module github.com/timandy/routine, which github.com/visualfc/gid uses, is not used. It looks up four fields by name in a
// type that it finds among those of the program, and panics in its init if one is missing. That is before any code
// of an importer, so no fallback can replace it: with such a Go no command of the program would start.
package goid

import "os"

// variable is the environment variable that selects the way: "stack" for the slow one, a number for the only
// place to look at. Tests set it.
const variable = "HALFNOTE_GOID"

var offset, reason = find(os.Getenv(variable))

// Current returns the number of the calling goroutine.
func Current() uint64 {
	if offset != 0 {
		return word(offset)
	}
	return fromStack()
}

// Fast reports whether Current takes nanoseconds. Otherwise it takes microseconds, more where calls nest deep, and code
// that is called often must not call it each time.
func Fast() bool { return offset != 0 }

// Way describes how Current works: "fast", or "by runtime.Stack, because" and the reason.
func Way() string {
	if Fast() {
		return "fast"
	}
	return "by runtime.Stack, because " + reason
}

// Address returns the address of the runtime's description of the calling goroutine, or of the thread's own where the run-time system
// runs. It must not be called unless Fast reports true.
func Address() uintptr { return address() }
