package lower

import (
	"go/ast"
	"go/types"

	"halfnote/interp/internal/dynamic"
)

// treatmentOf returns the treatment of the operands of a function, which is kept for one that is unknown, and the support
// function that has to do with it.
func treatmentOf(fn *types.Func) (dynamic.Treatment, string) {
	if fn == nil || fn.Pkg() == nil {
		return dynamic.Kept, ""
	}
	return dynamic.TreatmentOf(fn.FullName(), fn.Pkg().Path())
}

// inspects reports whether a compiled function gets something else than the value for an operand of interface type.
func (u *Unit) inspects(fn *types.Func) bool {
	t, _ := treatmentOf(fn)
	if u.ours(fn) || fn.Signature().TypeParams() != nil || t == dynamic.Kept && fn.FullName() != "errors.As" {
		return false
	}
	for i := range fn.Signature().Params().Len() {
		if p := paramType(fn.Signature(), i); types.IsInterface(p) && !hasMethods(p) {
			return true
		}
	}
	return false
}

// lendsResult lends what a function returns that becomes an expvar.Func, which shows it as JSON.
func (u *Unit) lendsResult(x *ast.CallExpr) {
	if n, ok := types.Unalias(orInvalid(u.Info.Types[x.Fun].Type)).(*types.Named); ok && u.Info.Types[x.Fun].IsType() && n.String() == "expvar.Func" {
		x.Args[0] = u.as(Support("LendResult", x.Args[0]), x.Args[0])
	}
}

// writing returns the replacement of a call of a method that writes its operands as package fmt does: one that gives the
// method Name+"f" the text of the operands; nil for other calls.
//
//	logger.Println(x, y)    logger.Printf("%s", Sprintln(x, y))
func (u *Unit) writing(x *ast.CallExpr, fn *types.Func) ast.Expr {
	if t, _ := treatmentOf(fn); t != dynamic.Written {
		return nil
	}
	w := dynamic.Writers[fn.FullName()]
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok || len(x.Args) == 1 && isTupleType(u.typeOf(x.Args[0])) {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(fn.Signature().Recv().Type(), true, fn.Pkg(), w.Method)
	method, ok := o.(*types.Func)
	if !ok {
		return nil
	}
	written := Support(w.Text, x.Args...)
	written.Lparen, written.Ellipsis, written.Rparen = calledAt(x), x.Ellipsis, x.Rparen
	by := &ast.SelectorExpr{X: sel.X, Sel: &ast.Ident{NamePos: sel.Sel.Pos(), Name: w.Method}}
	u.Info.Selections[by], u.expanded[by] = u.Info.Selections[sel], u.expanded[sel]
	u.Info.Uses[by.Sel] = method
	y := &ast.CallExpr{Fun: u.typed(by, types.NewSignatureType(nil, nil, nil, method.Signature().Params(), method.Signature().Results(), true)), Lparen: x.Lparen, Rparen: x.Rparen}
	y.Args = []ast.Expr{u.typed(text("%s"), types.Typ[types.String]), u.typed(written, types.Typ[types.String])}
	return u.as(y, x)
}
