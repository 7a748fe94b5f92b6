package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// channels makes operations that wait for a channel wait for the cell's end as
// well, and brings select statements into the forms that Yaegi knows:
//
//	<-c              a literal with a select, called
//	c <- v           the same
//	for v := range c a loop that receives
//	select           one more case; what is sent and received goes through variables
func (u *Unit) channels() {
	u.imports = true
	comms := map[ast.Node]bool{} // operations that are cases of a select
	ast.Inspect(u.File, func(n ast.Node) bool {
		if cc, ok := n.(*ast.CommClause); ok && cc.Comm != nil {
			switch s := cc.Comm.(type) {
			case *ast.SendStmt:
				comms[s] = true
			case *ast.ExprStmt:
				s.X = ast.Unparen(s.X)
				comms[s.X] = true
			case *ast.AssignStmt:
				s.Rhs[0] = ast.Unparen(s.Rhs[0])
				comms[s.Rhs[0]] = true
			}
		}
		return true
	})
	two := map[ast.Node]bool{} // receive operations with a second result
	ast.Inspect(u.File, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if len(s.Lhs) == 2 && len(s.Rhs) == 1 {
				two[ast.Unparen(s.Rhs[0])] = true
			}
		case *ast.ValueSpec:
			if len(s.Names) == 2 && len(s.Values) == 1 {
				two[ast.Unparen(s.Values[0])] = true
			}
		}
		return true
	})
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !comms[n] {
				c.Replace(u.as(u.receive(n, two[n]), n))
			}
		case *ast.SendStmt:
			if !comms[n] {
				c.Replace(u.send(n))
			}
		case *ast.RangeStmt:
			if t := u.typeOf(n.X); t != nil {
				if _, ok := t.Underlying().(*types.Chan); ok {
					c.Replace(u.rangeChannel(n))
				}
			}
		case *ast.BlockStmt:
			n.List = u.selects(n.List)
		case *ast.CaseClause:
			n.Body = u.selects(n.Body)
		case *ast.CommClause:
			n.Body = u.selects(n.Body)
		}
	})
}

func (u *Unit) channelOf(e ast.Expr) *types.Chan {
	if t := u.typeOf(e); t != nil {
		if ch, ok := t.Underlying().(*types.Chan); ok {
			return ch
		}
	}
	u.unsupported(e, "a channel operation on a type parameter")
	return nil
}

// receive returns the call that replaces <-c.
func (u *Unit) receive(n *ast.UnaryExpr, two bool) ast.Expr {
	ch := u.channelOf(n.X)
	elem := u.typeExpr(n, ch.Elem())
	results := &ast.FieldList{List: []*ast.Field{{Type: elem}}}
	in := &ast.AssignStmt{Lhs: []ast.Expr{ident("v__")}, Tok: token.DEFINE, Rhs: []ast.Expr{&ast.UnaryExpr{Op: token.ARROW, X: ident("c__")}}}
	ret := &ast.ReturnStmt{Results: []ast.Expr{ident("v__")}}
	if two {
		results.List = append(results.List, &ast.Field{Type: ident("bool")})
		in.Lhs = append(in.Lhs, ident("ok__"))
		ret.Results = append(ret.Results, ident("ok__"))
	}
	return u.waiting(n.Pos(), results, []*ast.Field{{Names: []*ast.Ident{ident("c__")}, Type: u.typeExpr(n, ch)}},
		&ast.CommClause{Comm: in, Body: []ast.Stmt{ret}}, n.X)
}

// waiting calls a literal that waits for one channel operation.
func (u *Unit) waiting(pos token.Pos, results *ast.FieldList, params []*ast.Field, op *ast.CommClause, args ...ast.Expr) ast.Expr {
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: pos, Params: &ast.FieldList{List: params}, Results: results},
		Body: block(
			define(ident("done__"), Support("Done")),
			&ast.ForStmt{Body: block(&ast.SelectStmt{Body: block(op, stopped("done__"))})},
		),
	}
	return calledFrom(args[0].Pos(), call(lit, args...))
}

