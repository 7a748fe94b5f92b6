package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// loopVars gives each iteration of a loop its own variables where the difference is
// observable: where a function literal or a pointer keeps one. A loop with range counts with a variable that its body
// does not assign.
func (u *Unit) loopVars() {
	u.each(func(c *astutil.Cursor) {
		switch s := c.Node().(type) {
		case *ast.RangeStmt:
			u.rangeVars(s)
		case *ast.ForStmt:
			label := ""
			if l, ok := c.Parent().(*ast.LabeledStmt); ok {
				label = l.Label.Name
			}
			u.clauseVars(s, label)
		}
	})
}

func (u *Unit) rangeVars(s *ast.RangeStmt) {
	if s.Tok != token.DEFINE {
		return
	}
	var copies []ast.Stmt
	for _, e := range []*ast.Expr{&s.Key, &s.Value} {
		id, ok := (*e).(*ast.Ident)
		if !ok || id.Name == "_" || !u.captured(u.Info.Defs[id], s.Body) && !u.assigns(s.Body, u.Info.Defs[id]) {
			continue
		}
		x := u.temp(id.Name)
		*e = u.typed(x, u.Info.Defs[id].Type())
		copies = append(copies, define(id, ident(x.Name)))
	}
	s.Body.List = append(copies, s.Body.List...)
}

// assigns reports whether a body assigns a variable.
func (u *Unit) assigns(body *ast.BlockStmt, o types.Object) bool {
	found := false
	check := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := ast.Unparen(e).(*ast.Ident); ok {
				found = found || o != nil && u.Info.Uses[id] == o
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			check(n.Lhs...)
		case *ast.IncDecStmt:
			check(n.X)
		case *ast.RangeStmt:
			check(n.Key, n.Value)
		}
		return !found
	})
	return found
}

func (u *Unit) clauseVars(s *ast.ForStmt, label string) {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE {
		return
	}
	var copies, back []ast.Stmt
	for i, e := range init.Lhs {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		o := u.Info.Defs[id]
		if !u.captured(o, s.Body) {
			continue
		}
		x := u.temp(id.Name)
		init.Lhs[i] = x
		u.rename(o, x.Name, s.Cond)
		u.rename(o, x.Name, s.Post)
		copies = append(copies, define(id, ident(x.Name)))
		back = append(back, assign(ident(x.Name), ident(id.Name)))
	}
	if len(back) > 0 {
		u.beforeContinue(s.Body, label, back)
		s.Body.List = append(s.Body.List, back...)
	}
	s.Body.List = append(copies, s.Body.List...)
}

// rename renames o's occurrences in n.
func (u *Unit) rename(o types.Object, name string, n ast.Node) {
	switch x := n.(type) {
	case nil:
		return
	case ast.Expr:
		if x == nil {
			return
		}
	case ast.Stmt:
		if x == nil {
			return
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && o != nil && u.Info.Uses[id] == o {
			id.Name = name
		}
		return true
	})
}

// beforeContinue puts statements before each continue of a loop.
func (u *Unit) beforeContinue(body *ast.BlockStmt, label string, list []ast.Stmt) {
	depth := 0
	astutil.Apply(body, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt, *ast.RangeStmt:
			depth++
		case *ast.BranchStmt:
			if n.Tok != token.CONTINUE || n.Label == nil && depth > 0 || n.Label != nil && n.Label.Name != label {
				break
			}
			if c.Index() >= 0 {
				for _, st := range list {
					c.InsertBefore(st)
				}
			} else {
				c.Replace(block(append(append([]ast.Stmt{}, list...), n)...))
				return false
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		switch c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			depth--
		}
		return true
	})
}
