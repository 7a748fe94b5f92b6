package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// rangeFunc replaces a loop over a function by a call of the function, with the loop's body
// as the argument. Statements that leave the body (return, goto, and break and continue of
// outer loops) store a number, which selects the statement that runs after the call.
func (u *Unit) rangeFunc() {
	u.funcs(func(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		label := ""
		u.inside(body, func(c *astutil.Cursor) { // a literal is rewritten by itself
			r, ok := c.Node().(*ast.RangeStmt)
			if !ok {
				return
			}
			sig, ok := types.Unalias(orInvalid(u.typeOf(r.X))).Underlying().(*types.Signature)
			if !ok {
				return
			}
			label = ""
			if l, ok := c.Parent().(*ast.LabeledStmt); ok {
				label = l.Label.Name
			}
			c.Replace(u.callback(r, sig, t, label))
		})
	})
}

func orInvalid(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}

// callback returns the statement that replaces the loop.
func (u *Unit) callback(r *ast.RangeStmt, sig *types.Signature, fn *ast.FuncType, label string) ast.Stmt {
	yield := sig.Params().At(0).Type().Underlying().(*types.Signature)
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: r.For, Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: ident("bool")}}}}}
	var start []ast.Stmt
	for i := range yield.Params().Len() {
		e := r.Key
		if i == 1 {
			e = r.Value
		}
		id, ok := e.(*ast.Ident)
		switch {
		case e == nil:
			id = ident("_")
		case r.Tok != token.DEFINE:
			id = u.temp("x")
			start = append(start, assign(e, ident(id.Name)))
		case !ok:
			id = ident("_")
		}
		lit.Type.Params.List = append(lit.Type.Params.List, &ast.Field{Names: []*ast.Ident{id}, Type: u.typeExpr(r, yield.Params().At(i).Type())})
	}
	x := exits{u: u, label: label, exit: u.temp("exit"), state: u.temp("state"), fn: fn}
	lit.Body = block(append(start, r.Body.List...)...)
	x.rewrite(lit.Body)
	check := &ast.IfStmt{
		Cond: &ast.BinaryExpr{X: ident(x.state.Name), Op: token.NEQ, Y: Int(stateReady)},
		Body: block(expr(calledFrom(r.For, Support("Resumed", ident(x.state.Name))))),
	}
	lit.Body.List = append([]ast.Stmt{check, x.set(statePanic)}, lit.Body.List...)
	lit.Body.List = append(lit.Body.List, x.end(true)...)
	u.imports = true
	list := append([]ast.Stmt{define(x.state, Int(stateReady))}, x.decls...)
	list = append(list, expr(call(r.X, u.typed(lit, yield))))
	missing := &ast.IfStmt{
		Cond: &ast.BinaryExpr{X: ident(x.state.Name), Op: token.EQL, Y: Int(statePanic)},
		Body: block(expr(calledFrom(r.For, Support("Resumed", Int(stateMissing))))),
	}
	list = append(list, missing, x.set(stateExhausted))
	if len(x.after) > 0 {
		list = append([]ast.Stmt{declare(x.exit, ident("int"))}, list...)
		list = append(list, x.after...)
	}
	return block(list...)
}

// The states of a loop over a function, which may not call the body again after it has ended.
// The support function Resumed knows their numbers.
const (
	stateReady     = iota
	stateDone      // the body has returned false
	statePanic     // the body runs, or has panicked
	stateExhausted // the loop has ended
	stateMissing   // the function has recovered a panic of the body
)

// set returns a statement that sets the state of the loop.
func (x *exits) set(state int64) ast.Stmt { return assign(ident(x.state.Name), Int(state)) }

// end returns the statements that end an iteration.
func (x *exits) end(more bool) []ast.Stmt {
	state, value := x.set(stateReady), ident("true")
	if !more {
		state, value = x.set(stateDone), ident("false")
	}
	return []ast.Stmt{state, &ast.ReturnStmt{Results: []ast.Expr{value}}}
}

// exits rewrites the statements that leave a loop's body.
type exits struct {
	u      *Unit
	label  string // label of the loop
	exit   *ast.Ident
	state  *ast.Ident
	fn     *ast.FuncType
	decls  []ast.Stmt
	after  []ast.Stmt
	result []*ast.Ident
	count  int64
}

func (x *exits) rewrite(body *ast.BlockStmt) {
	loops, breakable := 0, 0
	astutil.Apply(body, func(c *astutil.Cursor) bool {
		switch c.Node().(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			loops++
			breakable++
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			breakable++
		}
		return true
	}, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loops--
			breakable--
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			breakable--
		case *ast.ReturnStmt:
			c.Replace(x.leave(x.keep(n), &ast.ReturnStmt{Results: x.results()}))
		case *ast.BranchStmt:
			inside := n.Label != nil && labelled(body, n.Label.Name)
			mine := n.Label != nil && n.Label.Name == x.label
			switch {
			case inside, n.Tok == token.FALLTHROUGH:
			case n.Tok == token.CONTINUE && (mine || n.Label == nil && loops == 0):
				c.Replace(block(x.end(true)...))
			case n.Tok == token.BREAK && (mine || n.Label == nil && breakable == 0):
				c.Replace(block(x.end(false)...))
			case n.Label != nil:
				c.Replace(x.leave(nil, n))
			}
		}
		return true
	})
}

// leave returns a statement that records an action and ends the iteration. The action runs
// after the call.
func (x *exits) leave(before []ast.Stmt, after ast.Stmt) ast.Stmt {
	x.count++
	list := append(append(before, assign(ident(x.exit.Name), Int(x.count))), x.end(false)...)
	x.after = append(x.after, &ast.IfStmt{
		Cond: &ast.BinaryExpr{X: ident(x.exit.Name), Op: token.EQL, Y: Int(x.count)},
		Body: block(after),
	})
	return block(list...)
}

// keep stores the results of a return statement.
func (x *exits) keep(r *ast.ReturnStmt) []ast.Stmt {
	if len(r.Results) == 0 {
		return nil
	}
	x.declareResults()
	a := &ast.AssignStmt{TokPos: r.Return, Tok: token.ASSIGN, Rhs: r.Results}
	for _, id := range x.result {
		a.Lhs = append(a.Lhs, ident(id.Name))
	}
	return []ast.Stmt{a}
}

func (x *exits) results() []ast.Expr {
	var list []ast.Expr
	for _, id := range x.result {
		list = append(list, ident(id.Name))
	}
	return list
}

func (x *exits) declareResults() {
	if x.result != nil || x.fn.Results == nil {
		return
	}
	for _, f := range x.fn.Results.List {
		names := f.Names
		if len(names) == 0 || names[0].Name == "_" {
			id := x.u.temp("result")
			x.decls = append(x.decls, declare(id, f.Type))
			names = []*ast.Ident{id}
		}
		x.result = append(x.result, names...)
	}
}

// labelled reports whether a label is inside body.
func labelled(body ast.Node, name string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if l, ok := n.(*ast.LabeledStmt); ok && l.Label.Name == name {
			found = true
		}
		return !found
	})
	return found
}
