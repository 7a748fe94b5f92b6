package yaegi

import (
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/traefik/yaegi/interp"

	"halfnote/interp/internal/mapaccess"
)

// Some nodes of a unit get other code than Yaegi's. Those that use a map announce the access, because goroutines that
// use one map at the same time would end the process. Indexes, slices and shifts test their operands, because the panics of
// package reflect name neither index nor length, and a shift by a negative count does not panic at all. Yaegi
// generates the code of a node when the unit runs for the first time; before that, the generators of such nodes are replaced.

// A generator generates the code of a node, which is executed in a frame and returns the
// code to execute next.
type (
	generator func(node unsafe.Pointer)
	run       func(frame unsafe.Pointer) run
)

// guards guards nodes. The numbers are offsets of fields of nodes; data is the offset of a
// field of frames.
type guards struct {
	tree                                                                   tree
	gen, exec, nleft, findex, level, pos, rval, data, typeNode, incomplete uintptr
	scopeDef                                                               uintptr
	known                                                                  map[uintptr]use // by address of the generator
	node, itype, scope                                                     reflect.Type
	kinds                                                                  map[uint]string                 // names of the kinds of nodes
	standIns                                                               map[kindOf]unsafe.Pointer       // nodes that have only their kind
	types                                                                  map[reflect.Type]unsafe.Pointer // types that nodes share
	zeros                                                                  *zeros
	failing                                                                func(token.Pos) // is told the operand for which a node is about to panic
}

// use is what the nodes of a generator do: the way in which they use a map, or the operation that they test.
type use int

const (
	unknown use = iota
	none
	function    // a literal
	index       // m[k]
	iterate     // range m
	remove      // delete(m, k)
	assign      // m[k] = v, also several
	operator    // m[k] += v, m[k]++
	elementOf   // s[i]
	partOf      // s[i:], s[i:j], s[i:j:k]
	beginOf     // s[:], s[:j], s[:j:k]
	shift       // x << n
	shiftAssign // x <<= n
	calls       // a call, which may pass a negative zero
)

// uses lists the generators by name.
var uses = map[string]use{
	"_delete":       remove,
	"addAssign":     operator,
	"andAssign":     operator,
	"andNotAssign":  operator,
	"assign":        assign,
	"call":          calls,
	"dec":           operator,
	"getFunc":       function,
	"getIndexArray": elementOf,
	"getIndexMap":   index,
	"getIndexMap2":  index,
	"inc":           operator,
	"mulAssign":     operator,
	"orAssign":      operator,
	"quoAssign":     operator,
	"rangeMap":      iterate,
	"remAssign":     operator,
	"shl":           shift,
	"shlAssign":     shiftAssign,
	"shr":           shift,
	"shrAssign":     shiftAssign,
	"slice":         partOf,
	"slice0":        beginOf,
	"subAssign":     operator,
	"xorAssign":     operator,
}

//go:linkname isMapEntry github.com/traefik/yaegi/interp.isMapEntry
func isMapEntry(node unsafe.Pointer) bool

//go:linkname genValue github.com/traefik/yaegi/interp.genValue
func genValue(node unsafe.Pointer) func(frame unsafe.Pointer) reflect.Value

//go:linkname setExec github.com/traefik/yaegi/interp.setExec
func setExec(node unsafe.Pointer)

