package symbols

import (
	"reflect"

	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

// Lifetimes returns the functions that units call to release results: see tensor.Internal.
func Lifetimes() map[string]reflect.Value {
	f := tensor.Internal(plumbing.Token{}).Lifetimes
	return map[string]reflect.Value{
		"Begin": reflect.ValueOf(f.Begin),
		"Hold":  reflect.ValueOf(f.Hold),
		"Free":  reflect.ValueOf(f.Free),
		"Share": reflect.ValueOf(f.Share),
	}
}
