package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
	"runtime"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// rooms checks before each make of a slice or of a map with a size whether there is enough memory: Go ends the
// process if there is not. Lengths that are small constants need no check.
//
//	make([]T, n)       make([]T, Room(int(n), size of T))
//	make(map[K]V, n)   make(map[K]V, Room(int(n), size of K and V))
func (u *Unit) rooms() {
	sizes := types.SizesFor("gc", runtime.GOARCH)
	u.eachOf(u.callsBuiltin("make"), func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok || len(x.Args) < 2 || !u.isBuiltin(x.Fun, "make") {
			return
		}
		var held []types.Type
		switch t := orInvalid(u.typeOf(x.Args[0])).Underlying().(type) {
		case *types.Slice:
			held = []types.Type{t.Elem()}
		case *types.Map:
			held = []types.Type{t.Key(), t.Elem()}
		default:
			return
		}
		if slices.ContainsFunc(held, hasTypeParams) {
			return
		}
		size := int64(0)
		for _, t := range held {
			size += sizes.Sizeof(t)
		}
		n := x.Args[len(x.Args)-1]
		if v := u.Info.Types[n].Value; v != nil {
			if k, exact := constant.Int64Val(constant.ToInt(v)); exact && k < 1<<20/max(1, size) {
				return
			}
		}
		u.imports = true
		x.Args[len(x.Args)-1] = u.typed(Support("Room", call(ident("int"), n), Int(size)), types.Typ[types.Int])
	})
}

// hasTypeParams reports whether the size of a type depends on a type parameter.
func hasTypeParams(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Array:
		return hasTypeParams(t.Elem())
	case *types.Named:
		for a := range t.TypeArgs().Types() {
			if hasTypeParams(a) {
				return true
			}
		}
	case *types.Struct:
		for f := range t.Fields() {
			if hasTypeParams(f.Type()) {
				return true
			}
		}
	}
	return false
}
