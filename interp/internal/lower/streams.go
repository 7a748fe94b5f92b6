package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// streams turns os.Stdin, os.Stdout and os.Stderr into calls of support functions of the
// same names, where an interface is expected or a method is called. Unlike a file, their
// results know which cell uses them.
func (u *Unit) streams() {
	free := map[ast.Expr]bool{} // expressions that need not be files
	want := func(t types.Type, e ast.Expr) {
		if e = ast.Unparen(e); t != nil && types.IsInterface(t) && u.stream(e) != "" {
			free[e] = true
		}
	}
	for _, d := range u.File.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && u.stream(ast.Unparen(sel.X)) != "" {
				free[ast.Unparen(sel.X)] = true
			}
			u.converted(n, want)
			return true
		})
	}
	u.funcs(func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) { u.returned(t, body, want) })
	if len(free) == 0 {
		return
	}
	u.each(func(c *astutil.Cursor) {
		if e, ok := c.Node().(ast.Expr); ok && free[e] {
			u.imports = true
			c.Replace(u.as(Support(u.stream(e)), e))
		}
	})
}

// stream returns the name of the standard stream that an expression denotes, or "".
func (u *Unit) stream(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	v, ok := u.Info.Uses[sel.Sel].(*types.Var)
	if !ok || v.Pkg() == nil || v.Pkg().Path() != "os" {
		return ""
	}
	switch v.Name() {
	case "Stdin", "Stdout", "Stderr":
		return v.Name()
	}
	return ""
}

// converted calls f for every expression that the node converts to a value of type t:
// arguments, elements of literals, assigned or sent values. The input of a command must
// be a file, for the child process that reads it.
func (u *Unit) converted(n ast.Node, f func(t types.Type, e ast.Expr)) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if tv := u.Info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 {
			f(tv.Type, n.Args[0])
			return
		}
		sig, ok := orInvalid(u.typeOf(n.Fun)).Underlying().(*types.Signature)
		if !ok || sig.Params().Len() == 0 || n.Ellipsis.IsValid() {
			return
		}
		for i, e := range n.Args {
			f(paramType(sig, i), e)
		}
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			return
		}
		for i, e := range n.Rhs {
			if sel, ok := n.Lhs[i].(*ast.SelectorExpr); ok && isCommandInput(u.Info.Uses[sel.Sel]) {
				continue
			}
			f(u.typeOf(n.Lhs[i]), e)
		}
	case *ast.ValueSpec:
		for _, e := range n.Values {
			if n.Type != nil {
				f(u.typeOf(n.Type), e)
			}
		}
	case *ast.SendStmt:
		f(u.channelOf(n.Chan).Elem(), n.Value)
	case *ast.CompositeLit:
		u.elements(n, f)
	}
}

func (u *Unit) elements(n *ast.CompositeLit, f func(t types.Type, e ast.Expr)) {
	lit := orInvalid(u.typeOf(n)).Underlying()
	if p, ok := lit.(*types.Pointer); ok { // a list of pointers to literals
		lit = p.Elem().Underlying()
	}
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			e = kv.Value
		}
		switch t := lit.(type) {
		case *types.Struct:
			if i >= t.NumFields() {
				continue
			}
			field := t.Field(i)
			if keyed {
				field, _ = u.Info.Uses[kv.Key.(*ast.Ident)].(*types.Var)
			}
			if field != nil && !isCommandInput(field) {
				f(field.Type(), e)
			}
		case *types.Slice:
			f(t.Elem(), e)
		case *types.Array:
			f(t.Elem(), e)
		case *types.Map:
			f(t.Elem(), e)
		}
	}
}

// isCommandInput reports whether o is the field Stdin of exec.Cmd.
func isCommandInput(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField() && v.Name() == "Stdin" && v.Pkg() != nil && v.Pkg().Path() == "os/exec"
}

// returned calls f for every expression that a function returns.
func (u *Unit) returned(t *ast.FuncType, body *ast.BlockStmt, f func(t types.Type, e ast.Expr)) {
	var results []types.Type
	if t.Results == nil {
		return
	}
	for _, r := range t.Results.List {
		for range max(1, len(r.Names)) {
			results = append(results, u.typeOf(r.Type))
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for i, e := range n.Results {
				if len(n.Results) == len(results) {
					f(results[i], e)
				}
			}
		}
		return true
	})
}
