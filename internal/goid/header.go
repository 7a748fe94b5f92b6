package goid

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// fromStack returns the number of the calling goroutine as runtime.Stack prints it.
func fromStack() uint64 {
	var buf [64]byte
	text := string(buf[:runtime.Stack(buf[:], false)])
	id, ok := Number(text)
	if !ok {
		panic(fmt.Sprintf("goid: runtime.Stack returned %q, want \"goroutine N [running]:\"; this Go (%s) is not supported", text, runtime.Version()))
	}
	return id
}

// Number returns the number of the goroutine whose traceback begins with text: 12 for "goroutine 12 [running]:". With
// GOTRACEBACK=system, addresses follow the number.
func Number(text string) (id uint64, ok bool) {
	text, ok = strings.CutPrefix(text, "goroutine ")
	digits, _, more := strings.Cut(text, " ")
	id, err := strconv.ParseUint(digits, 10, 64)
	return id, ok && more && err == nil && id != 0
}

// State returns the state of the goroutine whose traceback begins with text: "chan receive" for
// "goroutine 12 [chan receive, 2 minutes]:". Go 1.26 writes labels of profiles inside the brackets, 1.27 after them.
func State(text string) string {
	_, text, _ = strings.Cut(text, " [")
	text, _, _ = strings.Cut(text, " labels:{")
	if i := strings.IndexAny(text, ",]\n"); i >= 0 {
		text = text[:i]
	}
	return text
}
