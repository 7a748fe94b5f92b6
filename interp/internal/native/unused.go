package native

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// useVariables adds an assignment to _ for each variable that a function declares and that may
// be unused: cells may leave variables unused, and so may rewrites. A variable that is read gets
// none, because the compiler inlines a function that a variable holds only if that is its one use.
func useVariables(d ast.Decl, info *types.Info) {
	v := variablesIn(d, info)
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = v.used(n.List)
		case *ast.CaseClause:
			n.Body = v.used(n.Body)
		case *ast.CommClause:
			n.Body = append(v.uses(n.Comm), v.used(n.Body)...)
		case *ast.IfStmt:
			n.Body.List = append(v.uses(n.Init), n.Body.List...)
		case *ast.ForStmt:
			n.Body.List = append(v.uses(n.Init), n.Body.List...)
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				n.Body.List = append(v.use(n.Key, n.Value), n.Body.List...)
			}
		case *ast.SwitchStmt:
			inClauses(n.Body, v.uses(n.Init), false)
		case *ast.TypeSwitchStmt:
			inClauses(n.Body, v.uses(n.Init), false)
			if a, ok := n.Assign.(*ast.AssignStmt); ok {
				if len(n.Body.List) == 0 {
					inClauses(n.Body, nil, true)
				}
				inClauses(n.Body, v.use(a.Lhs...), true)
			}
		}
		return true
	})
}

// variables says which variables of a function need no use.
type variables struct {
	info *types.Info
	read map[types.Object]bool
}

// variablesIn finds the variables that a declaration reads: all that it names other than as the
// target of an assignment.
func variablesIn(d ast.Decl, info *types.Info) variables {
	v := variables{info, map[types.Object]bool{}}
	targets := map[ast.Expr]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				targets[ast.Unparen(x)] = true
			}
		case *ast.IncDecStmt:
			targets[n.X] = true
		case *ast.RangeStmt:
			targets[n.Key], targets[n.Value] = true, true
		case *ast.Ident:
			if o := info.Uses[n]; o != nil && !targets[n] {
				v.read[o] = true
			}
		}
		return true
	})
	return v
}

// used returns statements with uses of the variables that they declare.
func (v variables) used(list []ast.Stmt) []ast.Stmt {
	var out []ast.Stmt
	for _, s := range list {
		out = append(out, s)
		for l, ok := s.(*ast.LabeledStmt); ok; l, ok = s.(*ast.LabeledStmt) {
			s = l.Stmt
		}
		out = append(out, v.uses(s)...)
	}
	return out
}

// uses returns uses of the variables that a statement declares.
func (v variables) uses(s ast.Stmt) (out []ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return v.use(s.Lhs...)
		}
	case *ast.DeclStmt:
		g, ok := s.Decl.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			return nil
		}
		for _, spec := range g.Specs {
			for _, id := range spec.(*ast.ValueSpec).Names {
				out = append(out, v.use(id)...)
			}
		}
	}
	return out
}

// use returns uses of variables.
func (v variables) use(list ...ast.Expr) (out []ast.Stmt) {
	for _, x := range list {
		if id, ok := x.(*ast.Ident); ok && id.Name != "_" && !strings.HasPrefix(id.Name, prefix) && !v.read[v.info.Defs[id]] {
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
