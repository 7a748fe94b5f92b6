package data

import (
	"fmt"

	"halfnote/tensor"
)

// FormatError reports a malformed file.
type FormatError struct {
	Format string // format, for example "safetensors"
	File   string // file name
	At     string // position in the file, for example "byte 8" or "line 3"
	Found  string // contents found
	Want   string // contents expected
}

// Error returns all fields in one line.
func (e *FormatError) Error() string {
	return fmt.Sprintf("data: %s: %s: %s: found %s; want %s", e.Format, e.File, e.At, e.Found, e.Want)
}

// need panics unless the argument called name of op is present; want describes it.
func need(op, name string, there bool, want string) {
	if !there {
		panic(&tensor.Error{Op: op, Why: name + " is nil; want " + want})
	}
}

// source is a file being read.
type source struct{ format, file string }

func (s source) bad(at, found, want string) error {
	return &FormatError{s.format, s.file, at, found, want}
}

// fail adds the file to an error.
func (s source) fail(err error) error {
	return fmt.Errorf("data: %s: %s: %w", s.format, s.file, err)
}

// atByte and atLine format positions.
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
