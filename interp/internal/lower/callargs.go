package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"halfnote/interp/internal/dynamic"
)

// callOf converts a call's arguments, and turns method calls of the session into
// function calls.
func (u *Unit) callOf(x *ast.CallExpr) ast.Expr {
	if tv := u.Info.Types[x.Fun]; tv.IsType() && len(x.Args) == 1 {
		return u.explicit(x, tv.Type)
	}
	if name := u.builtinName(x.Fun); name != "" {
		u.builtin(x, name)
		return x
	}
	sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	if !ok {
		return x
	}
	fn, _ := typeutil.Callee(u.Info, x).(*types.Func)
	if fn != nil && fn.FullName() == "errors.As" && len(x.Args) == 2 {
		if e := u.errorsAs(x); e != nil {
			return e
		}
	}
	if len(x.Args) == 1 && isTupleType(u.typeOf(x.Args[0])) {
		results := u.typeOf(x.Args[0]).(*types.Tuple)
		var to []types.Type
		for i := range results.Len() {
			to = append(to, paramType(sig, i))
		}
		x.Args[0] = u.convertResults(x.Args[0], to)
	} else {
		for i, a := range x.Args {
			if x.Ellipsis.IsValid() && i == len(x.Args)-1 {
				if t, _ := treatmentOf(fn); t == dynamic.Lent && types.IsInterface(paramType(sig, i)) && !u.Info.Types[a].IsNil() {
					x.Args[i] = u.as(Support("LendAll", a), a)
				}
				break
			}
			to := paramType(sig, i)
			x.Args[i] = u.argument(a, to, fn)
			if fn == nil && x.Args[i] == a {
				x.Args[i] = u.bare(a, to)
			}
		}
	}
	if e := u.settling(x, fn); e != nil {
		return e
	}
	if t, support := treatmentOf(fn); t == dynamic.Returned {
		return u.as(Support(support, x), x)
	}
	if e := u.writing(x, fn); e != nil {
		return e
	}
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return x
	}
	s := u.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || !u.ownMethod(s, fn) {
		return x
	}
	recv, t := u.path(sel.X, s.Recv(), s.Index())
	args, spread := x.Args, []ast.Stmt(nil)
	if len(args) == 1 && isTupleType(u.typeOf(args[0])) {
		args = u.spread(args[0], u.typeOf(args[0]).(*types.Tuple), &spread)
	}
	y := u.invoke(x, recv, t, fn, args, x.Ellipsis)
	if spread == nil {
		return u.as(y, x)
	}
	r := u.temp("r") // the receiver comes first
	spread = append([]ast.Stmt{define(r, y.Args[0])}, spread...)
	y.Args[0] = u.as(ident(r.Name), y.Args[0])
	lit := u.literal(x, nil, fn.Signature(), y)
	lit.Body.List = append(spread, lit.Body.List...)
	return u.as(call(lit), x)
}

// bare returns an argument of a function value. Where that is or was in a field, it would get a structure of Yaegi around what an interface holds.
func (u *Unit) bare(e ast.Expr, to types.Type) ast.Expr {
	if !u.untyped || !u.isInterface(to) || u.compiledIface(to) {
		return e
	}
	return u.typed(Support("Any", e), to)
}

// settling returns the call of the support function for a settler, or nil for other functions.
func (u *Unit) settling(x *ast.CallExpr, fn *types.Func) ast.Expr {
	t, support := treatmentOf(fn)
	if t != dynamic.Settled || len(x.Args) == 1 && isTupleType(u.typeOf(x.Args[0])) {
		return nil
	}
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	args := x.Args
	if s := u.Info.Selections[sel]; s != nil {
		if s.Kind() != types.MethodVal || len(s.Index()) != 1 || isPointer(s.Recv()) != isPointer(fn.Signature().Recv().Type()) {
			return nil
		}
		args = append([]ast.Expr{sel.X}, args...)
	}
	y := Support(support, args...)
	y.Lparen, y.Rparen = calledAt(x), x.Rparen
	return u.as(y, x)
}

