package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// effect is what an operation may do, apart from computing a value.
type effect uint8

const (
	doesPanic  effect = 1 << iota
	doesShow          // print, or panic with any value
	doesChange        // change variables
	doesRead          // read variables that a call may change
)

// before reports whether it shows that one operation comes before another.
func (a effect) before(b effect) bool {
	const visible = doesPanic | doesShow | doesChange
	either := func(x, y effect) bool { return a&x != 0 && b&y != 0 || b&x != 0 && a&y != 0 }
	return either(doesPanic, visible) || either(doesShow, doesShow) || either(doesChange, doesChange|doesRead)
}

// varies reports whether an operand is a variable that calls may change.
func (r lateReader) varies(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return false
	}
	v, ok := r.u.Info.Uses[id].(*types.Var)
	return ok && (r.vars[v] || !r.local(v))
}

// effects returns what an operation may do, apart from its operands.
func (r lateReader) effects(e ast.Expr) (does effect) {
	u := r.u
	for _, o := range u.parts(e) {
		if r.varies(*o) {
			does |= doesRead
		}
	}
	fails := func(token.Pos) { does |= doesPanic }
	switch x := e.(type) {
	case *ast.StarExpr:
		does |= doesPanic | doesRead
	case *ast.SelectorExpr:
		if s := u.Info.Selections[x]; s.Kind() == types.MethodVal || s.Indirect() {
			does |= doesPanic | doesRead
		}
	case *ast.IndexExpr:
		does |= doesRead
		if m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok && holdsInterface(m.Key()) || !ok && !u.inBounds(x, nil) {
			does |= doesPanic
		}
	case *ast.SliceExpr:
		if x.Low != nil || x.High != nil || isPointer(orInvalid(u.typeOf(x.X))) {
			does |= doesPanic
		}
	case *ast.TypeAssertExpr:
		does |= doesPanic
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			ast.Inspect(e, func(n ast.Node) bool {
				if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) { // what is in it is visited below
					if r.varies(b.X) || r.varies(b.Y) {
						does |= doesRead
					}
					return true
				}
				if o, ok := n.(ast.Expr); ok && n != e && !u.simple(o) && !isA[*ast.ParenExpr](o) && !isA[*ast.KeyValueExpr](o) && u.typeOf(o) != nil {
					does |= r.effects(o)
				}
				return !isA[*ast.FuncLit](n) && !isA[*ast.BlockStmt](n)
			})
		case token.QUO, token.REM:
			u.division(x.X, x.Y, x.OpPos, fails)
		case token.SHL, token.SHR:
			u.shift(x, x.Y, x.OpPos, fails)
		case token.EQL, token.NEQ:
			if !u.isNil(x.X) && !u.isNil(x.Y) && (holdsInterface(orInvalid(u.typeOf(x.X))) || holdsInterface(orInvalid(u.typeOf(x.Y)))) {
				does |= doesPanic
			}
		case token.ADD:
			if isText(u.typeOf(x)) && (u.pointsTo(ast.Unparen(x.X)) || u.pointsTo(ast.Unparen(x.Y))) { // which Yaegi does not notice
				does |= doesPanic
			}
		}
	case *ast.UnaryExpr:
		switch {
		case x.Op == token.ARROW:
			does |= doesShow | doesChange | doesRead
		case x.Op == token.AND && !isA[*ast.CompositeLit](ast.Unparen(x.X)) && !isA[*ast.Ident](ast.Unparen(x.X)):
			does |= doesPanic | doesRead
		}
	case *ast.CompositeLit:
		m, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Map)
		if ok && (holdsInterface(m.Key()) || slices.ContainsFunc(u.parts(x), func(o *ast.Expr) bool { return u.pointsTo(ast.Unparen(*o)) })) {
			does |= doesPanic // Yaegi leaves out an entry that is behind a nil pointer
		}
	case *ast.CallExpr:
		does |= r.callEffects(x)
	}
	return does
}

// callEffects is effects for a call.
func (r lateReader) callEffects(x *ast.CallExpr) effect {
	u := r.u
	if u.Info.Types[x.Fun].IsType() {
		if _, slice := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Slice); slice && arrayLen(u.typeOf(x)) >= 0 {
			return doesPanic | doesRead
		}
		return 0
	}
	switch u.builtinName(x.Fun) {
	case "":
	case "copy", "clear", "close", "delete", "panic", "print", "println", "recover":
		return doesPanic | doesShow | doesChange | doesRead
	case "append":
		return doesRead
	case "make":
		if len(x.Args) > 1 && u.Info.Types[x.Args[1]].Value == nil {
			return doesPanic | doesShow
		}
		return 0
	default:
		return 0
	}
	does := doesPanic | doesShow | doesRead
	switch {
	case !u.harmless(x) || slices.ContainsFunc(x.Args, func(e ast.Expr) bool {
		_, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Signature)
		return ok
	}):
		does |= doesChange
	case !u.shows(x):
		return doesRead
	}
	return does
}
