package hints

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/exports"
)

// countHint gives the results of the call in an assignment.
func (a *Attempt) countHint(m Mistake) string {
	var values []ast.Expr
	if st, ok := within[*ast.AssignStmt](m.path); ok {
		values = st.Rhs
	} else if v, ok := within[*ast.ValueSpec](m.path); ok {
		values = v.Values
	}
	if len(values) != 1 {
		return ""
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sig, ok := a.Info.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Results().Len() < 2 {
		return ""
	}
	return fmt.Sprintf("the call returns %s; use _ for results that are not needed", exports.TypeString(sig.Results(), a.Pkg))
}

// mismatchHint suggests a conversion for operands of different numeric types.
func (a *Attempt) mismatchHint(m Mistake) string {
	for _, n := range m.path {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			l, r := a.numeric(n.X), a.numeric(n.Y)
			if l == nil || r == nil {
				return ""
			}
			if types.Identical(a.Info.TypeOf(n.X), a.Info.TypeOf(n.Y)) {
				continue // an operand of the one with the mistake
			}
			if l.Info()&types.IsInteger != 0 && r.Info()&types.IsInteger == 0 {
				return "convert one of them, for example " + a.convert(n.X, a.Info.TypeOf(n.Y))
			}
			return "convert one of them, for example " + a.convert(n.Y, a.Info.TypeOf(n.X))
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 || a.numeric(n.Lhs[0]) == nil || a.numeric(n.Rhs[0]) == nil {
				return ""
			}
			h := fmt.Sprintf("write %s %s %s", code(n.Lhs[0]), n.Tok, a.convert(n.Rhs[0], a.Info.TypeOf(n.Lhs[0])))
			if d := a.declaredWhole(n.Lhs[0]); d != "" && a.numeric(n.Rhs[0]).Info()&types.IsFloat != 0 {
				h += ", or declare " + d
			}
			return h
		case ast.Stmt:
			return ""
		}
	}
	return ""
}

// numeric returns the basic type of a number that is not an untyped constant, or nil.
func (a *Attempt) numeric(x ast.Expr) *types.Basic {
	t := a.Info.TypeOf(x)
	if t == nil {
		return nil
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 || b.Info()&types.IsUntyped != 0 {
		return nil
	}
	return b
}

// convert mends x with its conversion to a type and returns the conversion's text.
func (a *Attempt) convert(x ast.Expr, t types.Type) string {
	return strings.TrimPrefix(a.write(x, callOf(&ast.Ident{NamePos: x.Pos(), Name: exports.TypeString(t, a.Pkg)}, ast.Unparen(x))), "write ")
}
