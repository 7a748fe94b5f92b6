package lower

import (
	"cmp"
	"go/ast"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/ast/astutil"
)

// minmax replaces the built-in functions min, max and clear by support functions. There is a
// min and a max for every basic type; values of named types are converted.
func (u *Unit) minmax() {
	u.eachOf(u.callsBuiltin("min", "max", "clear"), func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok {
			return
		}
		switch called := u.builtinName(x.Fun); called {
		case "clear":
			u.imports = true
			c.Replace(Support("Clear", x.Args...))
		case "min", "max":
			if len(x.Args) == 1 {
				c.Replace(u.as(&ast.ParenExpr{X: x.Args[0]}, x))
				return
			}
			t := u.typeOf(x)
			basic, ok := t.Underlying().(*types.Basic)
			if !ok {
				u.unsupported(x, "%s of a type parameter", called)
			}
			u.imports = true
			name := map[string]string{"min": "Min_", "max": "Max_"}[called] + types.Default(basic).String()
			if basic.Name() == "byte" || basic.Name() == "rune" {
				name = name[:4] + types.Typ[basic.Kind()].Name()
			}
			call := Support(name, x.Args...)
			if t == types.Type(basic) {
				c.Replace(u.as(call, x))
				return
			}
			for i, a := range call.Args {
				call.Args[i] = &ast.CallExpr{Fun: ident(basic.Name()), Args: []ast.Expr{a}}
			}
			c.Replace(u.as(&ast.CallExpr{Fun: u.typeExpr(x, t), Args: []ast.Expr{call}}, x))
		}
	})
}

// MinMax returns the support functions that rewritten calls of min and max name.
func MinMax() map[string]reflect.Value {
	m := map[string]reflect.Value{}
	add[int](m)
	add[int8](m)
	add[int16](m)
	add[int32](m)
	add[int64](m)
	add[uint](m)
	add[uint8](m)
	add[uint16](m)
	add[uint32](m)
	add[uint64](m)
	add[uintptr](m)
	add[float32](m)
	add[float64](m)
	add[string](m)
	return m
}

func add[T cmp.Ordered](m map[string]reflect.Value) {
	name := reflect.TypeFor[T]().String()
	m["Min_"+name] = reflect.ValueOf(func(x T, more ...T) T {
		for _, y := range more {
			x = min(x, y)
		}
		return x
	})
	m["Max_"+name] = reflect.ValueOf(func(x T, more ...T) T {
		for _, y := range more {
			x = max(x, y)
		}
		return x
	})
}
