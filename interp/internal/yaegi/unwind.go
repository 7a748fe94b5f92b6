package yaegi

import (
	"reflect"
	"unsafe"

	"github.com/traefik/yaegi/interp"
)

// A panic raises itself again in every interpreted frame that it leaves. There Yaegi
// first searches for the current node, from the function's first node upwards, and
// never finds it: it visits the whole unit for each frame. A first node without an
// ancestor ends the search at once. After compilation of the function, the field is
// otherwise used only for the names of literals.

// nodeFields holds the types of the fields by which the code reads a node of Yaegi's tree.
var nodeFields = map[string]string{
	"child": "[]*interp.node", "anc": "*interp.node", "start": "*interp.node", "tnext": "*interp.node", "fnext": "*interp.node",
	"types": "[]reflect.Type", "typ": "*interp.itype",
}

// tree reads the nodes of compiled units.
type tree struct{ offset map[string]uintptr }

// newTree panics if the layout of nodes is not that of v0.16.1.
func newTree(node reflect.Type) tree {
	t := tree{map[string]uintptr{}}
	for name, typ := range nodeFields {
		f, ok := node.FieldByName(name)
		if !ok || f.Type.String() != typ {
			panic(node.String() + " has no field " + name + " of type " + typ)
		}
		t.offset[name] = f.Offset
	}
	return t
}

func (t tree) nodes(n unsafe.Pointer, field string) []unsafe.Pointer {
	return *(*[]unsafe.Pointer)(unsafe.Add(n, t.offset[field]))
}

func (t tree) node(n unsafe.Pointer, field string) *unsafe.Pointer {
	return (*unsafe.Pointer)(unsafe.Add(n, t.offset[field]))
}

// isFunc reports whether a node is a function's declaration or literal.
func (t tree) isFunc(n unsafe.Pointer) bool {
	return len(*(*[]reflect.Type)(unsafe.Add(n, t.offset["types"]))) > 0 && len(t.nodes(n, "child")) > 3
}

// cut removes the ancestor from the first node of every function of a program. The node of a struct literal, which reads
// it, gets another one that has no ancestor itself.
func (m *guards) cut(p *interp.Program) {
	t := m.tree
	root := field(reflect.ValueOf(p).Elem(), "root", "*interp.node").UnsafePointer()
	for list := []unsafe.Pointer{root}; len(list) > 0; {
		n := list[len(list)-1]
		list = append(list[:len(list)-1], t.nodes(n, "child")...)
		if !t.isFunc(n) {
			continue
		}
		first := *t.node(t.nodes(n, "child")[3], "start")
		if first == nil || t.isFunc(first) {
			continue
		}
		anc := t.node(first, "anc")
		if *anc == nil || name(m.read(first, m.node), "kind", "interp.nkind") != "compositeLitExpr" {
			*anc = nil
			continue
		}
		instead := reflect.New(m.node)
		instead.Elem().Set(m.read(*anc, m.node))
		*anc = instead.UnsafePointer()
		*t.node(*anc, "anc") = nil
		children := at[[]unsafe.Pointer](*anc, t.offset["child"])
		*children = (*children)[:1]
	}
}
