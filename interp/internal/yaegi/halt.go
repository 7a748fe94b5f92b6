package yaegi

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// Halt implements engine.Halter. Every frame has the number of the run that made it and
// stops when the interpreter has a different one. The number is not exported; if it is
// not found as expected, ok is false.
func (e *Engine) Halt() (resume func(), ok bool) {
	if runID == nil {
		return nil, false
	}
	id := (*uint64)(unsafe.Add(unsafe.Pointer(e.yaegi), runID.Offset))
	atomic.AddUint64(id, 1)
	return func() { atomic.AddUint64(id, ^uint64(0)) }, true
}

// runID is the field that holds the number of the run, or nil if there is none.
var runID = func() *reflect.StructField {
	f, ok := reflect.TypeFor[interp.Interpreter]().FieldByName("id")
	if !ok || f.Type.Kind() != reflect.Uint64 {
		return nil
	}
	return &f
}()