// argument converts an argument of fn, which is nil if unknown. Compiled code that
// inspects the argument gets it unboxed.
func (u *Unit) argument(e ast.Expr, to types.Type, fn *types.Func) ast.Expr {
	if fn != nil && fn.Pkg() != nil && fn.Name() == "Funcs" && strings.HasSuffix(fn.Pkg().Path(), "/template") {
		return u.typed(Support("LendMap", u.convert(e, to)), to)
	}
	if fn == nil || fn.Pkg() == nil || fn.Pkg() == u.Pkg || !types.IsInterface(to) || hasMethods(to) {
		return u.convert(e, to)
	}
	from := orInvalid(u.typeOf(e))
	path := fn.Pkg().Path()
	switch t, _ := treatmentOf(fn); {
	case path == "fmt" || path == "log" || t == dynamic.Written:
		if types.IsInterface(from) { // a wrapper is sufficient
			return e
		}
	case t == dynamic.Settled:
		return u.convert(e, to)
	case t == dynamic.Lent || t == dynamic.Borrowed || t == dynamic.Returned:
		if u.Info.Types[e].IsNil() {
			return e
		}
		name := "Borrow"
		if t == dynamic.Lent {
			name = "Lend"
		}
		return u.typed(Support(name, u.convert(e, to)), to)
	case t == dynamic.Kept:
	case types.IsInterface(from) && !u.Info.Types[e].IsNil():
		return u.typed(Support("Export", e), to)
	case u.boxed(from):
		if strings.HasPrefix(fn.Name(), "Sscan") || !types.IsInterface(from) {
			return e
		}
	}
	if path == "fmt" && strings.Contains(strings.ToLower(fn.Name()), "scan") {
		if o, _, _ := types.LookupFieldOrMethod(from, true, u.Pkg, "Scan"); o != nil && !types.IsInterface(from) {
			return u.typed(Support("Borrow", u.convert(e, to)), to)
		}
		return e
	}
	return u.convert(e, to)
}

// explicit returns the replacement of the conversion T(x).
func (u *Unit) explicit(x *ast.CallExpr, t types.Type) ast.Expr {
	if !types.IsInterface(t) || u.Info.Types[x.Args[0]].IsNil() {
		return x
	}
	e := u.convert(x.Args[0], t)
	switch {
	case e != x.Args[0]:
		return u.as(e, x)
	case u.compiledIface(t):
		return x
	}
	return u.as(Support("Any", e), x)
}

// builtin converts the arguments of a built-in function.
func (u *Unit) builtin(x *ast.CallExpr, name string) {
	if len(x.Args) == 0 {
		return
	}
	switch name {
	case "append":
		s, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Slice)
		for i, a := range x.Args {
			if ok && i > 0 && !x.Ellipsis.IsValid() {
				x.Args[i] = u.convert(a, s.Elem())
			}
		}
	case "make": // package reflect makes only channels of both directions
		ch, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Chan)
		if ok && ch.Dir() != types.SendRecv {
			both := types.NewChan(types.SendRecv, ch.Elem())
			made := call(x.Fun, append([]ast.Expr{u.typeExpr(x, both)}, x.Args[1:]...)...)
			x.Fun = &ast.ParenExpr{X: x.Args[0]}
			u.as(x.Fun, x.Args[0])
			x.Args = []ast.Expr{u.typed(made, both)}
		}
	case "panic":
		x.Args[0] = u.convert(x.Args[0], anyType)
	case "delete":
		if m, ok := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Map); ok {
			x.Args[1] = u.key(x.Args[1], m.Key())
		}
	}
}

