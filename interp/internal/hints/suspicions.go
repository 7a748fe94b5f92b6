package hints

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// ForValue returns a note for the value of an expression that may mean something else: a method that is not
// called, or an exclusive or of two numbers, which is a power in other languages. It returns "" for other
// expressions.
func ForValue(x ast.Expr, info *types.Info) string {
	switch x := ast.Unparen(x).(type) {
	case *ast.BinaryExpr:
		if x.Op == token.XOR && isNumeral(x.X) && isNumeral(x.Y) {
			return fmt.Sprintf("^ is exclusive or; math.Pow(%s, %[2]s) is the power", types.ExprString(x.X), types.ExprString(x.Y))
		}
	}
	return uncalledNote(x, info)
}

// uncalledNote returns a note for a method that is not called, or "" for other expressions.
func uncalledNote(x ast.Expr, info *types.Info) string {
	sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	s := info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal {
		return ""
	}
	args := ""
	if s.Obj().(*types.Func).Signature().Params().Len() > 0 {
		args = "…"
	}
	return fmt.Sprintf("%s is a method: %s(%s)", sel.Sel.Name, types.ExprString(sel), args)
}

func isNumeral(x ast.Expr) bool {
	lit, ok := x.(*ast.BasicLit)
	return ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT)
}

// Suspicions returns notes on statements that compile but handle the address of a value: print and
// println with a pointer, fmt's functions with a method that is not called, and == and != between tensors.
func Suspicions(body ast.Node, info *types.Info) (notes []string) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if fn, _ := typeutil.Callee(info, n).(*types.Func); fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" && strings.Contains(fn.Name(), "rint") {
				for _, arg := range n.Args {
					if note := uncalledNote(arg, info); note != "" {
						notes = append(notes, "note: "+note)
						break
					}
				}
			}
			name, ok := n.Fun.(*ast.Ident)
			if !ok {
				break
			}
			if b, ok := info.Uses[name].(*types.Builtin); !ok || b.Name() != "print" && b.Name() != "println" {
				break
			}
			for _, arg := range n.Args {
				if isObject(info.TypeOf(arg)) {
					value := types.ExprString(arg)
					notes = append(notes, fmt.Sprintf("note: %s shows the address of %s; fmt.Println(%[2]s) shows its value", name.Name, value))
					break
				}
			}
		case *ast.BinaryExpr:
			if n.Op != token.EQL && n.Op != token.NEQ || !isTensor(info.TypeOf(n.X)) || !isTensor(info.TypeOf(n.Y)) {
				break
			}
			x, y := types.ExprString(n.X), types.ExprString(n.Y)
			notes = append(notes, fmt.Sprintf("note: %s %s %s compares addresses; tensor.Equal(%[1]s, %[3]s) compares values, %[1]s.Eq(%[3]s) element by element", x, n.Op, y))
		}
		return true
	})
	return notes
}

// isObject reports whether t is a pointer to a named struct.
func isObject(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	_, named := types.Unalias(p.Elem()).(*types.Named)
	_, is := p.Elem().Underlying().(*types.Struct)
	return named && is
}

// isTensor reports whether t is *tensor.Tensor.
func isTensor(t types.Type) bool {
	return isObject(t) && types.TypeString(t, nil) == "*halfnote/tensor.Tensor"
}
