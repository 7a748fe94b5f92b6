package typemaker

import (
	"fmt"
	"reflect"
	"unsafe"
)

// wordType is the type of the receiver for the code of methods that have a word for it.
var wordType = reflect.TypeFor[unsafe.Pointer]()

// withReceiver returns the type of functions with one more parameter in front.
func withReceiver(receiver, sig reflect.Type) reflect.Type {
	in, out := []reflect.Type{receiver}, []reflect.Type(nil)
	for i := range sig.NumIn() {
		in = append(in, sig.In(i))
	}
	for i := range sig.NumOut() {
		out = append(out, sig.Out(i))
	}
	return reflect.FuncOf(in, out, sig.IsVariadic())
}

// onPointer returns a method for receivers that are pointers.
func (t *Type) onPointer(m Method) func([]reflect.Value) []reflect.Value {
	typ, pointer := t.typ, &t.pointer().common
	return func(args []reflect.Value) []reflect.Value {
		p := args[0].UnsafePointer()
		args[0] = holding(pointer, p)
		if !m.Pointer {
			if p == nil {
				panic(nilReceiver(fmt.Sprintf("value method %v.%s called using nil *%s pointer", typ, m.Name, typ.Name())))
			}
			v := reflect.New(typ).Elem() // what happens to *p during the call is not seen
			v.Set(args[0].Elem())
			args[0] = v
		}
		return m.Func(args)
	}
}

// onWord returns a method for receivers that interfaces hold themselves.
func (t *Type) onWord(m Method) func([]reflect.Value) []reflect.Value {
	own := t.own()
	return func(args []reflect.Value) []reflect.Value {
		args[0] = holding(own, args[0].UnsafePointer())
		return m.Func(args)
	}
}

// onUnderlying returns a method for receivers of the underlying type.
func (t *Type) onUnderlying(m Method) func([]reflect.Value) []reflect.Value {
	typ := t.typ
	return func(args []reflect.Value) []reflect.Value {
		args[0] = args[0].Convert(typ)
		return m.Func(args)
	}
}

// holding returns the content of an interface with that type and word. reflect.NewAt would look for the type of pointers
// under a lock.
func holding(c *common, word unsafe.Pointer) reflect.Value {
	var v any
	*(*[2]unsafe.Pointer)(unsafe.Pointer(&v)) = [2]unsafe.Pointer{unsafe.Pointer(c), word}
	return reflect.ValueOf(v)
}

// nilReceiver is what Go panics with in the same case.
type nilReceiver string

func (e nilReceiver) Error() string { return string(e) }
func (nilReceiver) RuntimeError()   {}
