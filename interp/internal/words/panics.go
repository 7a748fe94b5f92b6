// Package words gives what interpreted code does the words of compiled Go: the panics of the run-time system,
// and the output of the built-in functions print and println.
package words

import (
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// RuntimeError returns the error with which compiled code panics, one of Go's own type, without the beginning of its text.
func RuntimeError(text string) error { return stringError(withPrefix, text) }

// PlainError is RuntimeError for a text that does not begin with "runtime error: ".
func PlainError(text string) error { return stringError(withoutPrefix, text) }

// withPrefix and withoutPrefix are the types of run-time errors that are strings.
var (
	withPrefix    = panicType(func() { ShiftCount(-1) })
	withoutPrefix = panicType(func() { close((chan int)(nil)) })
)

// panicType returns the type of the value with which f panics.
func panicType(f func()) (t reflect.Type) {
	defer func() { t = reflect.TypeOf(recover()) }()
	f()
	return nil
}

func stringError(t reflect.Type, text string) error {
	v := reflect.New(t).Elem()
	v.SetString(text)
	return v.Interface().(error)
}

// AssertionError is a failed type assertion. Like Go's own error it is not a string, which package fmt would see.
type AssertionError struct{ Text string }

func (e *AssertionError) Error() string { return e.Text }

// RuntimeError implements runtime.Error.
func (*AssertionError) RuntimeError() {}

// ShiftCount panics as Go does if the count of a shift is negative.
func ShiftCount(n int64) { _ = 1 << n }

// Of converts the panics of package reflect in interpreted code to those of
// compiled code. It calls no method of a type of cells, which might panic, or never return.
func Of(v any) any {
	var text string
	switch v := v.(type) {
	case runtime.Error:
		if !OfRuntime(v) {
			return v
		}
		text, ok := strings.CutPrefix(v.Error(), "runtime error: ")
		if v.Error() == "runtime: allocation size out of range" { // by reflect.MakeSlice
			return RuntimeError("makeslice: len out of range")
		}
		switch {
		case ok && strings.HasPrefix(text, assertion):
			return &AssertionError{text}
		case ok && (strings.HasPrefix(text, "makechan: ") || strings.HasPrefix(text, "runtime error: ")):
			return PlainError(text)
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
		if reflect.TypeOf(v).String() != "*interp.cfgError" {
			return v
		}
		if text := v.Error(); strings.Contains(text, ": "+assertion) {
			return &AssertionError{text[strings.Index(text, ": "+assertion)+2:]}
		}
		return v
	default:
		return v
	}
	if i := strings.Index(text, assertion); i >= 0 {
		return &AssertionError{text[i:]}
	}
	if text == "reflect.Value.Addr of unaddressable value" { // &*p of a nil pointer
		return RuntimeError("invalid memory address or nil pointer dereference")
	}
	if text == "reflect.MakeChan: negative buffer size" {
		return PlainError("makechan: size out of range")
	}
	if m := toArray.FindStringSubmatch(text); m != nil {
		have, _ := strconv.Atoi(m[1])
		want, _ := strconv.ParseInt(m[2], 10, 64)
		return outOfBounds(convert, want, true, have)
	}
	for _, w := range reflectWords {
		if strings.Contains(text, w.reflect) {
			return RuntimeError(w.go_)
		}
	}
	return v
}

// OfRuntime reports whether an error is one of Go's run-time system, or stands for one. Types of cells can have the same methods.
func OfRuntime(err runtime.Error) bool {
	if _, ok := err.(*AssertionError); ok {
		return true
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath() == "runtime" || strings.HasPrefix(t.PkgPath(), "internal/runtime/")
}

// assertion begins the texts of failed type assertions.
const assertion = "interface conversion: "

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
