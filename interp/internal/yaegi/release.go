package yaegi

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// The nodes of a program refer to each other in all directions, so that a function, or a type, would hold all that Yaegi has known about its unit. Once
// a program has been executed, its nodes have their code. What runs and compiles later reads single nodes, and only a few of them look at others.

// readsChildren lists the kinds of nodes whose code reads their children.
var readsChildren = map[string]bool{
	"assignStmt": true, "assignXStmt": true, "defineStmt": true, "defineXStmt": true, "typeAssertExpr": true, "valueSpec": true,
	"funcDecl": true, "funcLit": true, // those without code
}

// release cuts the nodes of a program that has been executed off from each other, apart from those that are read, and empties the scopes of its functions.
//
// It also makes panics cheap. A panic raises itself again in every interpreted frame that it leaves. There Yaegi first searches for the current
// node, from the ancestor of the function's first node upwards, and never finds it: it would visit the whole unit for each frame. Without an ancestor the search ends at once.
func (m *guards) release(p *interp.Program) {
	root := field(reflect.ValueOf(p).Elem(), "root", "*interp.node").UnsafePointer()
	nodes := []unsafe.Pointer{root} // parents first
	reread := false                 // whether Yaegi will read types of the program again
	for i := 0; i < len(nodes); i++ {
		nodes = append(nodes, m.tree.nodes(nodes[i], "child")...)
		typ := *m.tree.node(nodes[i], "typ")
		reread = reread || typ != nil && *at[bool](typ, m.incomplete)
	}
	whole := map[unsafe.Pointer]bool{} // what later units read: receivers and types of methods, and declarations of types
	first := map[unsafe.Pointer]bool{} // of functions
	for _, n := range nodes {
		children := m.tree.nodes(n, "child")
		switch {
		case whole[n]:
			for _, c := range children {
				whole[c] = true
			}
		case m.isFunction(n):
			first[*m.tree.node(children[3], "start")] = true
			if len(m.tree.nodes(children[0], "child")) > 0 {
				whole[children[0]], whole[children[2]] = true, true
			}
		case m.kind(n) == "typeDecl":
			for _, c := range children {
				whole[c] = reread
			}
		}
	}
	type links struct {
		anc      unsafe.Pointer
		children []unsafe.Pointer
	}
	kept := map[unsafe.Pointer]links{}
	for _, n := range nodes {
		if !whole[n] {
			kept[n] = links{m.ancestor(n, first[n]), m.children(n)}
		}
	}
	emptied := map[unsafe.Pointer]bool{}
	for _, n := range nodes {
		if sc := *m.tree.node(n, "scope"); sc != nil && !emptied[sc] {
			emptied[sc] = true
			m.empty(m.read(sc, m.scope))
		}
		if typ := *m.tree.node(n, "typ"); typ != nil {
			of := at[unsafe.Pointer](typ, m.typeNode)
			if _, own := kept[*of]; own && *of != root && !m.constant(*of).IsValid() {
				anc := *m.tree.node(*of, "anc")
				*of = m.standIn(m.kind(*of), m.standIn(m.kind(anc), nil, anc), *of)
			}
		}
	}
	for n, l := range kept {
		if start := m.tree.node(n, "start"); *start != n { // only the first node of a function is looked for there
			*start = nil
		}
		if sc := m.tree.node(n, "scope"); *sc != nil {
			*sc = m.ofFunction(*sc)
		}
		if typ := m.tree.node(n, "typ"); *typ != nil {
			*typ = m.shared(*typ)
		}
		*m.tree.node(n, "anc") = l.anc
		*at[[]unsafe.Pointer](n, m.tree.offset["child"]) = l.children
		*m.tree.node(n, "tnext"), *m.tree.node(n, "fnext") = nil, nil
	}
}

// ofFunction returns the scope of the function around a scope: nodes are asked only for that.
func (m *guards) ofFunction(scope unsafe.Pointer) unsafe.Pointer {
	def := func(scope unsafe.Pointer) unsafe.Pointer { return *at[unsafe.Pointer](scope, m.scopeDef) }
	if f := def(scope); f != nil {
		if outer := *m.tree.node(f, "scope"); outer != nil && def(outer) == f {
			return outer
		}
	}
	return scope
}

// shared returns the type that nodes share whose types Yaegi has made of one type of package reflect. Each mention of a function of a package has
// another of 320 bytes.
func (m *guards) shared(typ unsafe.Pointer) unsafe.Pointer {
	const most = 256 // types of packages, and some that cells have made
	t := m.read(typ, m.itype)
	of, ok := field(t, "rtype", "reflect.Type").Interface().(reflect.Type)
	if !ok {
		return typ
	}
	for i := range t.NumField() {
		switch m.itype.Field(i).Name {
		case "cat", "rtype", "str":
		default:
			if !t.Field(i).IsZero() {
				return typ
			}
		}
	}
	if m.types[of] == nil {
		if len(m.types) == most {
			clear(m.types)
		}
		m.types[of] = typ
	}
	return m.types[of]
}