// newGuards panics if the layout of nodes is not that of v0.16.1.
func newGuards(node reflect.Type, t tree, goroutine func() uint64) *guards {
	offset := func(of reflect.Type, name, typ string) uintptr {
		f, ok := of.FieldByName(name)
		if !ok || f.Type.String() != typ {
			panic(fmt.Sprintf("%s has no field %s of type %s", of, name, typ))
		}
		return f.Offset
	}
	m := &guards{
		tree: t, known: map[uintptr]use{}, node: node, zeros: &zeros{goroutine: goroutine},
		kinds: map[uint]string{}, standIns: map[kindOf]unsafe.Pointer{}, types: map[reflect.Type]unsafe.Pointer{},
	}
	m.gen = offset(node, "gen", "interp.bltnGenerator")
	m.exec = offset(node, "exec", "interp.bltn")
	m.nleft = offset(node, "nleft", "int")
	m.findex = offset(node, "findex", "int")
	m.level = offset(node, "level", "int")
	m.pos = offset(node, "pos", "token.Pos")
	m.rval = offset(node, "rval", "reflect.Value")
	exec, _ := node.FieldByName("exec")
	m.data = offset(exec.Type.In(0).Elem(), "data", "[]reflect.Value")
	typ, _ := node.FieldByName("typ")
	m.itype = typ.Type.Elem()
	m.typeNode, m.incomplete = offset(m.itype, "node", "*interp.node"), offset(m.itype, "incomplete", "bool")
	sc, _ := node.FieldByName("scope")
	m.scope = sc.Type.Elem()
	m.scopeDef = offset(m.scope, "def", "*interp.node")
	for name, typ := range scopeFields {
		offset(m.scope, name, typ)
	}
	iter := reflect.TypeFor[reflect.MapIter]()
	if offset(iter, "m", "reflect.Value") != 0 {
		panic("reflect.MapIter does not begin with its map")
	}
	return m
}

func at[T any](p unsafe.Pointer, offset uintptr) *T { return (*T)(unsafe.Add(p, offset)) }

// guard guards the nodes of a program. The code of function literals already exists, so it is generated again if
// it has such nodes.
func (m *guards) guard(p *interp.Program) {
	root := field(reflect.ValueOf(p).Elem(), "root", "*interp.node").UnsafePointer()
	var literals []unsafe.Pointer
	m.walk(root, nil, &literals)
	for _, n := range literals {
		all := []unsafe.Pointer{n}
		m.forget(m.child(n, 3), &all)
		for _, n := range slices.Backward(all) {
			setExec(*m.tree.node(m.child(n, 3), "start"))
		}
	}
}

// walk guards the nodes below n, which is inside literal, and adds the outermost literals
// with such nodes to list.
func (m *guards) walk(n, literal unsafe.Pointer, list *[]unsafe.Pointer) {
	gen := at[generator](n, m.gen)
	if *gen != nil {
		switch u := m.use(*gen); {
		case u == function && literal == nil:
			literal = n
		case m.wrap(gen, u, n) && literal != nil && !slices.Contains(*list, literal):
			*list = append(*list, literal)
		}
	}
	for _, c := range m.tree.nodes(n, "child") {
		m.walk(c, literal, list)
	}
	if m.takesNumbers(n) {
		m.wrapFirst(*m.tree.node(m.child(n, 3), "start"))
		if literal != nil && !slices.Contains(*list, literal) {
			*list = append(*list, literal)
		}
	}
}

// forget discards the code of the nodes from n on, and adds the literals there to list.
func (m *guards) forget(n unsafe.Pointer, list *[]unsafe.Pointer) {
	*at[run](n, m.exec) = nil
	if gen := *at[generator](n, m.gen); gen != nil && m.use(gen) == function {
		*list = append(*list, n)
	}
	for _, c := range m.tree.nodes(n, "child") {
		m.forget(c, list)
	}
}

