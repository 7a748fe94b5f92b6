package typemaker

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"unsafe"
)

// stubSize is the size of the code of one stub in bytes.
const stubSize = 16

// slots holds the closures that the stubs call. The collector sees them here.
var slots [stubCount]unsafe.Pointer

var stubs struct {
	sync.Mutex
	used int
}

// room returns how many stubs are left.
func room() int {
	stubs.Lock()
	defer stubs.Unlock()
	return stubCount - stubs.used
}

// noRoom returns the error for n stubs too many.
func noRoom(n int) error {
	if stubCount == 0 {
		return fmt.Errorf("types made at run time have no methods on %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	return fmt.Errorf("the program has no room for %d more methods of types made at run time (it had room for %d)", n, stubCount)
}

// take returns the first of n free stubs.
func take(n int) (int, error) {
	stubs.Lock()
	defer stubs.Unlock()
	if stubs.used+n > stubCount {
		return 0, noRoom(n)
	}
	stubs.used += n
	return stubs.used - n, nil
}

// connect makes stub i call f, a result of reflect.MakeFunc, and returns the number of the stub's code.
func connect(i int, f reflect.Value) int32 {
	v := f.Interface()
	slots[i] = (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] // a function is a pointer to its closure
	return addReflectOff(unsafe.Add(firstStub(), i*stubSize))
}
