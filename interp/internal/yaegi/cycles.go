package yaegi

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// Package reflect cannot build a type that refers to itself, and Yaegi patches only structs
// that refer to themselves directly. cycles therefore builds the reflect types of such types
// before Yaegi does. It knows Yaegi's types, whose description is not exported, and the layout
// of the run-time system's types; it fails if they differ from those expected.
//
// Each declared type of a cycle is first built with stand-ins: types of the same layout for
// the parts that are not known yet. Then the stand-ins are replaced. A stand-in is used for
// one type only, so that package reflect does not return a patched type to others.
type cycles struct {
	symbols reflect.Value
	group   map[string]reflect.Value // declared types by path and name
	order   []string
	built   map[string]reflect.Type
	nodes   map[uintptr]*node
	open    map[uintptr]bool // types that are or refer to those of the group
	patches []patch
}

// patch replaces a stand-in in a type.
type patch struct {
	in      reflect.Type
	at      int // index of the field, parameter or result
	part    part
	standIn reflect.Type
	real    reflect.Value // Yaegi's type
}

type part int

const (
	fieldPart part = iota
	elemPart
	keyPart
	paramPart // parameters, then results
)

// resolveCycles sets the reflect types of the declared types that are part of a cycle.
func (m *memory) resolveCycles(names []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaegi: types that refer to themselves: %v", r)
		}
	}()
	c := &cycles{symbols: m.symbols(), group: map[string]reflect.Value{}, built: map[string]reflect.Type{}, nodes: map[uintptr]*node{}}
	all := map[string]reflect.Value{}
	for _, name := range names {
		if sym := c.symbols.MapIndex(reflect.ValueOf(name)); sym.IsValid() {
			if t := field(sym.Elem(), "typ", typePointer); !t.IsNil() && id(t) != "" {
				all[id(t)] = t
			}
		}
	}
	seen := map[uintptr]bool{}
	for _, t := range all {
		unite(t, all, seen)
	}
	keys := map[string][]string{} // of all, by name
	for key, t := range all {
		c.read(t)
		name := key[strings.LastIndexByte(key, '/')+1:]
		keys[name] = append(keys[name], key)
	}
	cyclic := c.cyclic(func(*node) bool { return true })
	for _, name := range names {
		for _, key := range keys[name] {
			if t := all[key]; cyclic[t.Pointer()] {
				c.group[key] = t
				c.order = append(c.order, key)
			}
		}
	}
	c.findOpen()
	direct := c.cyclic(func(n *node) bool { return !n.isStruct })
	for _, key := range c.order {
		if t := c.group[key]; cat(t) == "structT" || direct[t.Pointer()] {
			c.build(key)
		}
	}
	for _, p := range c.patches {
		p.apply()
	}
	for key, rtype := range c.built {
		if t := c.group[key]; cat(t) != "structT" && hasPlainFrame(rtype) {
			become(t, rtype)
		}
	}
	return nil
}

const typePointer = "*interp.itype"

// id returns the path and name of a declared type, "" for others.
func id(t reflect.Value) string {
	name := field(t.Elem(), "name", "string").String()
	path := field(t.Elem(), "path", "string").String()
	if name == "" || path == "" {
		return ""
	}
	return path + "/" + name
}

// cat returns the name of a type's category. Yaegi has no names for those of directed channels.
func cat(t reflect.Value) string {
	c := field(t.Elem(), "cat", "interp.tcat")
	if name := c.Interface().(fmt.Stringer).String(); name != "" {
		return name
	}
	return map[uint64]string{7: "chanSendT", 8: "chanRecvT"}[c.Uint()]
}

// parts returns the types that a type consists of, settable.
func parts(t reflect.Value) (list []reflect.Value) {
	for _, name := range []string{"key", "val"} {
		if p := field(t.Elem(), name, typePointer); !p.IsNil() {
			list = append(list, p)
		}
	}
	return append(append(list, signature(t)...), fields(t)...)
}

// signature returns the types of parameters, then those of results.
func signature(t reflect.Value) (list []reflect.Value) {
	for _, name := range []string{"arg", "ret"} {
		l := field(t.Elem(), name, "[]*interp.itype")
		for i := range l.Len() {
			list = append(list, l.Index(i))
		}
	}
	return list
}

// fields returns the types of the fields of a struct.
func fields(t reflect.Value) (list []reflect.Value) {
	l := field(t.Elem(), "field", "[]interp.structField")
	for i := range l.Len() {
		list = append(list, field(l.Index(i), "typ", typePointer))
	}
	return list
}

// unite makes all references to a declared type refer to the same description.
func unite(t reflect.Value, all map[string]reflect.Value, seen map[uintptr]bool) {
	if seen[t.Pointer()] {
		return
	}
	seen[t.Pointer()] = true
	if val := field(t.Elem(), "val", typePointer); cat(t) == "linkedT" && id(val) == id(t) { // an earlier description of t
		val.Set(field(val.Elem(), "val", typePointer))
	}
	for _, p := range parts(t) {
		if one, ok := all[id(p)]; ok && one.Pointer() != p.Pointer() {
			p.Set(one)
		}
		unite(p, all, seen)
	}
}