// stopped is the case of a select that ends the wait.
func stopped(done string) *ast.CommClause {
	return &ast.CommClause{
		Comm: expr(&ast.UnaryExpr{Op: token.ARROW, X: ident(done)}),
		Body: []ast.Stmt{expr(Support("Stopped"))},
	}
}

func (u *Unit) send(n *ast.SendStmt) ast.Stmt {
	ch := u.channelOf(n.Chan)
	return expr(u.waiting(n.Pos(), nil,
		[]*ast.Field{
			{Names: []*ast.Ident{ident("c__")}, Type: u.typeExpr(n, ch)},
			{Names: []*ast.Ident{ident("v__")}, Type: u.typeExpr(n, ch.Elem())},
		},
		&ast.CommClause{Comm: &ast.SendStmt{Chan: ident("c__"), Value: ident("v__")}, Body: []ast.Stmt{&ast.ReturnStmt{}}},
		n.Chan, n.Value))
}

// rangeChannel is for v := range c.
func (u *Unit) rangeChannel(n *ast.RangeStmt) ast.Stmt {
	ch := u.channelOf(n.X)
	c, ok := u.temp("c"), u.temp("ok")
	from := u.typed(ident(c.Name), ch)
	op := &ast.UnaryExpr{OpPos: n.For, Op: token.ARROW, X: from}
	value := n.Key
	if value == nil {
		value = ident("_")
	}
	in := &ast.AssignStmt{Lhs: []ast.Expr{value, ok}, TokPos: n.For, Tok: token.DEFINE, Rhs: []ast.Expr{u.receive(op, true)}}
	start := []ast.Stmt{in}
	if n.Tok == token.ASSIGN {
		v := u.temp("v")
		in.Lhs[0] = v
		start = append(start, assign(n.Key, ident(v.Name)))
	}
	leave := &ast.IfStmt{Cond: &ast.UnaryExpr{Op: token.NOT, X: ident(ok.Name)}, Body: block(&ast.BranchStmt{Tok: token.BREAK})}
	start = append([]ast.Stmt{start[0], leave}, start[1:]...)
	return &ast.ForStmt{For: n.For, Init: define(c, n.X), Body: block(append(start, n.Body.List...)...)}
}

// selects rewrites the select statements of a list, and puts before them what
// their cases send.
func (u *Unit) selects(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, st := range list {
		inner := st
		for {
			l, ok := inner.(*ast.LabeledStmt)
			if !ok {
				break
			}
			inner = l.Stmt
		}
		if s, ok := inner.(*ast.SelectStmt); ok && !u.lowered[s] {
			if u.lowered == nil {
				u.lowered = map[ast.Node]bool{}
			}
			u.lowered[s] = true
			out = append(out, u.selectCases(s)...)
		}
		out = append(out, st)
	}
	return out
}

func (u *Unit) selectCases(s *ast.SelectStmt) (before []ast.Stmt) {
	waits := true
	for _, st := range s.Body.List {
		cc := st.(*ast.CommClause)
		switch op := cc.Comm.(type) {
		case nil:
			waits = false
		case *ast.SendStmt:
			c, v := u.temp("c"), u.temp("v")
			before = append(before, define(c, op.Chan), declare(v, u.typeExpr(op, u.channelOf(op.Chan).Elem())), assign(ident(v.Name), op.Value))
			op.Chan, op.Value = ident(c.Name), ident(v.Name)
		case *ast.AssignStmt:
			if op.Tok == token.DEFINE {
				break
			}
			var copies []ast.Stmt
			for i, e := range op.Lhs {
				if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
					continue
				}
				x := u.temp("v")
				op.Lhs[i] = x
				copies = append(copies, assign(e, ident(x.Name)))
			}
			if len(copies) > 0 {
				op.Tok = token.DEFINE
			}
			cc.Body = append(copies, cc.Body...)
		}
	}
	if waits {
		done := u.temp("done")
		before = append(before, define(done, Support("Done")))
		s.Body.List = append(s.Body.List, stopped(done.Name))
	}
	return before
}