// wrap replaces the generator of a node that uses a map or tests its operands; ok is false for other nodes.
func (m *guards) wrap(gen *generator, u use, n unsafe.Pointer) (ok bool) {
	var guard func(n unsafe.Pointer)
	switch u {
	case index:
		guard = func(n unsafe.Pointer) { m.one(n, m.child(n, 0), mapaccess.Read) }
	case remove:
		guard = func(n unsafe.Pointer) { m.one(n, m.child(n, 1), mapaccess.Write) }
	case operator:
		if !isMapEntry(m.child(n, 0)) {
			return false
		}
		guard = func(n unsafe.Pointer) { m.one(n, m.child(m.child(n, 0), 0), mapaccess.Write) }
	case shift, shiftAssign:
		entry := u == shiftAssign && isMapEntry(m.child(n, 0))
		if m.constant(m.child(n, 1)).IsValid() && !entry {
			return false
		}
		guard = func(n unsafe.Pointer) {
			m.counted(n)
			if entry {
				m.one(n, m.child(m.child(n, 0), 0), mapaccess.Write)
			}
		}
	case elementOf:
		*gen = m.element
		return true
	case partOf, beginOf:
		*gen = func(n unsafe.Pointer) { m.part(n, u == partOf) }
		return true
	case assign:
		entries := m.entries(n)
		if len(entries) == 0 {
			return false
		}
		guard = func(n unsafe.Pointer) { m.assigned(n, entries) }
	case iterate:
		guard = m.iterated
	case calls:
		if !m.passesNumbers(n) {
			return false
		}
		guard = m.called
	default:
		return false
	}
	generate := *gen
	*gen = func(n unsafe.Pointer) {
		generate(n)
		guard(n)
	}
	return true
}

// entries returns the nodes of the maps to which an assignment assigns entries.
func (m *guards) entries(n unsafe.Pointer) (list []unsafe.Pointer) {
	for i := range *at[int](n, m.nleft) {
		if dest := m.child(n, i); isMapEntry(dest) {
			list = append(list, m.child(dest, 0))
		}
	}
	return list
}

// use returns how the nodes of a generator use a map.
func (m *guards) use(g generator) use {
	pc := reflect.ValueOf(g).Pointer()
	u := m.known[pc]
	if u == unknown {
		u = none
		if f := runtime.FuncForPC(pc); f != nil {
			if name, ok := strings.CutPrefix(f.Name(), "github.com/traefik/yaegi/interp."); ok && uses[name] != unknown {
				u = uses[name]
			}
		}
		m.known[pc] = u
	}
	return u
}

func (m *guards) child(n unsafe.Pointer, i int) unsafe.Pointer { return m.tree.nodes(n, "child")[i] }

// one makes a node announce its access to the map that another node computes.
func (m *guards) one(n, of unsafe.Pointer, use mapaccess.Use) {
	exec, value := at[run](n, m.exec), genValue(of)
	original := *exec
	*exec = func(f unsafe.Pointer) run {
		a, err := mapaccess.Begin(value(f), use)
		if err != nil {
			panic(err)
		}
		defer a.End()
		return original(f)
	}
}

// assigned makes an assignment announce its accesses to maps.
func (m *guards) assigned(n unsafe.Pointer, of []unsafe.Pointer) {
	if len(of) == 1 {
		m.one(n, of[0], mapaccess.Write)
		return
	}
	var values []func(unsafe.Pointer) reflect.Value
	for _, n := range of {
		values = append(values, genValue(n))
	}
	exec := at[run](n, m.exec)
	original := *exec
	*exec = func(f unsafe.Pointer) run {
		var list []reflect.Value
		for _, value := range values {
			list = append(list, value(f))
		}
		end, err := mapaccess.BeginAll(list)
		if err != nil {
			panic(err)
		}
		defer end()
		return original(f)
	}
}

// iterated makes a range loop announce its accesses, one for each step. The iterator comes
// before the key in the frame. The map is that of the iterator: the loop may assign another
// map to the variable that it ranges over.
func (m *guards) iterated(n unsafe.Pointer) {
	exec := at[run](n, m.exec)
	original := *exec
	iterator := *at[int](m.child(n, 0), m.findex) - 1
	step := func(f unsafe.Pointer) run {
		iter := (*at[[]reflect.Value](f, m.data))[iterator].Interface().(*reflect.MapIter)
		a, err := mapaccess.Begin(*(*reflect.Value)(unsafe.Pointer(iter)), mapaccess.Iterate)
		if err != nil {
			panic(err)
		}
		defer a.End()
		return original(f)
	}
	*exec = step
	// The loop's start has been given the first step as its successor.
	start := at[run](m.child(n, 0), m.exec)
	begin := *start
	*start = func(f unsafe.Pointer) run {
		begin(f)
		return step
	}
}
