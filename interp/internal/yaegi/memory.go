package yaegi

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// memory frees what Yaegi keeps of each unit that it has compiled, and finds
// variables without a list of all. Yaegi holds the nodes of a unit by a list of
// roots that only its debugger reads, by a list of inner scopes that nothing reads,
// and by symbols. It has no way to give them up, so memory reaches into fields that
// are not exported.
type memory struct {
	inner reflect.Value // the interpreter
	tree  tree
	made  int // places that have their variable
}

// newMemory fails if Yaegi is not laid out as v0.16.1 is.
func newMemory(y *interp.Interpreter) (m *memory, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaegi: its memory is not what was expected: %v", r)
		}
	}()
	m = &memory{inner: reflect.ValueOf(y).Elem()}
	m.tree = newTree(m.roots().Type().Elem().Elem())
	m.symbols()
	m.made = len(*m.variables())
	for _, sc := range m.scopes() {
		children(sc)
		layout(sc)
	}
	for name, kind := range map[string]string{"node": "*interp.node", "index": "int", "global": "bool"} {
		f, ok := m.symbols().Type().Elem().Elem().FieldByName(name)
		if !ok || f.Type.String() != kind {
			return nil, fmt.Errorf("yaegi: symbols have no field %s of type %s", name, kind)
		}
	}
	return m, nil
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

// scopes returns the scopes of the universe and of package main, which share the
// layout of their variables.
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

// symbols returns what package main declares.
func (m *memory) symbols() reflect.Value {
	return field(m.mainScope(), "sym", "map[string]*interp.symbol")
}

// variables returns the places of package variables and of temporaries beside them.
func (m *memory) variables() *[]reflect.Value {
	frame := field(m.inner, "frame", "*interp.frame").Elem()
	return field(frame, "data", "[]reflect.Value").Addr().Interface().(*[]reflect.Value)
}

// size returns the number of places that the layout has.
func (m *memory) size() int { return len(*layout(m.scopes()[0])) }

// grow makes places for what the layout has, as Yaegi does, but ahead and in place:
// Yaegi copies all of them for each unit, under the hands of goroutines.
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

// shrink gives up the places from size on.
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

// settle forgets what led to a unit, but for what the names stand for. Variables
// have no use for their node once they are compiled.
func (m *memory) settle(variables []string) {
	m.roots().SetZero()
	for _, sc := range m.scopes() {
		children(sc).SetZero()
	}
	symbols := m.symbols()
	for _, name := range variables {
		if sym := symbols.MapIndex(reflect.ValueOf(name)); sym.IsValid() {
			field(sym.Elem(), "node", "*interp.node").SetZero()
		}
	}
}

// unit is what there is of a unit while its entry function may run.
type unit struct {
	base, top int      // its places
	names     []string // what it declared
	marks     []string // those of names that are marks
	literals  bool     // whether functions may outlive the entry function
	entry     []string // the entry function, and what registered it
}

// free gives up what only the entry function of a unit needed.
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
