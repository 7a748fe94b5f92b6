package native

import (
	"go/ast"
	"go/token"
)

// useVariables adds an assignment to _ for each variable that a function declares: cells may
// leave variables unused, and so may rewrites.
func useVariables(d ast.Decl) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = used(n.List)
		case *ast.CaseClause:
			n.Body = used(n.Body)
		case *ast.CommClause:
			n.Body = append(uses(n.Comm), used(n.Body)...)
		case *ast.IfStmt:
			n.Body.List = append(uses(n.Init), n.Body.List...)
		case *ast.ForStmt:
			n.Body.List = append(uses(n.Init), n.Body.List...)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				n.Body.List = append(use(n.Key, n.Value), n.Body.List...)
			}
		case *ast.SwitchStmt:
			inClauses(n.Body, uses(n.Init), false)
		case *ast.TypeSwitchStmt:
			inClauses(n.Body, uses(n.Init), false)
			if a, ok := n.Assign.(*ast.AssignStmt); ok {
				if len(n.Body.List) == 0 {
					inClauses(n.Body, nil, true)
				}
				inClauses(n.Body, use(a.Lhs...), true)
			}
		}
		return true
	})
}

// used returns statements with uses of the variables that they declare.
func used(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		out = append(out, s)
		for l, ok := s.(*ast.LabeledStmt); ok; l, ok = s.(*ast.LabeledStmt) {
			s = l.Stmt
		}
		out = append(out, uses(s)...)
	}
	return out
}

// uses returns uses of the variables that a statement declares.
func uses(s ast.Stmt) (out []ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return use(s.Lhs...)
		}
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			return nil
		}
		for _, spec := range g.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				out = append(out, use(id)...)
			}
		}
	}
	return out
}

// use returns uses of variables.
func use(list ...ast.Expr) (out []ast.Stmt) {
	for _, x := range list {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" {
			out = append(out, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: []ast.Expr{ast.NewIdent(id.Name)}})
		}
	}
	return out
}

// inClauses adds statements to the clauses of a switch: to all, or to the first. A switch
// without clauses gets one.
func inClauses(body *ast.BlockStmt, list []ast.Stmt, all bool) {
	if len(list) == 0 && !all {
		return
	}
	if len(body.List) == 0 {
		body.List = []ast.Stmt{&ast.CaseClause{}}
	}
	for _, s := range body.List {
		c := s.(*ast.CaseClause)
		c.Body = append(append([]ast.Stmt{}, list...), c.Body...)
		if !all {
			return
		}
	}
}
