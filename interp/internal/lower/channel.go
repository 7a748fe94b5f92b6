package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// channels replaces operations that wait for a channel by calls of support functions, which
// also wait for the end of the cell. A value to receive or send goes through a separate
// channel with one element: it has the element type, which the support functions need not
// know. Yaegi's own select must not be used: goroutines that run the same statement at the
// same time share its operands.
//
//	<-c              a call of a literal that receives
//	c <- v           a call of a literal that sends
//	for v := range c a loop that receives
//	select           a switch over the number of the case that proceeds
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
	two := map[ast.Node]types.Type{} // the types of the second results of receive operations
	ast.Inspect(u.File, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if len(s.Lhs) == 2 && len(s.Rhs) == 1 {
				two[ast.Unparen(s.Rhs[0])] = u.boolOf(s.Lhs[1])
			}
		case *ast.ValueSpec:
			if len(s.Names) == 2 && len(s.Values) == 1 {
				two[ast.Unparen(s.Values[0])] = u.boolOf(s.Names[1])
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

// boolOf returns the type of a variable for the second result of a receive operation if that is a type of truth values, and otherwise bool.
func (u *Unit) boolOf(e ast.Expr) types.Type {
	if t := orInvalid(u.typeOf(e)); isBasic(t) && t != types.Typ[types.Invalid] {
		return t
	}
	return types.Typ[types.Bool]
}

// asBool converts a truth value to a type.
func (u *Unit) asBool(e ast.Expr, t types.Type) ast.Expr {
	if t == types.Typ[types.Bool] {
		return e
	}
	return call(u.typeExpr(e, t), e)
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

// receive returns the call that replaces <-c:
//
//	func(c__ chan T) T { t__ := make(chan T, 1); Recv(c__, t__); v__ := <-t__; return v__ }(c)
func (u *Unit) receive(n *ast.UnaryExpr, second types.Type) ast.Expr {
	ch := u.channelOf(n.X)
	results := &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(n, ch.Elem())}}}
	recv := Support("Recv", ident("c__"), ident("t__"), u.placed(n.OpPos))
	st := expr(recv)
	ret := &ast.ReturnStmt{Results: []ast.Expr{ident("v__")}}
	if second != nil {
		results.List = append(results.List, &ast.Field{Type: u.typeExpr(n, second)})
		st = define(ident("ok__"), recv)
		ret.Results = append(ret.Results, u.asBool(ident("ok__"), second))
	}
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: n.Pos(), Results: results, Params: &ast.FieldList{List: []*ast.Field{
			{Names: []*ast.Ident{ident("c__")}, Type: u.typeExpr(n, ch)},
		}}},
		Body: block(define(ident("t__"), u.carrier(n, ch)), st, define(ident("v__"), taken("t__")), ret),
	}
	return call(lit, n.X)
}

// send returns the replacement of c <- v.
func (u *Unit) send(n *ast.SendStmt) ast.Stmt {
	ch := u.channelOf(n.Chan)
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: n.Pos(), Params: &ast.FieldList{List: []*ast.Field{
			{Names: []*ast.Ident{ident("c__")}, Type: u.typeExpr(n, ch)},
			{Names: []*ast.Ident{ident("v__")}, Type: u.typeExpr(n, ch.Elem())},
		}}},
		Body: block(
			define(ident("t__"), u.carrier(n, ch)),
			&ast.SendStmt{Chan: ident("t__"), Value: ident("v__")},
			expr(Support("Send", ident("c__"), ident("t__"), u.placed(n.Arrow))),
		),
	}
	return expr(call(lit, n.Chan, n.Value))
}

// carrier makes the channel that carries one value to or from a support function.
func (u *Unit) carrier(n ast.Node, ch *types.Chan) ast.Expr {
	return call(ident("make"), chanOf(u.typeExpr(n, ch.Elem()), ast.SEND|ast.RECV), Int(1))
}

// taken receives from a carrier.
func taken(carrier string) ast.Expr { return &ast.UnaryExpr{Op: token.ARROW, X: ident(carrier)} }

// rangeChannel rewrites for v := range c.
func (u *Unit) rangeChannel(n *ast.RangeStmt) ast.Stmt {
	ch := u.channelOf(n.X)
	c, ok := u.temp("c"), u.temp("ok")
	from := u.typed(ident(c.Name), ch)
	op := &ast.UnaryExpr{OpPos: n.For, Op: token.ARROW, X: from}
	value := n.Key
	if value == nil {
		value = ident("_")
	}
	in := &ast.AssignStmt{Lhs: []ast.Expr{value, ok}, TokPos: n.For, Tok: token.DEFINE, Rhs: []ast.Expr{u.receive(op, types.Typ[types.Bool])}}
	start := []ast.Stmt{in}
	if n.Tok == token.ASSIGN {
		v := u.temp("v")
		in.Lhs[0] = v
		start = append(start, assign(n.Key, ident(v.Name)))
	}
	leave := &ast.IfStmt{Cond: &ast.UnaryExpr{Op: token.NOT, X: ident(ok.Name)}, Body: block(&ast.BranchStmt{Tok: token.BREAK})}
	start = append([]ast.Stmt{start[0], leave}, start[1:]...)
	return &ast.ForStmt{For: n.For, Init: define(c, n.X), Body: block(append(start, n.Body)...)} // the body may declare the variable again
}

