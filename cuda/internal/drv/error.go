//go:build cuda && linux && cgo

package drv

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"halfnote/cuda/internal/link"
)

// Code is a CUresult. It is an error, so that callers can use errors.Is(err, OutOfMemory).
type Code int

const (
	InvalidValue       Code = 1
	OutOfMemory        Code = 2
	NotFound           Code = 500
	NotReady           Code = 600
	IllegalAddress     Code = 700
	NotSupported       Code = 801
	CaptureUnsupported Code = 900
	CaptureInvalidated Code = 901
)

func (c Code) Error() string {
	name, _ := link.ErrorName(int(c))
	if name == "" {
		name = "CUDA error"
	}
	return fmt.Sprintf("%s (%d)", name, int(c))
}

// sticky lists the results after which a context accepts no more work. Of most the reference
// says: "the process must be terminated and relaunched" (CUDA Driver API, CUresult). The first
// and the last are returned once the device is gone, after it fell off the bus or after a
// suspend.
var sticky = []Code{
	46,  // device unavailable
	214, // uncorrectable ECC error
	220, // uncorrectable NVLink error
	226, // contained error
	700, // illegal address
	702, // launch timed out
	709, // context destroyed by other code
	710, // assert in a kernel
	714, // hardware stack error
	715, // illegal instruction
	716, // misaligned address
	717, // invalid address space
	718, // invalid program counter
	719, // launch failed: any other fault in a kernel
	721, // tensor memory leak
	999, // unknown
}

// Error is a failed call of the driver.
type Error struct {
	Code Code
	Name string // symbol, for example "CUDA_ERROR_OUT_OF_MEMORY"
	Text string // driver's description
	Call string // call and its arguments, for example "cuMemAlloc of 8 bytes"
	Log  string // log of the PTX compiler
}

func newError(call string, r int) *Error {
	name, text := link.ErrorName(r)
	if name == "" {
		name, text = "CUDA error", "unknown to the driver"
	}
	return &Error{Code: Code(r), Name: name, Text: text, Call: call}
}

func (e *Error) Error() string {
	s := fmt.Sprintf("cuda: %s: %s (%s, %d)", e.Call, e.Text, e.Name, int(e.Code))
	if e.Log != "" {
		s += "\n" + e.Log
	}
	if e.Sticky() {
		s += "; the GPU accepts no more work from this process: restart the kernel. Tensors on the CPU stay usable"
	}
	return s
}

// Sticky reports whether the device is dead for the rest of the process. The error may be caused
// by an earlier call: launches fail asynchronously.
func (e *Error) Sticky() bool { return slices.Contains(sticky, e.Code) }

// Is reports whether target is the error's [Code].
func (e *Error) Is(target error) bool { return target == e.Code }

// code returns the CUresult in an error of cu, whose type has no exported name: an int, wrapped
// by some calls.
func code(err error) int {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if v := reflect.ValueOf(e); v.Kind() == reflect.Int {
			return int(v.Int())
		}
	}
	panic("drv: gorgonia.org/cu returned an error without a code: " + err.Error())
}
