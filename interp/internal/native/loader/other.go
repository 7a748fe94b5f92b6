//go:build !linux || !(amd64 || arm64) || !go1.26 || go1.28

package loader

import (
	"reflect"
	"runtime"
	"unsafe"

	"halfnote/interp/internal/native/object"
)

// Loader is never made on this system.
type Loader struct{}

// Options configures a loader.
type Options struct {
	Symbols   map[string]map[string]reflect.Value
	Addresses map[string]uintptr
	Names     func(path string) (object.Names, error)
}

// Supported says why objects cannot be loaded here.
func Supported() error { return Check(runtime.Version()) }

// Permitted returns the error of Supported.
func Permitted() error { return Supported() }

// New returns the error of Supported.
func New(Options) (*Loader, error) { return nil, Supported() }

// Define does nothing.
func (*Loader) Define(string, unsafe.Pointer) {}

// Forget does nothing.
func (*Loader) Forget(...string) {}

// Load returns the error of Supported.
func (*Loader) Load(*object.Object, string, map[string]bool, func(string, int) (string, int)) (*Module, error) {
	return nil, Supported()
}

// Size returns 0.
func (*Loader) Size() int { return 0 }

// Types returns no types.
func (*Loader) Types() []reflect.Type { return nil }

// Name returns no name.
func (*Loader) Name(reflect.Type) string { return "" }

// Module is never made on this system.
type Module struct{}

// Func returns no function.
func (*Module) Func(string) (f func(), ok bool) { return nil, false }

// Positions are those of a function, which is never loaded on this system.
type Positions struct{}

// At returns 0.
func (Positions) At(uintptr) int { return 0 }

// Positions returns none.
func (*Module) Positions(string) map[uintptr]Positions { return nil }

// Var is a variable, which is never made on this system.
type Var struct{}

// Value returns the zero Value.
func (Var) Value() reflect.Value { return reflect.Value{} }

// Var returns no variable.
func (*Module) Var(string) (v Var, ok bool) { return Var{}, false }

// Init does nothing.
func (*Module) Init() {}

// Function is the code of a function of the program.
type Function struct{}

// Functions returns the error of Supported.
func Functions(...string) (map[string]Function, error) { return nil, Supported() }

// Replace returns the error of Supported.
func Replace[F any](f Function, with F) (undo func() F, err error) { return nil, Supported() }

// Of returns no function.
func Of[F any](f Function) F { return *new(F) }

// ReplaceCalls returns the error of Supported.
func ReplaceCalls[F any](f Function, caller Function, with F) error { return Supported() }

// AddressesLeft returns 0, which stands for any number of addresses.
func AddressesLeft() int { return 0 }

// CatchOverflows returns the error of Supported.
func CatchOverflows(_, _ int, _ func()) error { return Supported() }

// ResetOverflow does nothing.
func ResetOverflow() {}

// LimitStacks does nothing.
func LimitStacks(int) {}

// StackLimit returns 0.
func StackLimit() int { return 0 }

// Preemptible returns false.
func Preemptible() bool { return false }

// InUnits returns false.
func InUnits(uintptr) bool { return false }
