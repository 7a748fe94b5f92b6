// Package words gives what interpreted code does the words of compiled Go: the panics of the run-time system,
// and the output of the built-in functions print and println.
package words

import (
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strings"
)

// RuntimeError is a runtime.Error with the text of compiled Go.
type RuntimeError string

func (e RuntimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (RuntimeError) RuntimeError() {}

// ConversionError is a run-time error whose text has no prefix, such as a failed type
// assertion.
type ConversionError string

func (e ConversionError) Error() string { return string(e) }

// RuntimeError implements runtime.Error.
func (ConversionError) RuntimeError() {}

// OutOfRange panics as Go does for an index of a slice, array or string.
func OutOfRange(i, n int) {
	if i < 0 {
		panic(RuntimeError(fmt.Sprintf("index out of range [%d]", i)))
	}
	panic(RuntimeError(fmt.Sprintf("index out of range [%d] with length %d", i, n)))
}

// ShiftCount returns the count of a shift, and panics as Go does if it is negative.
func ShiftCount(n int64) uint64 {
	if n < 0 {
		panic(RuntimeError("negative shift amount"))
	}
	return uint64(n)
}

// SliceOutOfRange panics as Go does for a slice expression. The bits of given are set for
// the bounds that are present.
func SliceOutOfRange(given, low, high, most, length, limit int, capacity bool) {
	what := "length"
	if capacity {
		what = "capacity"
	}
	fail := func(format string, args ...any) {
		panic(RuntimeError("slice bounds out of range " + fmt.Sprintf(format, args...)))
	}
	above := func(format string, bound int) {
		switch {
		case bound < 0:
			fail(format, bound)
		case bound > limit:
			fail(format+" with %s %d", bound, what, limit)
		}
	}
	top := length
	switch {
	case given&4 != 0:
		above("[::%d]", most)
		if high < 0 {
			fail("[:%d:]", high)
		}
		if high > most {
			fail("[:%d:%d]", high, most)
		}
		if low < 0 {
			fail("[%d::]", low)
		}
		fail("[%d:%d:]", low, high)
	case given&2 != 0:
		above("[:%d]", high)
		top = high
	}
	if low < 0 {
		fail("[%d:]", low)
	}
	fail("[%d:%d]", low, top)
}

// Of converts the panics of package reflect in interpreted code to those of
// compiled code.
func Of(v any) any {
	var text string
	switch v := v.(type) {
	case runtime.Error:
		text, ok := strings.CutPrefix(v.Error(), "runtime error: ")
		if v.Error() == "runtime: allocation size out of range" { // by reflect.MakeSlice
			return RuntimeError("makeslice: len out of range")
		}
		for _, whole := range []string{"interface conversion: ", "makechan: ", "runtime error: "} {
			if ok && strings.HasPrefix(text, whole) {
				return ConversionError(text)
			}
		}
		return v
	case *reflect.ValueError:
		if v.Kind == reflect.Invalid {
			return RuntimeError("invalid memory address or nil pointer dereference")
		}
		return v
	case string:
		text = v
	case error: // an error of the interpreter, which begins with a position
		text = v.Error()
		if i := strings.Index(text, ": interface conversion: "); i >= 0 && reflect.TypeOf(v).String() == "*interp.cfgError" {
			return ConversionError(text[i+2:])
		}
		return v
	default:
		return v
	}
	if i := strings.Index(text, "interface conversion: "); i >= 0 {
		return ConversionError(text[i:])
	}
	if text == "reflect.MakeChan: negative buffer size" {
		return ConversionError("makechan: size out of range")
	}
	if m := toArray.FindStringSubmatch(text); m != nil {
		return RuntimeError(fmt.Sprintf("cannot convert slice with length %s to array or pointer to array with length %s", m[1], m[2]))
	}
	for _, w := range reflectWords {
		if strings.Contains(text, w.reflect) {
			return RuntimeError(w.go_)
		}
	}
	return v
}

var toArray = regexp.MustCompile(`reflect: cannot convert slice with length (\d+) to (?:pointer to )?array with length (\d+)`)

var reflectWords = []struct{ reflect, go_ string }{
	{"reflect: slice index out of range", "index out of range"},
	{"reflect: array index out of range", "index out of range"},
	{"reflect: string index out of range", "index out of range"},
	{"reflect.Value.Slice: slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice: string slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice3: slice index out of bounds", "slice bounds out of range"},
	{"reflect.MakeSlice: negative len", "makeslice: len out of range"},
	{"reflect.MakeSlice: negative cap", "makeslice: cap out of range"},
	{"reflect.MakeSlice: len > cap", "makeslice: cap out of range"},
	{"reflect.Append: slice overflow", "growslice: len out of range"},
	{"reflect.Value.Grow: slice overflow", "growslice: len out of range"},
	{"reflect.Value.Call: call of nil function", "invalid memory address or nil pointer dereference"},
	{"reflect: Method on nil interface value", "invalid memory address or nil pointer dereference"},
	{"reflect: Call using zero Value argument", "invalid memory address or nil pointer dereference"},
	{"on zero Value", "invalid memory address or nil pointer dereference"},
}
