package native

import (
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/tools/go/ast/astutil"
)

// binding is a symbol that the session binds. Units declare it as a variable.
type binding struct {
	name  string        // of the variable that holds the value
	value reflect.Value // that variable
	// deref is the name of the variable that the value points to, if it is a pointer.
	deref string
}

// Bind implements engine.Engine.
func (e *Engine) Bind(path string, symbols map[string]reflect.Value) {
	alias := e.alias(path)
	for name, v := range symbols {
		b, ok := e.bound[alias+"."+name]
		if !ok || b.value.Type() != v.Type() {
			b = e.variable("b__"+strings.TrimPrefix(alias, "p__")+"__"+name, reflect.New(v.Type()).Elem())
			e.bound[alias+"."+name] = b
		}
		b.value.Set(v)
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			b.deref = e.variable("v"+b.name[1:], v.Elem()).name
			e.bound[alias+"."+name] = b
		}
	}
}

// variable makes a variable of the program one that units can declare.
func (e *Engine) variable(name string, v reflect.Value) binding {
	uses := map[string]bool{}
	text := e.typeText(v.Type(), uses)
	e.known[name] = &earlier{text: "var " + name + " " + text + "\n", uses: slices.Sorted(maps.Keys(uses))}
	e.loader.Define(unitPrefix+name, unsafe.Pointer(v.UnsafeAddr()))
	return binding{name: name, value: v}
}

// bindings replaces the symbols that the session binds by their variables.
func (e *Engine) bindings(d ast.Decl) {
	find := func(n ast.Node) (b binding, ok bool) {
		if sel, isSel := n.(*ast.SelectorExpr); isSel {
			if id, isName := sel.X.(*ast.Ident); isName {
				b, ok = e.bound[id.Name+"."+sel.Sel.Name]
			}
		}
		return b, ok
	}
	astutil.Apply(d, func(c *astutil.Cursor) bool {
		if star, ok := c.Node().(*ast.StarExpr); ok {
			if b, ok := find(star.X); ok && b.deref != "" {
				c.Replace(&ast.Ident{NamePos: star.Star, Name: b.deref})
				return false
			}
		}
		if b, ok := find(c.Node()); ok {
			c.Replace(&ast.Ident{NamePos: c.Node().Pos(), Name: b.name})
			return false
		}
		return true
	}, nil)
}
