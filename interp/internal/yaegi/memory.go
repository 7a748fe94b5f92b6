package yaegi

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// memory releases the data that Yaegi keeps about each compiled unit, and finds variables
// without a list of all. Yaegi holds the nodes of a unit in a list of roots that only its
// debugger reads, in a list of inner scopes that nothing reads, and in symbols. It cannot
// release them, so memory uses unexported fields.
type memory struct {
	inner reflect.Value // the interpreter
	tree  tree
	made  int // number of places whose variable has been allocated
}

// newMemory fails if Yaegi's layout is not that of v0.16.1.
func newMemory(y *interp.Interpreter, goroutine func() uint64) (m *memory, g *guards, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaegi: unexpected memory layout, want that of v0.16.1: %v", r)
		}
	}()
	m = &memory{inner: reflect.ValueOf(y).Elem()}
	node := m.roots().Type().Elem().Elem()
	m.tree = newTree(node)
	g = newGuards(node, m.tree, goroutine)
	m.symbols()
	m.made = len(*m.variables())
	for _, sc := range m.scopes() {
		children(sc)
		layout(sc)
	}
	for name, kind := range map[string]string{"node": "*interp.node", "index": "int", "global": "bool"} {
		f, ok := m.symbols().Type().Elem().Elem().FieldByName(name)
		if !ok || f.Type.String() != kind {
			return nil, nil, fmt.Errorf("yaegi: symbols have no field %s of type %s", name, kind)
		}
	}
	return m, g, nil
}

// field returns a field of a struct, settable although it is not exported.
func field(v reflect.Value, name, typ string) reflect.Value {
	f := v.FieldByName(name)
	if !f.IsValid() || f.Type().String() != typ {
		panic(fmt.Sprintf("%s has no field %s of type %s", v.Type(), name, typ))
	}
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

func (m *memory) roots() reflect.Value { return field(m.inner, "roots", "[]*interp.node") }

// scopes returns the scopes of the universe and of package main, which share the layout
// of their variables.
func (m *memory) scopes() []reflect.Value {
	return []reflect.Value{field(m.inner, "universe", "*interp.scope").Elem(), m.mainScope()}
}

func (m *memory) mainScope() reflect.Value {
	return field(m.inner, "scopes", "map[string]*interp.scope").MapIndex(reflect.ValueOf("main")).Elem()
}

func children(scope reflect.Value) reflect.Value { return field(scope, "child", "[]*interp.scope") }

func layout(scope reflect.Value) *[]reflect.Type {
	return field(scope, "types", "[]reflect.Type").Addr().Interface().(*[]reflect.Type)
}

// symbols returns the symbols of package main.
func (m *memory) symbols() reflect.Value {
	return field(m.mainScope(), "sym", "map[string]*interp.symbol")
}

// variables returns the places of package variables and of temporaries next to them.
func (m *memory) variables() *[]reflect.Value {
	frame := field(m.inner, "frame", "*interp.frame").Elem()
	return field(frame, "data", "[]reflect.Value").Addr().Interface().(*[]reflect.Value)
}

// size returns the number of places that the layout has.
func (m *memory) size() int { return len(*layout(m.scopes()[0])) }

// grow allocates the places of the layout as Yaegi does, but ahead of time and in place:
// Yaegi copies all of them for each unit while goroutines use them.
func (m *memory) grow() {
	data, types := m.variables(), *layout(m.scopes()[0])
	if len(types) > len(*data) {
		*data = append(make([]reflect.Value, 0, 2*len(types)+1000), *data...)
		*data = (*data)[:cap(*data)]
	}
	for i := m.made; i < len(types); i++ {
		(*data)[i] = reflect.New(types[i]).Elem()
	}
	m.made = len(types)
}

// shrink releases the places from size on.
func (m *memory) shrink(size int) {
	for _, sc := range m.scopes() {
		types := layout(sc)
		clear((*types)[min(size, len(*types)):])
		*types = (*types)[:min(size, len(*types))]
	}
	clear((*m.variables())[size:m.made])
	m.made = size
}

// slot returns a variable of package main.
func (m *memory) slot(name string) (v reflect.Value, ok bool) {
	sym := m.symbols().MapIndex(reflect.ValueOf(name))
	if !sym.IsValid() || !sym.Elem().FieldByName("global").Bool() {
		return v, false
	}
	data, i := *m.variables(), int(sym.Elem().FieldByName("index").Int())
	if i < 0 || i >= m.made {
		return v, false
	}
	return data[i], data[i].CanAddr()
}

// remove forgets a name of package main.
func (m *memory) remove(name string) {
	m.symbols().SetMapIndex(reflect.ValueOf(name), reflect.Value{})
}

// settle forgets the references to a unit, except for its named objects. Variables and types do
// not need their node once they are compiled, unless Yaegi will read a type again.
func (m *memory) settle(names []string) {
	m.roots().SetZero()
	for _, sc := range m.scopes() {
		children(sc).SetZero()
	}
	symbols := m.symbols()
	for _, name := range names {
		sym := symbols.MapIndex(reflect.ValueOf(name))
		if !sym.IsValid() {
			continue
		}
		if typ := field(sym.Elem(), "typ", typePointer); typ.IsNil() || !field(typ.Elem(), "incomplete", "bool").Bool() {
			field(sym.Elem(), "node", "*interp.node").SetZero()
		}
	}
}

// unit is the state of a unit while its entry function may run.
type unit struct {
	base, top int      // range of its places
	names     []string // names that it declared
	marks     []string // names of its marks
	literals  bool     // whether functions may outlive the entry function
	entry     []string // entry function, and the variable that registered it
}

// free releases the parts of a unit that only its entry function needed.
func (m *memory) free(u *unit) {
	for _, name := range u.entry {
		m.remove(name)
	}
	symbols := m.symbols()
	gone := func(name string) bool { return !symbols.MapIndex(reflect.ValueOf(name)).IsValid() }
	if !u.literals && m.size() == u.top && !slices.ContainsFunc(u.names, func(name string) bool { return !gone(name) }) {
		m.shrink(u.base)
	}
}