// cyclic returns the types that refer to themselves through types for which in returns true: those in a strongly connected component, which
// Tarjan's algorithm finds in one walk.
func (c *cycles) cyclic(in func(*node) bool) map[uintptr]bool {
	found, done := map[uintptr]bool{}, map[uintptr]bool{}
	index := map[uintptr]int{} // from 1, in the order of the walk
	var path []uintptr
	var walk func(n uintptr) (lowest int)
	walk = func(n uintptr) int {
		at, own := len(path), len(index)+1
		path, index[n] = append(path, n), own
		lowest := own
		for _, to := range c.nodes[n].to {
			switch {
			case !in(c.nodes[to]) || done[to]:
			case index[to] == 0:
				lowest = min(lowest, walk(to))
			default:
				lowest = min(lowest, index[to])
				found[n] = found[n] || to == n
			}
		}
		if lowest == own {
			for _, m := range path[at:] {
				done[m] = true
				found[m] = found[m] || len(path) > at+1
			}
			path = path[:at]
		}
		return lowest
	}
	for n := range c.nodes {
		if index[n] == 0 && in(c.nodes[n]) {
			walk(n)
		}
	}
	return found
}

// findOpen finds the types that are or refer to those of the group.
func (c *cycles) findOpen() {
	c.open = map[uintptr]bool{}
	users := map[uintptr][]uintptr{}
	var todo []uintptr
	for n, of := range c.nodes {
		for _, to := range of.to {
			users[to] = append(users[to], n)
		}
		if c.group[of.key].IsValid() {
			todo = append(todo, n)
		}
	}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !c.open[n] {
			c.open[n] = true
			todo = append(todo, users[n]...)
		}
	}
}

// node is a type without reflection, which is slow.
type node struct {
	key      string
	isStruct bool
	to       []uintptr
}

// read records a type and the types that it refers to.
func (c *cycles) read(t reflect.Value) {
	if c.nodes[t.Pointer()] != nil {
		return
	}
	n := &node{key: id(t), isStruct: cat(t) == "structT"}
	c.nodes[t.Pointer()] = n
	for _, p := range parts(t) {
		n.to = append(n.to, p.Pointer())
		c.read(p)
	}
}

// build returns the reflect type of a declared type, whose stand-ins are replaced later.
func (c *cycles) build(key string) reflect.Type {
	if t := c.built[key]; t != nil {
		return t
	}
	t := c.group[key]
	var list []patch
	use := func(p reflect.Value, which part, at int) reflect.Type {
		if !c.open[p.Pointer()] {
			return typeOf(p)
		}
		s := c.layout(p)
		list = append(list, patch{at: at, part: which, standIn: s, real: p})
		return s
	}
	val := func() reflect.Value { return field(t.Elem(), "val", typePointer) }
	var r reflect.Type
	switch k := cat(t); k {
	case "linkedT":
		r = c.layout(val())
		list = nil
	case "structT":
		r = c.structOf(t, use)
	case "funcT":
		var types []reflect.Type
		for i, p := range signature(t) {
			types = append(types, use(p, paramPart, i))
		}
		n := field(t.Elem(), "arg", "[]*interp.itype").Len()
		r = reflect.FuncOf(types[:n], types[n:], n > 0 && cat(signature(t)[n-1]) == "variadicT")
	case "mapT":
		r = reflect.MapOf(use(field(t.Elem(), "key", typePointer), keyPart, 0), use(val(), elemPart, 0))
	case "ptrT":
		r = reflect.PointerTo(use(val(), elemPart, 0))
	case "sliceT":
		r = reflect.SliceOf(use(val(), elemPart, 0))
	case "arrayT":
		r = reflect.ArrayOf(int(field(t.Elem(), "length", "int").Int()), use(val(), elemPart, 0))
	case "chanT", "chanRecvT", "chanSendT":
		r = reflect.ChanOf(direction[k], use(val(), elemPart, 0))
	default:
		panic(fmt.Sprintf("the type %s", id(t)))
	}
	for _, p := range list {
		p.in = r
		c.patches = append(c.patches, p)
	}
	c.built[key] = r
	field(t.Elem(), "rtype", "reflect.Type").Set(reflect.ValueOf(r))
	return r
}

var direction = map[string]reflect.ChanDir{"chanT": reflect.BothDir, "chanRecvT": reflect.RecvDir, "chanSendT": reflect.SendDir}

