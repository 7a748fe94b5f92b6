package yaegi

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Yaegi does not copy an argument for which reflect.Value.IsZero holds, because its parameter is zero already. A negative zero is zero
// for IsZero, and so is a struct or an array of such numbers: they would arrive as 0. The code of a call therefore leaves these arguments
// for the code of the function's first node, which sets the parameters.

// zeros holds the arguments of calls that are about to begin, by goroutine.
type zeros struct {
	goroutine func() uint64
	count     atomic.Int32 // calls in left
	mu        sync.Mutex
	left      map[uint64]leftCall
}

// leftCall is a call with negative zeros.
type leftCall struct {
	first unsafe.Pointer        // the function's first node
	args  map[int]reflect.Value // by place in the function's frame
}

func (z *zeros) leave(c leftCall) {
	id := z.goroutine()
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.left == nil {
		z.left = map[uint64]leftCall{}
	}
	z.left[id] = c
	z.count.Store(int32(len(z.left)))
}

// take removes the call that the goroutine has left.
func (z *zeros) take() leftCall {
	id := z.goroutine()
	z.mu.Lock()
	defer z.mu.Unlock()
	c := z.left[id]
	delete(z.left, id)
	z.count.Store(int32(len(z.left)))
	return c
}

// negative reports whether a value is a zero for reflect, and not all of its bits are.
func negative(v reflect.Value) bool {
	if !mayBeNegative(v.Kind()) || !v.IsZero() {
		return false
	}
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	for _, b := range unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size()) {
		if b != 0 {
			return true
		}
	}
	return false
}

func mayBeNegative(k reflect.Kind) bool {
	switch k {
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Array, reflect.Struct:
		return true
	}
	return false
}

// without lists the categories of Yaegi's types whose values are never negative zeros.
var without = []string{
	"boolT", "chanT", "errorT", "funcT", "interfaceT", "intT", "int8T", "int16T", "int32T", "int64T", "mapT", "nilT", "ptrT", "sliceT", "stringT", "uintT",
	"uint8T", "uint16T", "uint32T", "uint64T", "uintptrT",
}

// passesNumbers reports whether an argument of a call may be a negative zero.
func (m *guards) passesNumbers(call unsafe.Pointer) bool {
	if name(m.read(*m.tree.node(call, "anc"), m.node), "kind", "interp.nkind") == "deferStmt" { // all arguments of such a call are copied
		return false
	}
	return slices.ContainsFunc(m.tree.nodes(call, "child")[1:], func(arg unsafe.Pointer) bool {
		typ := *m.tree.node(arg, "typ")
		return typ != nil && (!slices.Contains(without, name(m.read(typ, m.itype), "cat", "interp.tcat")) || m.isCall(arg))
	})
}

// called makes a call leave its negative zeros.
func (m *guards) called(n unsafe.Pointer) {
	values := m.arguments(n)
	function := genValue(m.child(n, 0))
	exec := at[run](n, m.exec)
	original := *exec
	*exec = func(f unsafe.Pointer) run {
		var args map[int]reflect.Value
		for place, value := range values {
			if v := value(f); negative(v) {
				if args == nil {
					args = map[int]reflect.Value{}
				}
				args[place] = v
			}
		}
		if args == nil {
			return original(f)
		}
		if first := m.first(function(f)); first != nil {
			m.zeros.leave(leftCall{first, args})
			defer m.zeros.take()
		}
		return original(f)
	}
}

// arguments returns what reads the arguments of a call, by place in the function's frame.
func (m *guards) arguments(call unsafe.Pointer) map[int]func(frame unsafe.Pointer) reflect.Value {
	place := m.results(call)
	all := map[int]func(unsafe.Pointer) reflect.Value{}
	for _, arg := range m.tree.nodes(call, "child")[1:] {
		if !m.isCall(arg) {
			all[place] = genValue(arg)
			place++
			continue
		}
		for i := range m.results(arg) {
			at0 := *at[int](arg, m.findex) + i
			all[place] = func(f unsafe.Pointer) reflect.Value { return (*at[[]reflect.Value](f, m.data))[at0] }
			place++
		}
	}
	return all
}

// results returns the number of results of a call.
func (m *guards) results(call unsafe.Pointer) int {
	typ := m.read(*m.tree.node(m.child(call, 0), "typ"), m.itype)
	if out := field(typ, "rtype", "reflect.Type"); !out.IsNil() && name(typ, "cat", "interp.tcat") == "valueT" {
		return out.Interface().(reflect.Type).NumOut()
	}
	return field(typ, "ret", "[]*interp.itype").Len()
}

// isCall reports whether a node is a call of a function, and not a conversion or a built-in function.
func (m *guards) isCall(n unsafe.Pointer) bool {
	action := name(m.read(n, m.node), "action", "interp.action")
	return action == "call" || action == "callSlice"
}

// first returns the first node of the function that a call calls, or nil if the function is compiled.
func (m *guards) first(function reflect.Value) unsafe.Pointer {
	node, ok := function, function.IsValid()
	for ok && node.Kind() == reflect.Interface {
		node = node.Elem()
	}
	if !ok || node.Type() != reflect.PointerTo(m.node) || node.IsNil() {
		return nil
	}
	f := node.UnsafePointer()
	if field(m.read(f, m.node), "rval", "reflect.Value").Interface().(reflect.Value).IsValid() {
		return nil
	}
	return *m.tree.node(m.child(f, 3), "start")
}

// takesNumbers reports whether a function, declared or a literal, may have a negative zero as an argument.
func (m *guards) takesNumbers(n unsafe.Pointer) bool {
	return m.tree.isFunc(n) && *m.tree.node(m.child(n, 3), "start") != nil &&
		slices.ContainsFunc(field(m.read(n, m.node), "types", "[]reflect.Type").Interface().([]reflect.Type), func(t reflect.Type) bool { return mayBeNegative(t.Kind()) })
}

// wrapFirst makes the first node of a function take the negative zeros of its call.
func (m *guards) wrapFirst(first unsafe.Pointer) {
	gen := at[generator](first, m.gen)
	generate := *gen
	*gen = func(n unsafe.Pointer) {
		generate(n)
		exec := at[run](n, m.exec)
		original := *exec
		if original == nil { // a return without values, which is all that the function does
			return
		}
		*exec = func(f unsafe.Pointer) run {
			if m.zeros.count.Load() != 0 {
				if c := m.zeros.take(); c.first == first {
					data := *at[[]reflect.Value](f, m.data)
					for place, v := range c.args {
						if place < len(data) && data[place].Type() == v.Type() {
							data[place].Set(v)
						}
					}
				}
			}
			return original(f)
		}
	}
}

// read returns a struct of Yaegi.
func (m *guards) read(p unsafe.Pointer, t reflect.Type) reflect.Value {
	return reflect.NewAt(t, p).Elem()
}

// name returns the text of a field of an enumerated type.
func name(v reflect.Value, of, typ string) string {
	return field(v, of, typ).Interface().(fmt.Stringer).String()
}
