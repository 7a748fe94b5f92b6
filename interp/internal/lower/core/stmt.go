package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (c *checker) block(list []ast.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *checker) stmt(s ast.Stmt) {
	if s == nil {
		return
	}
	if p := s.Pos(); p.IsValid() {
		c.at = p
	}
	form := c.stmtForm(s)
	c.permit(form, s, c.stmtType(s), 0, 0)
	switch s := s.(type) {
	case *ast.AssignStmt:
		c.assign(s, form)
	case *ast.BlockStmt:
		c.block(s.List)
	case *ast.CaseClause:
		c.block(s.Body)
	case *ast.CommClause:
		c.stmt(s.Comm)
		c.block(s.Body)
	case *ast.DeclStmt:
		c.genDecl(s.Decl.(*ast.GenDecl))
	case *ast.DeferStmt:
		c.expr(s.Call, Deferred)
	case *ast.ExprStmt:
		c.expr(s.X, Effect)
	case *ast.ForStmt:
		c.stmt(s.Init)
		c.condition(s.Cond)
		c.stmt(s.Post)
		c.block(s.Body.List)
	case *ast.GoStmt:
		c.expr(s.Call, Started)
	case *ast.IfStmt:
		c.stmt(s.Init)
		c.condition(s.Cond)
		c.block(s.Body.List)
		c.stmt(s.Else)
	case *ast.IncDecStmt:
		c.expr(s.X, Target)
	case *ast.LabeledStmt:
		c.stmt(s.Stmt)
	case *ast.RangeStmt:
		c.rangeOver(s)
	case *ast.ReturnStmt:
		c.returns(s)
	case *ast.SelectStmt:
		c.block(s.Body.List)
	case *ast.SendStmt:
		c.expr(s.Chan, Channel)
		c.expr(s.Value, Sent)
	case *ast.SwitchStmt:
		c.switches(s)
	case *ast.TypeSwitchStmt:
		c.stmt(s.Init)
		c.stmt(s.Assign)
		c.clauses(s.Body, 0)
	}
}

func (c *checker) condition(e ast.Expr) {
	if e != nil {
		c.expr(e, Condition)
	}
}

func (c *checker) switches(s *ast.SwitchStmt) {
	c.stmt(s.Init)
	if s.Tag == nil {
		c.clauses(s.Body, Condition)
		return
	}
	c.expr(s.Tag, Tag)
	c.clauses(s.Body, Case)
}

// clauses checks the clauses of a switch, whose expressions have a position, or are types.
func (c *checker) clauses(b *ast.BlockStmt, at Position) {
	for _, st := range b.List {
		cc := st.(*ast.CaseClause)
		if at != 0 {
			if len(cc.List) > 1 && at == Condition {
				c.permit("case.conditions", cc, nil, 0, 0)
			}
			for i, e := range cc.List {
				p := at
				if at == Case && i > 0 {
					p = MoreCase
				}
				c.expr(e, p)
			}
		}
		for _, x := range cc.Body {
			if _, ok := x.(*ast.EmptyStmt); ok {
				c.permit("clause.empty", cc, nil, 0, 0)
			}
		}
		c.block(cc.Body)
	}
}

func (c *checker) rangeOver(s *ast.RangeStmt) {
	t := c.typeOf(s.X)
	if s.Tok == token.DEFINE && t != nil {
		key, value := types.Type(types.Typ[types.Int]), elementOf(t)
		switch u := t.Underlying().(type) {
		case *types.Map:
			key = u.Key()
		case *types.Chan:
			key = u.Elem()
		}
		for i, e := range []ast.Expr{s.Key, s.Value} {
			if id, ok := e.(*ast.Ident); ok {
				c.made[id.Name] = []types.Type{key, value}[i]
			}
		}
	}
	c.expr(s.X, Ranged)
	if s.Tok == token.ASSIGN {
		for _, e := range []ast.Expr{s.Key, s.Value} {
			if e != nil {
				c.expr(e, Target)
			}
		}
	}
	c.block(s.Body.List)
}

func (c *checker) returns(s *ast.ReturnStmt) {
	for i, e := range s.Results {
		p := Returned
		if i < len(c.results) && len(s.Results) == len(c.results) {
			p = c.results[i]
		}
		if len(s.Results) > 1 {
			p |= Several
		}
		if !nested(e) {
			p &^= NamedResult
		}
		c.expr(e, p)
	}
}

// nested reports whether an operand of an expression is more than a name or a literal of a basic type.
func nested(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Ident, *ast.BasicLit:
			return false
		}
		found = found || n != ast.Node(e)
		return !found
	})
	return found
}

func (c *checker) assign(s *ast.AssignStmt, form string) {
	switch form {
	case "define", "define.several":
		for i, e := range s.Lhs {
			c.define(e, s.Rhs[i])
		}
	case "define.tuple", "define.commaok":
		c.defineAll(s.Lhs, s.Rhs[0])
	}
	tuple, _ := c.typeOf(s.Rhs[0]).(*types.Tuple)
	for i, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && (id.Name == "_" || s.Tok == token.DEFINE) {
			continue
		}
		at := Target
		if form == "assign.tuple" && tuple != nil && i < tuple.Len() {
			at |= TupleTarget
			if t := c.typeOf(e); t != nil && !types.Identical(t, tuple.At(i).Type()) {
				at |= OtherType
			}
		}
		c.expr(e, at)
	}
	for _, e := range s.Rhs {
		switch form {
		case "define":
			c.expr(e, Defined)
		case "assign":
			c.assigned(e, s.Lhs[0])
		case "assign.several":
			c.expr(e, Parallel)
		case "define.several":
			c.expr(e, Together)
		case "assign.op":
			c.expr(e, Operation)
		default:
			c.expr(e, Tuple)
		}
	}
}

// assigned checks the right side of an assignment.
func (c *checker) assigned(e, target ast.Expr) {
	if id, ok := target.(*ast.Ident); ok && id.Name == "_" {
		c.expr(e, Assigned)
		return
	}
	c.exprIn(e, Assigned, c.storage(ast.Unparen(e), target))
}

// storage returns the storage of a target. It looks at functions only for expressions whose row does.
func (c *checker) storage(e, target ast.Expr) Storage {
	switch x := ast.Unparen(target).(type) {
	case *ast.SelectorExpr:
		return Field
	case *ast.IndexExpr:
		if kindOf(c.typeOf(x.X)) == Map {
			return Entry
		}
		return Item
	case *ast.StarExpr:
		return Deref
	case *ast.Ident:
		if !narrow[c.form(e)] {
			return 0
		}
		return c.variable(x)
	}
	return 0
}