// structOf returns a struct type, as Yaegi builds it, with the types that use returns.
func (c *cycles) structOf(t reflect.Value, use func(reflect.Value, part, int) reflect.Type) reflect.Type {
	l := field(t.Elem(), "field", "[]interp.structField")
	var list []reflect.StructField
	for i, p := range fields(t) {
		name := field(l.Index(i), "name", "string").String()
		if name[0] < 'A' || name[0] > 'Z' {
			name = "X" + name
		}
		list = append(list, reflect.StructField{
			Name: name, Type: use(p, fieldPart, i), Tag: reflect.StructTag(field(l.Index(i), "tag", "string").String()),
			Anonymous: l.Len() == 1 && field(l.Index(i), "embed", "bool").Bool(),
		})
	}
	return reflect.StructOf(list)
}

// layout returns a type with the layout of t. It is t's own type if t is a struct or an array.
func (c *cycles) layout(t reflect.Value) reflect.Type {
	if !c.open[t.Pointer()] {
		return typeOf(t)
	}
	if key := id(t); c.group[key].IsValid() && (cat(t) == "structT" || c.built[key] != nil) {
		return c.build(key)
	}
	switch k := cat(t); k {
	case "linkedT":
		return c.layout(field(t.Elem(), "val", typePointer))
	case "arrayT":
		return reflect.ArrayOf(int(field(t.Elem(), "length", "int").Int()), c.layout(field(t.Elem(), "val", typePointer)))
	case "structT":
		return c.structOf(t, func(p reflect.Value, _ part, _ int) reflect.Type { return c.layout(p) })
	case "ptrT":
		return reflect.PointerTo(unique())
	case "sliceT", "variadicT":
		return reflect.SliceOf(unique())
	case "mapT":
		return reflect.MapOf(reflect.TypeFor[int](), unique())
	case "funcT":
		return reflect.FuncOf([]reflect.Type{unique()}, nil, false)
	case "chanT", "chanRecvT", "chanSendT":
		return reflect.ChanOf(direction[k], unique())
	}
	panic(fmt.Sprintf("a part of kind %s", cat(t)))
}

var uniques atomic.Int64

// unique returns a type that has not been used.
func unique() reflect.Type {
	tag := reflect.StructTag(`cycle:"` + strconv.FormatInt(uniques.Add(1), 10) + `"`)
	return reflect.StructOf([]reflect.StructField{{Name: "V", Type: reflect.TypeFor[byte](), Tag: tag}})
}

// typeOf returns the reflect type that Yaegi uses for a type.
func typeOf(t reflect.Value) reflect.Type {
	return t.MethodByName("TypeOf").Call(nil)[0].Interface().(reflect.Type)
}

// hasPlainFrame reports whether Yaegi would build the type again for its variables.
func hasPlainFrame(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Array:
		return true
	}
	return false
}

// become makes Yaegi treat a declared type as a type of compiled code.
func become(t reflect.Value, rtype reflect.Type) {
	c := field(t.Elem(), "cat", "interp.tcat")
	for i := uint64(0); cat(t) != "valueT"; i++ {
		if i > 100 {
			panic("valueT is not known")
		}
		c.SetUint(i)
	}
	for _, name := range []string{"key", "val", "ptr"} {
		field(t.Elem(), name, typePointer).SetZero()
	}
	field(t.Elem(), "str", "string").SetString(rtype.String()) // Yaegi compares types by their texts
	field(t.Elem(), "rtype", "reflect.Type").Set(reflect.ValueOf(rtype))
}

// apply replaces the stand-in, which must be at the expected place of the type.
func (p patch) apply() {
	real := typeOf(p.real)
	if real == p.standIn {
		return
	}
	const header = 6 // words that all types begin with
	word := func(i int) *unsafe.Pointer {
		return (*unsafe.Pointer)(unsafe.Add(pointer(p.in), uintptr(i)*unsafe.Sizeof(uintptr(0))))
	}
	put := func(place *unsafe.Pointer, old, new reflect.Type) {
		if *place != pointer(old) {
			panic(fmt.Sprintf("the layout of %v is not known", p.in.Kind()))
		}
		*place = pointer(new)
	}
	if p.in.Kind() == reflect.Array { // an array knows the type of its slices, too
		put(word(header+1), reflect.SliceOf(p.standIn), reflect.SliceOf(real))
	}
	var place *unsafe.Pointer
	switch p.part {
	case keyPart:
		place = word(header)
	case elemPart:
		place = word(header)
		if p.in.Kind() == reflect.Map {
			place = word(header + 1)
		}
	case paramPart:
		place = word(header + 1 + p.at)
	case fieldPart:
		const size = 3 // words of a field: name, type, offset
		list := (*struct {
			data unsafe.Pointer
			len  int
		})(unsafe.Pointer(word(header + 1)))
		if list.len != p.in.NumField() {
			panic("the layout of structs is not known")
		}
		place = (*unsafe.Pointer)(unsafe.Add(list.data, (uintptr(p.at)*size+1)*unsafe.Sizeof(uintptr(0))))
	}
	put(place, p.standIn, real)
}

// pointer returns the address of the run-time system's description of a type.
func pointer(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}