// isFunction reports whether a node is a function's declaration or literal.
func (m *guards) isFunction(n unsafe.Pointer) bool {
	kind := m.kind(n)
	return kind == "funcDecl" || kind == "funcLit"
}

// ancestor returns what a node keeps as its ancestor: the ancestor itself if its children are read, as much of it as is read, or one that has only its kind.
func (m *guards) ancestor(n unsafe.Pointer, first bool) unsafe.Pointer {
	anc := *m.tree.node(n, "anc")
	if anc == nil {
		return nil
	}
	switch kind, of := m.kind(n), m.kind(anc); {
	case kind == "callExpr" && (of == "defineXStmt" || of == "assignXStmt"):
		return anc
	case kind == "compositeLitExpr" && (of == "defineStmt" || of == "assignStmt"):
		return m.bare(anc, m.tree.nodes(anc, "child")[:1], nil)
	case kind == "funcLit": // its name is that of the function around it
		return m.bare(anc, nil, *m.tree.node(anc, "scope"))
	case first:
		return nil
	default:
		return m.standIn(of, nil, anc)
	}
}

// standIn returns the node that stands for all nodes of a kind of which only the kind is read, and that of the ancestor if there is one. like is one of
// them.
func (m *guards) standIn(kind string, anc, like unsafe.Pointer) unsafe.Pointer {
	if like == nil {
		return nil
	}
	key := kindOf{kind, anc}
	if m.standIns[key] == nil {
		n := m.bare(like, nil, nil)
		*m.tree.node(n, "anc") = anc
		m.standIns[key] = n
	}
	return m.standIns[key]
}

// kindOf is the kind of a node and its ancestor, or nil.
type kindOf struct {
	kind string
	anc  unsafe.Pointer
}

// bare returns a node of a node's kind that has no ancestor.
func (m *guards) bare(n unsafe.Pointer, children []unsafe.Pointer, scope unsafe.Pointer) unsafe.Pointer {
	b := reflect.New(m.node).UnsafePointer()
	*at[uint](b, m.tree.offset["kind"]) = *at[uint](n, m.tree.offset["kind"])
	*m.tree.node(b, "interp") = *m.tree.node(n, "interp")
	*at[[]unsafe.Pointer](b, m.tree.offset["child"]) = append([]unsafe.Pointer(nil), children...)
	*m.tree.node(b, "scope") = scope
	return b
}

// children returns the children that a node keeps. Of a function, callers read where its body starts, and frames its name.
func (m *guards) children(n unsafe.Pointer) []unsafe.Pointer {
	kind := m.kind(n)
	children := m.tree.nodes(n, "child")
	start := unsafe.Pointer(nil)
	if m.isFunction(n) {
		start = *m.tree.node(children[3], "start")
	}
	switch {
	case start != nil && len(m.tree.nodes(children[0], "child")) > 0: // a method
		return []unsafe.Pointer{children[0], children[1], children[2], m.startsWith(start)}
	case start != nil:
		return []unsafe.Pointer{m.standIn(m.kind(children[0]), nil, children[0]), children[1], m.standIn(m.kind(children[2]), nil, children[2]), m.startsWith(start)}
	case !readsChildren[kind] || (kind == "assignStmt" || kind == "defineStmt") && *at[int](n, m.nleft) == 1:
		return nil
	}
	return children
}

// startsWith returns a node whose body starts with a node: that node itself, in place of the block.
func (m *guards) startsWith(start unsafe.Pointer) unsafe.Pointer {
	*m.tree.node(start, "start") = start
	return start
}

// kind returns the name of a node's kind.
func (m *guards) kind(n unsafe.Pointer) string {
	k := *at[uint](n, m.tree.offset["kind"])
	name, ok := m.kinds[k]
	if !ok {
		name = field(m.read(n, m.node), "kind", "interp.nkind").Interface().(fmt.Stringer).String()
		m.kinds[k] = name
	}
	return name
}

// empty removes from the scope of a function or block what only the compiler reads. The names of frames come from its function.
func (m *guards) empty(scope reflect.Value) {
	if field(scope, "level", "int").Int() == 0 { // that of the package
		return
	}
	for name, typ := range scopeFields {
		field(scope, name, typ).SetZero()
	}
}

// scopeFields are the fields of a scope that only the compiler reads.
var scopeFields = map[string]string{
	"anc": "*interp.scope", "child": "[]*interp.scope", "loop": "*interp.node", "loopRestart": "*interp.node", "types": "[]reflect.Type", "sym": "map[string]*interp.symbol",
}
