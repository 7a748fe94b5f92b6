package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/lower"
)

// statements converts the cell's statements into those of its function: declarations of
// variables become assignments to their slots, and the value of the last expression is
// stored in separate slots, from which it is displayed.
func (c *Lowering) statements(e *Emission) ([]ast.Stmt, error) {
	var list []ast.Stmt
	c.Suspicions = hints.Suspicions(c.Body, c.Info)
	all := c.Body.Body.List
	inits := e.inits
	for i, st := range all {
		var err error
		if _, ok := st.(*ast.DeclStmt); !ok {
			list, inits = append(list, inits...), nil
		}
		if x, ok := st.(*ast.ExprStmt); ok {
			if i == len(all)-1 && !c.Pieces.Suppressed {
				st, err = c.result(e, x)
			} else {
				st = c.dropped(x)
			}
			if err != nil {
				return nil, err
			}
		}
		list = append(list, c.assign(st)...)
	}
	list = append(list, inits...)
	return list, nil
}

// dropped discards the value of an expression.
func (c *Lowering) dropped(x *ast.ExprStmt) ast.Stmt {
	if tv := c.Info.Types[x.X]; tv.IsValue() && !c.standsAsStatement(x.X) {
		return &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, TokPos: x.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{x.X}}
	}
	return x
}

// standsAsStatement reports whether Go allows an expression with a value as a statement: a receive
// operation, or a call that is neither a conversion nor one of the builtins without effects.
func (c *Lowering) standsAsStatement(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return IsReceive(x)
	}
	f := c.Info.Types[call.Fun]
	if f.IsBuiltin() {
		id, _ := ast.Unparen(call.Fun).(*ast.Ident)
		return id != nil && (id.Name == "copy" || id.Name == "recover")
	}
	return !f.IsType()
}

func IsReceive(x ast.Expr) bool {
	u, ok := ast.Unparen(x).(*ast.UnaryExpr)
	return ok && u.Op == token.ARROW
}

// result stores the value of the last expression.
func (c *Lowering) result(e *Emission, x *ast.ExprStmt) (ast.Stmt, error) {
	tv := c.Info.Types[x.X]
	if !tv.IsValue() && !IsTuple(tv.Type) || c.Prints(x.X) {
		return c.dropped(x), nil
	}
	if tv.IsNil() { // Go cannot assign nil without a type, and nil is not shown
		return &ast.EmptyStmt{Semicolon: x.Pos()}, nil
	}
	ts := []types.Type{types.Default(tv.Type)}
	if tuple, ok := tv.Type.(*types.Tuple); ok {
		ts = nil
		for i := range tuple.Len() {
			ts = append(ts, tuple.At(i).Type())
		}
	}
	st := &ast.AssignStmt{TokPos: x.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{x.X}}
	for i, t := range ts {
		name := fmt.Sprintf("out__%d_%d", c.Seq, i)
		if err := c.slot(e, name, t); err != nil {
			// A value of a type without a name is stored as any.
			if err := c.slot(e, name, types.Universe.Lookup("any").Type()); err != nil {
				return nil, err
			}
		}
		st.Lhs = append(st.Lhs, ast.NewIdent(name))
		c.Results = append(c.Results, outValue{name, t, hints.ForValue(x.X, c.Info)})
	}
	return st, nil
}

func IsTuple(t types.Type) bool {
	tuple, ok := t.(*types.Tuple)
	return ok && tuple.Len() > 0
}

// Prints reports whether x calls one of fmt's print functions, whose results are not
// shown.
func (c *Checked) Prints(x ast.Expr) bool {
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	f, ok := c.Info.Uses[sel.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "fmt" {
		return false
	}
	switch f.Name() {
	case "Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln":
		return true
	}
	return false
}

// assign turns a declaration of session variables into assignments.
func (c *Lowering) assign(st ast.Stmt) []ast.Stmt {
	switch x := st.(type) {
	case *ast.LabeledStmt:
		list := c.assign(x.Stmt)
		if len(list) == 0 {
			list = []ast.Stmt{&ast.EmptyStmt{}}
		}
		x.Stmt = list[0]
		list[0] = x
		return list
	case *ast.AssignStmt:
		if x.Tok == token.DEFINE {
			x.Tok = token.ASSIGN
		}
	case *ast.DeclStmt:
		g := x.Decl.(*ast.GenDecl)
		if g.Tok != token.VAR {
			return []ast.Stmt{st}
		}
		var list []ast.Stmt
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			if len(v.Values) == 0 {
				for _, id := range v.Names {
					if b := c.BindingOf(c.Info.Defs[id]); b != nil && c.Reused[b] {
						list = append(list, support("Zero", &ast.BasicLit{Kind: token.STRING, Value: fmt.Sprintf("%q", b.Slot)}))
					}
				}
				continue
			}
			a := &ast.AssignStmt{Tok: token.ASSIGN, TokPos: v.Pos(), Rhs: v.Values}
			for _, id := range v.Names {
				a.Lhs = append(a.Lhs, id)
			}
			list = append(list, a)
		}
		return list
	}
	return []ast.Stmt{st}
}

func support(name string, args ...ast.Expr) ast.Stmt {
	return &ast.ExprStmt{X: lower.Support(name, args...)}
}
