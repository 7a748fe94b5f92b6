package yaegi

import (
	"reflect"
	"unsafe"
)

// nodeFields holds the types of the fields by which the code reads a node of Yaegi's tree.
var nodeFields = map[string]string{
	"child": "[]*interp.node", "anc": "*interp.node", "start": "*interp.node", "tnext": "*interp.node", "fnext": "*interp.node",
	"types": "[]reflect.Type", "typ": "*interp.itype", "kind": "interp.nkind", "scope": "*interp.scope", "interp": "*interp.Interpreter",
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