// selects rewrites the select statements of a list.
func (u *Unit) selects(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, st := range list {
		var label *ast.LabeledStmt
		inner := st
		for {
			l, ok := inner.(*ast.LabeledStmt)
			if !ok {
				break
			}
			label, inner = l, l.Stmt
		}
		s, ok := inner.(*ast.SelectStmt)
		if !ok {
			out = append(out, st)
			continue
		}
		breaks := false
		if label != nil {
			var target []ast.Stmt
			target, breaks = u.landing(label)
			out = append(out, target...)
		}
		before, choice := u.selectCases(s)
		out = append(out, before...)
		if label == nil || !breaks && st == ast.Stmt(label) { // a label that nothing names is not Go
			out = append(out, choice)
			continue
		}
		label.Stmt = choice
		out = append(out, st)
	}
	return out
}

// landing returns a target for goto statements that name the label of a select: it comes
// before the first action of the select. The label itself stays for break; breaks reports whether a statement needs it.
func (u *Unit) landing(l *ast.LabeledStmt) (target []ast.Stmt, breaks bool) {
	o := u.Info.Defs[l.Label]
	if o == nil {
		return nil, true
	}
	name := ""
	ast.Inspect(u.File, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		switch {
		case !ok || b.Label == nil || u.Info.Uses[b.Label] != o:
		case b.Tok != token.GOTO:
			breaks = true
		default:
			if name == "" {
				name = u.temp(l.Label.Name).Name
			}
			b.Label.Name = name
		}
		return true
	})
	if name == "" {
		return nil, breaks
	}
	return []ast.Stmt{&ast.LabeledStmt{Label: ident(name), Stmt: u.poll(l.Pos())}}, breaks
}

// selectCases turns a select into a call that waits and a switch over its result. The
// call's first argument gives the kind of each case.
func (u *Unit) selectCases(s *ast.SelectStmt) (before []ast.Stmt, choice ast.Stmt) {
	chosen, ok := u.temp("chosen"), u.temp("ok")
	chosen.NamePos = s.Select
	kinds := ""
	var operands []ast.Expr
	add := func(kind string, c ast.Expr, carrier ast.Expr) {
		v := u.temp("c")
		before = append(before, define(v, c))
		kinds += kind
		operands = append(operands, ident(v.Name), carrier)
	}
	body := &ast.BlockStmt{}
	for i, st := range s.Body.List {
		cc := st.(*ast.CommClause)
		clause := &ast.CaseClause{Case: cc.Case, List: []ast.Expr{Int(int64(i))}, Body: cc.Body}
		body.List = append(body.List, clause)
		switch op := cc.Comm.(type) {
		case nil:
			kinds += "d"
		case *ast.SendStmt:
			t := u.temp("t")
			add("s", op.Chan, ident(t.Name))
			before = append(before,
				define(t, u.carrier(op, u.channelOf(op.Chan))),
				&ast.SendStmt{Chan: ident(t.Name), Value: op.Value})
		case *ast.ExprStmt:
			add("r", ast.Unparen(op.X).(*ast.UnaryExpr).X, ident("nil"))
		case *ast.AssignStmt:
			from := ast.Unparen(op.Rhs[0]).(*ast.UnaryExpr).X
			t := u.temp("t")
			add("r", from, ident(t.Name))
			before = append(before, define(t, u.carrier(op, u.channelOf(from))))
			values := []ast.Expr{taken(t.Name), ident(ok.Name)}
			var start []ast.Stmt
			for k, e := range op.Lhs {
				switch id, isName := e.(*ast.Ident); {
				case isName && id.Name == "_":
				case op.Tok == token.DEFINE && k == 0: // a received value has no address
					v := u.temp("v")
					start = append(start, define(v, values[k]), define(e, ident(v.Name)))
				case op.Tok == token.DEFINE:
					start = append(start, define(e, values[k]))
				case k == 0: // a variable separates the receive from the assignment
					v := u.temp("v")
					start = append(start, define(v, values[k]), assign(e, ident(v.Name)))
				default:
					start = append(start, assign(e, u.asBool(values[k], u.boolOf(e))))
				}
			}
			clause.Body = append(start, cc.Body...)
		}
	}
	if n := len(body.List); n > 0 {
		body.List[n-1].(*ast.CaseClause).List = nil // default: a function may end in a select whose cases all return
	}
	wait := Support("Select", append([]ast.Expr{u.placed(s.Select), &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(kinds)}}, operands...)...)
	wait.Lparen = s.Select   // position of the select
	if len(body.List) == 0 { // it blocks for ever, so a function may end with it
		return nil, &ast.ForStmt{For: s.Select, Body: block(expr(wait))}
	}
	before = append(before, &ast.AssignStmt{Lhs: []ast.Expr{chosen, ok}, Tok: token.DEFINE, TokPos: s.Select, Rhs: []ast.Expr{
		wait,
	}})
	return before, &ast.SwitchStmt{Switch: s.Select, Tag: ident(chosen.Name), Body: body}
}
