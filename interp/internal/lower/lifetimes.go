package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// lifetimes releases the memory of tensors in loops where they are used for the last time. The
// garbage collector would find it later, and the next result would lie in memory that no cache
// holds. A reader is a function that does not retain its operands. A reader's result is released early if
// it is only passed to readers, printed or compared, directly or through one local variable.
//
//	y := E        y := Hold(&s, Begin(&s), E)      the last value of y is released before E
//	y = E         y = Hold(&s, Begin(new(T)), E)   the last value of y is released after E
//	E.Relu()      Hold(&s, Begin(&s), E).Relu()
//	_ = E         _ = Free(Begin(new(T)), E)
//	f(y.Relu())   f(Share(y.Relu()))               the result may be y, or use its memory
//
// The slot s is a variable of the function, so goroutines and calls do not share slots. Hold does
// not trust a result that is older than Begin.
func (u *Unit) lifetimes() {
	if u.Tensors == "" {
		return
	}
	l := &lifetimes{
		readers: readers{u}, vars: map[*types.Var]*tensorVar{}, slots: map[*types.Var]string{},
		held: map[ast.Expr]bool{}, wraps: map[ast.Expr]func(ast.Expr) ast.Expr{}, declared: map[ast.Node][]ast.Stmt{},
	}
	var results []result
	l.walk(func(e ast.Expr, r role) {
		switch e := e.(type) {
		case *ast.Ident:
			l.use(e, r)
		case *ast.CallExpr:
			if l.isTensor(u.typeOf(e)) && l.reads(e) {
				results = append(results, result{e, r})
			}
		}
	})
	for _, r := range results {
		l.hold(r)
	}
	if len(l.held) == 0 {
		return
	}
	for _, r := range results {
		l.shares(r)
	}
	l.rewrite()
}

// lifetimes is the analysis of one unit.
type lifetimes struct {
	readers
	vars     map[*types.Var]*tensorVar
	slots    map[*types.Var]string // names of slots of variables
	held     map[ast.Expr]bool     // results that are released
	wraps    map[ast.Expr]func(ast.Expr) ast.Expr
	declared map[ast.Node][]ast.Stmt // slots of functions
}

// tensorVar is a variable of the tensor type.
type tensorVar struct {
	function ast.Node // where it is local; nil for parameters and variables that later cells may use
	escapes  bool
}

// result is a call of a reader that returns a tensor.
type result struct {
	*ast.CallExpr
	role
}

// use notes the use or the definition of a variable.
func (l *lifetimes) use(id *ast.Ident, r role) {
	v, ok := l.u.objectOf(id).(*types.Var)
	if !ok || v.IsField() || !l.isTensor(v.Type()) {
		return
	}
	x := l.vars[v]
	if x == nil {
		x = &tensorVar{}
		l.vars[v] = x
	}
	if session := r.function == l.u.Outer && !r.loop; l.u.Info.Defs[id] != nil && r.kind == target && !session {
		x.function = r.function
	}
	x.escapes = x.escapes || r.kind == elsewhere || r.kind == value || r.late || r.function != x.function
}

// hold decides whether a result is released, and how.
func (l *lifetimes) hold(r result) {
	if !r.loop || r.late || l.odd(r.CallExpr) && l.hides(r.CallExpr) {
		return
	}
	since, slot := func() ast.Expr { return l.begin(r, nil) }, ""
	switch r.kind {
	default:
		return
	case unused:
		l.wraps[r.CallExpr] = func(e ast.Expr) ast.Expr { return l.u.as(calledFrom(r.Pos(), Support("Free", since(), e)), r.CallExpr) }
	case operand:
		slot = l.slot(r)
	case value:
		v, _ := l.u.objectOf(r.variable).(*types.Var)
		if x := l.vars[v]; x == nil || x.escapes {
			return
		}
		if l.slots[v] == "" {
			l.slots[v] = l.slot(r)
		}
		slot = l.slots[v]
	}
	l.held[r.CallExpr] = true
	if slot == "" {
		return
	}
	if r.kind == operand || r.defines {
		since = func() ast.Expr { return l.begin(r, l.address(r, slot)) }
	}
	l.wraps[r.CallExpr] = func(e ast.Expr) ast.Expr {
		return l.u.as(calledFrom(r.Pos(), Support("Hold", l.address(r, slot), since(), e)), r.CallExpr)
	}
}

// slot declares a slot in the function of a result.
func (l *lifetimes) slot(r result) string {
	name := l.u.temp("slot")
	l.declared[r.function] = append(l.declared[r.function], declare(name, l.u.typeExpr(r, l.u.typeOf(r.CallExpr))))
	return name.Name
}

// address returns a pointer to a slot.
func (l *lifetimes) address(r result, slot string) ast.Expr {
	t := l.u.typeOf(r.CallExpr)
	return l.u.typed(&ast.UnaryExpr{Op: token.AND, X: l.u.typed(ident(slot), t)}, types.NewPointer(t))
}

// begin returns a call of Begin. Without a slot it only tells the time.
func (l *lifetimes) begin(r result, slot ast.Expr) ast.Expr {
	if slot == nil {
		t := l.u.typeOf(r.CallExpr)
		slot = l.u.typed(call(ident("new"), l.u.typeExpr(r, t)), types.NewPointer(t))
	}
	return l.u.typed(calledFrom(r.Pos(), Support("Begin", slot)), types.Typ[types.Uint64])
}

// shares marks memory that something other than a slot may refer to: the result of a reader that is
// not released although operands are, and operands of one that is released that may be newer than
// its call of Begin.
func (l *lifetimes) shares(r result) {
	odd, held := l.held[r.CallExpr] && l.odd(r.CallExpr), false
	for _, e := range l.operands(r.CallExpr) {
		e = ast.Unparen(e)
		local := l.held[e]
		if id, ok := e.(*ast.Ident); ok {
			v, _ := l.u.objectOf(id).(*types.Var)
			x := l.vars[v]
			held = held || l.slots[v] != ""
			local = x != nil && !x.escapes || l.u.Info.Types[e].IsNil()
		}
		held = held || l.held[e]
		if odd && !local {
			l.share(e)
		}
	}
	if held && !l.held[r.CallExpr] {
		l.share(r.CallExpr)
	}
}

// share marks the memory of a value.
func (l *lifetimes) share(e ast.Expr) {
	l.wraps[e] = func(x ast.Expr) ast.Expr { return l.u.as(calledFrom(e.Pos(), Support("Share", x)), e) }
}

// rewrite puts the calls and the slots into the unit.
func (l *lifetimes) rewrite() {
	l.u.imports = true
	l.u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.FuncDecl:
			if len(l.declared[n]) > 0 {
				n.Body.List = append(l.declared[n], n.Body.List...)
			}
		case *ast.FuncLit:
			n.Body.List = append(l.declared[n], n.Body.List...)
		case ast.Expr:
			if wrap := l.wraps[n]; wrap != nil {
				c.Replace(wrap(n))
			}
		}
	})
}