// comparison compares interfaces by their content. The content of compiled packages'
// interfaces is compared unchanged.
func (u *Unit) comparison(n *ast.BinaryExpr) ast.Expr {
	if n.Op != token.EQL && n.Op != token.NEQ || u.Info.Types[n.X].IsNil() || u.Info.Types[n.Y].IsNil() {
		return nil
	}
	x, y := orInvalid(u.typeOf(n.X)), orInvalid(u.typeOf(n.Y))
	if !types.IsInterface(x) && !types.IsInterface(y) {
		u.alike(n)
		return nil
	}
	if u.compiledIface(x) && u.compiledIface(y) {
		return nil
	}
	e := Support("Equal", u.convert(n.X, anyType), u.convert(n.Y, anyType))
	e.Lparen, e.Rparen = n.Pos(), n.End()
	if n.Op == token.EQL {
		return u.as(e, n)
	}
	return u.as(&ast.UnaryExpr{OpPos: n.Pos(), Op: token.NOT, X: u.as(e, n)}, n)
}

// alike converts an operand of a comparison to the type of the other: Yaegi compares only
// values of one type. A comparison of interfaces has become a call, which returns a bool next to a value of a defined type.
func (u *Unit) alike(n *ast.BinaryExpr) {
	for _, e := range []*ast.Expr{&n.X, &n.Y} {
		x := ast.Unparen(*e)
		if not, ok := x.(*ast.UnaryExpr); ok && not.Op == token.NOT {
			x = ast.Unparen(not.X)
		}
		t := u.typeOf(*e)
		if equal, ok := x.(*ast.CallExpr); ok && isSupport(equal.Fun) && isDefined(t) && isBasic(t) {
			*e = u.typed(call(u.typeExpr(n, t), *e), t)
		}
	}
	x, y := u.typeOf(n.X), u.typeOf(n.Y)
	if x == nil || y == nil || types.Identical(x, y) || isBasic(x) || isBasic(y) || types.IsInterface(x) || types.IsInterface(y) {
		return
	}
	if types.AssignableTo(y, x) {
		n.Y = u.typed(call(&ast.ParenExpr{X: u.typeExpr(n, x)}, n.Y), x)
	} else {
		n.X = u.typed(call(&ast.ParenExpr{X: u.typeExpr(n, y)}, n.X), y)
	}
}

func isDefined(t types.Type) bool {
	_, ok := types.Unalias(orInvalid(t)).(*types.Named)
	return ok
}

func isBasic(t types.Type) bool {
	_, ok := t.Underlying().(*types.Basic)
	return ok
}

// interfaceSwitch compares the cases of a switch like == when one side is an interface.
func (u *Unit) interfaceSwitch(n *ast.SwitchStmt) ast.Stmt {
	if n.Tag == nil {
		for _, st := range n.Body.List {
			cc := st.(*ast.CaseClause)
			for i, e := range cc.List {
				if types.IsInterface(orInvalid(u.typeOf(e))) {
					cc.List[i] = Support("Equal", u.convert(e, anyType), ident("true"))
				}
			}
		}
		return n
	}
	tag := orInvalid(u.typeOf(n.Tag))
	if b, ok := tag.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		tag = types.Default(tag)
	}
	needed := types.IsInterface(tag)
	for _, st := range n.Body.List {
		for _, e := range st.(*ast.CaseClause).List {
			needed = needed || types.IsInterface(orInvalid(u.typeOf(e)))
		}
	}
	if !needed {
		return n
	}
	v := u.temp("v")
	for _, st := range n.Body.List {
		cc := st.(*ast.CaseClause)
		for i, e := range cc.List {
			if u.Info.Types[e].IsNil() {
				cc.List[i] = &ast.BinaryExpr{X: ident(v.Name), OpPos: e.Pos(), Op: token.EQL, Y: e}
				continue
			}
			cc.List[i] = Support("Equal", ident(v.Name), u.convert(e, anyType))
		}
	}
	init := define(v, u.convert(n.Tag, anyType))
	if !types.IsInterface(tag) {
		init.Rhs[0] = Support("Any", init.Rhs[0])
	}
	before := []ast.Stmt{init}
	if n.Init != nil {
		before = []ast.Stmt{n.Init, init}
	}
	n.Init, n.Tag = nil, nil
	return u.after(n, before...)
}

// isSupport reports whether an expression names a support function.
func isSupport(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && strings.HasSuffix(id.Name, SupportPath)
}
