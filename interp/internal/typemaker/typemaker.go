// Package typemaker makes named types with methods, and struct types with embedded fields, while the
// program runs. Package reflect makes neither.
//
// A type is memory in the form of the descriptions that the compiler writes (layout.go). A method is
// code that an interface calls by its address alone, with the arguments in registers. Here it is a function
// that reflect.MakeFunc has made, with the receiver as its first parameter. The code of such
// a function, reflect's makeFuncStub, is the same for all of them and finds out which one it is by the
// register that points to the closure, which a call through an interface does not set. So each method has
// a stub, three instructions that load the closure from a table and jump to its code (stubs_*.s).
// A stub has no frame and touches no argument: what is hard, the maps of pointers in registers and on the
// stack, results, growth of the stack and panics, is makeFuncStub's business, which the runtime knows
// by its name.
//
// The function of an entry in a list of methods has as its first parameter:
//
//	list of   method on   called by an interface (ifn)         called by reflect (tfn)
//	*T        *T or T     unsafe.Pointer, the *T               the same
//	T         T           unsafe.Pointer, the word that an     the underlying type, or unsafe.Pointer
//	                      interface holds: a *T, or the value  if an interface holds the value itself
//	                      itself if it is a pointer
//
// Types that differ in nothing else than their receivers share types of functions this way, and reflect
// keeps the types of functions, with their layouts, forever.
//
// Types made here live as long as the program, as those of package reflect do. Stubs are not reused, because
// compiled code may keep a method as long as a type. Methods are exported; the others could be called
// by no compiled code. On processors without stubs (stubs_none.go), Declare refuses methods. Releases of
// Go newer than those that this package knows are refused too, since their descriptions may differ.
package typemaker

import (
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Method is a method of a named type.
type Method struct {
	Name    string
	Pointer bool         // whether the receiver must be a pointer
	Type    reflect.Type // without the receiver
	// Func is the method. args[0] is the receiver, a T or, if Pointer is true, a *T. The last argument of a variadic method is a slice.
	Func func(args []reflect.Value) []reflect.Value
}

// Type is a named type that may still lack its underlying type and its methods.
type Type struct {
	typ             reflect.Type
	like            reflect.Type // the type whose description was copied; keeps what it refers to alive
	values, methods int
	data            []uintptr // the descriptions of T and *T, in which the collector sees no pointers
}

// made keeps the types.
var made struct {
	sync.Mutex
	types []*Type
}

var hashes atomic.Uint32

// newHash returns another hash for each type.
func newHash() uint32 { return hashes.Add(1) * 0x9e3779b9 }

// unknown returns an error if the release of Go is too new.
func unknown() error {
	if known {
		return nil
	}
	return fmt.Errorf("this program was built by %s, whose descriptions of types it does not know: build it with Go 1.27", runtime.Version())
}

// Declare makes a type with the name path.name, for example main.T, and the underlying type of like. Other
// types may be made of it at once. Before it has values, Define must give it its underlying type, which
// has the same layout as like, and its methods. values is the number of methods whose receiver is a
// value, pointers that of the others.
func Declare(path, name string, like reflect.Type, values, pointers int) (*Type, error) {
	if err := unknown(); err != nil {
		return nil, err
	}
	t := &Type{like: like, values: values, methods: values + pointers}
	if t.methods > 1<<16-1 {
		return nil, fmt.Errorf("type %s.%s has %d methods, and a type can have %d", path, name, t.methods, 1<<16-1)
	}
	if n := t.stubs(); n > room() {
		return nil, noRoom(n)
	}
	n := t.ownWords()
	if t.methods > 0 {
		n += words(reflect.Pointer) + uncommonWords + t.methods*methodWords
	}
	t.data = make([]uintptr, n)

	text := path[strings.LastIndex(path, "/")+1:] + "." + name
	var flags byte
	if token.IsExported(name) {
		flags = nameExported
	}
	c := t.own()
	c.hash, c.str = newHash(), addReflectOff(unsafe.Pointer(newName("*"+text, "", flags)))
	if t.methods > 0 {
		p := t.pointer()
		*p = *(*ptrType)(unsafe.Pointer(description(reflect.TypeFor[*int]())))
		p.elem = c
		p.hash, p.str, p.ptrToThis = newHash(), c.str, 0
		p.tflag = p.tflag&^(tflagNamed|tflagExtraStar) | tflagUncommon
		c.ptrToThis = addReflectOff(unsafe.Pointer(p))
		*t.pointerUncommon() = uncommon{moff: uint32(unsafe.Sizeof(uncommon{}))}
	}
	t.copy(like)
	*t.ownUncommon() = uncommon{pkgPath: nameNumber(path, 0), moff: uint32(unsafe.Sizeof(uncommon{})) + uint32(params(like))*uint32(wordSize)}
	t.typ = described(c)

	made.Lock()
	defer made.Unlock()
	made.types = append(made.types, t)
	return t, nil
}

// Reflect returns the type.
func (t *Type) Reflect() reflect.Type { return t.typ }

// stubs returns how many stubs the methods need: one for the methods of *T, and one more for those that T
// has too.
func (t *Type) stubs() int { return t.methods + t.values }

// direct reports whether an interface holds a value of the type itself.
func (t *Type) direct() bool { return description(t.like).tflag&tflagDirectIface != 0 }

// Define completes a type, which has to have the layout and the numbers of methods that were declared. After
// an error the type must not be used.
func (t *Type) Define(under reflect.Type, list []Method) error {
	if !sameLayout(t.like, under) {
		return fmt.Errorf("%v was declared with the layout of %v, which is not that of %v", t.typ, t.like, under)
	}
	list = slices.SortedFunc(slices.Values(list), func(a, b Method) int { return strings.Compare(a.Name, b.Name) })
	values := 0
	for i, m := range list {
		switch {
		case !token.IsExported(m.Name):
			return fmt.Errorf("method %s of %v is not exported", m.Name, t.typ)
		case i > 0 && m.Name == list[i-1].Name:
			return fmt.Errorf("%v has two methods %s", t.typ, m.Name)
		case !m.Pointer:
			values++
		}
	}
	if values != t.values || len(list) != t.methods {
		return fmt.Errorf("%v was declared with %d methods on values and %d on pointers, and has %d and %d", t.typ, t.values, t.methods-t.values, values, len(list)-values)
	}
	stub, err := take(t.stubs())
	if err != nil {
		return err
	}
	t.copy(under)
	next := func(receiver, sig reflect.Type, f func([]reflect.Value) []reflect.Value) int32 {
		stub++
		return connect(stub-1, reflect.MakeFunc(withReceiver(receiver, sig), f))
	}
	own, all := t.ownMethods(), t.pointerMethods()
	for i, m := range list {
		e := method{name: nameNumber(m.Name, nameExported), mtyp: addReflectOff(unsafe.Pointer(description(m.Type)))}
		e.ifn = next(wordType, m.Type, t.onPointer(m))
		e.tfn = e.ifn
		all[i] = e
		switch {
		case m.Pointer:
			continue
		case t.direct():
			e.tfn = next(wordType, m.Type, t.onWord(m))
			e.ifn = e.tfn
		default:
			e.tfn = next(under, m.Type, t.onUnderlying(m))
		}
		own[0], own = e, own[1:]
	}
	// From here on the type has its methods.
	n := uint16(t.values)
	t.ownUncommon().mcount, t.ownUncommon().xcount = n, n
	if t.methods > 0 {
		n = uint16(t.methods)
		t.pointerUncommon().mcount, t.pointerUncommon().xcount = n, n
	}
	return nil
}
