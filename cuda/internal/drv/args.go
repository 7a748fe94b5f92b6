//go:build cuda && linux && cgo

package drv

import (
	"fmt"
	"unsafe"

	"halfnote/cuda/internal/link"
)

// argBytes is the maximum size of a kernel's parameters (PTX ISA, "Kernel Function Parameters").
const argBytes = 4096

// Args are the parameters of a launch, by value and in order, with the layout of a C struct. The
// zero Args is empty. Reuse one: it escapes to the heap, so a new one per launch is 4 KiB of
// garbage. Adding more than 64 parameters or 4096 bytes panics.
type Args struct {
	n, used int
	offset  [link.Params]uint16
	buffer  [argBytes]byte
}

// Reset removes all parameters.
func (a *Args) Reset() { a.n, a.used = 0, 0 }

// Ptr adds a pointer.
func (a *Args) Ptr(p Ptr) { *(*Ptr)(a.add(8, 8)) = p }

// I32 adds an int.
func (a *Args) I32(v int32) { *(*int32)(a.add(4, 4)) = v }

// I64 adds a long long.
func (a *Args) I64(v int64) { *(*int64)(a.add(8, 8)) = v }

// F32 adds a float.
func (a *Args) F32(v float32) { *(*float32)(a.add(4, 4)) = v }

// F64 adds a double.
func (a *Args) F64(v float64) { *(*float64)(a.add(8, 8)) = v }

// Bytes adds a struct with the bytes b, aligned to 8.
func (a *Args) Bytes(b []byte) { copy(unsafe.Slice((*byte)(a.add(len(b), 8)), len(b)), b) }

// Struct adds v, whose layout must match the kernel's struct.
func Struct[T any](a *Args, v *T) {
	*(*T)(a.add(int(unsafe.Sizeof(*v)), int(unsafe.Alignof(*v)))) = *v
}

func (a *Args) add(size, align int) unsafe.Pointer {
	at := (a.used + align - 1) &^ (align - 1)
	if a.n == len(a.offset) || at+size > len(a.buffer) {
		panic(fmt.Sprintf("drv: parameter %d of %d bytes at %d: a launch takes %d parameters and %d bytes at most",
			a.n, size, at, len(a.offset), len(a.buffer)))
	}
	a.offset[a.n] = uint16(at)
	a.n++
	a.used = at + size
	return unsafe.Pointer(&a.buffer[at])
}
