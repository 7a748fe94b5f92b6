package data

import (
	"fmt"

	"halfnote/tensor"
)

// FormatError reports a file that is not what it should be.
type FormatError struct {
	Format string // "safetensors"
	File   string // its name
	At     string // where in it: "byte 8", "line 3"
	Found  string // what is there
	Want   string // what was expected
}

// Error returns all of it in a line.
func (e *FormatError) Error() string {
	return fmt.Sprintf("data: %s: %s: %s: found %s; expected %s", e.Format, e.File, e.At, e.Found, e.Want)
}

// need panics unless an argument of op is there, which is called name and should be want.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&tensor.Error{Op: op, Why: name + " is nil; expected " + want})
	}
}

// source is a file that is being read.
type source struct{ format, file string }

func (s source) bad(at, found, want string) error {
	return &FormatError{s.format, s.file, at, found, want}
}

// fail gives an error of the world its place.
func (s source) fail(err error) error {
	return fmt.Errorf("data: %s: %s: %w", s.format, s.file, err)
}

// atByte and atLine say where.
func atByte(offset int64) string { return fmt.Sprintf("byte %d", offset) }
func atLine(line int) string     { return fmt.Sprintf("line %d", line) }

// quoted returns text from a file for an error message, cut short.
func quoted[T ~string | ~[]byte](text T) string {
	const most = 40
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}
