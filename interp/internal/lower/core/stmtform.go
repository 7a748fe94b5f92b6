package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

// stmtType returns the type that the row of a statement restricts, or nil.
func (c *checker) stmtType(s ast.Stmt) types.Type {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN || len(s.Rhs) < 2 {
			return nil
		}
		for _, e := range s.Rhs {
			if t := c.typeOf(e); kindOf(t)&(Basic|Made) == 0 {
				return t
			}
		}
		return c.typeOf(s.Rhs[0])
	case *ast.IncDecStmt:
		return c.typeOf(s.X)
	case *ast.RangeStmt:
		if s.Value != nil && kindOf(c.typeOf(s.X)) != Func {
			return elementOf(c.typeOf(s.X))
		}
	}
	return nil
}

// stmtForm names the form of a statement.
func (c *checker) stmtForm(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return c.assignForm(s)
	case *ast.BlockStmt:
		return "block"
	case *ast.BranchStmt:
		return s.Tok.String()
	case *ast.CaseClause, *ast.CommClause:
		return "clause"
	case *ast.DeclStmt:
		return "local"
	case *ast.DeferStmt:
		return "defer"
	case *ast.EmptyStmt:
		return "empty"
	case *ast.ExprStmt:
		return "effect"
	case *ast.ForStmt:
		return "for"
	case *ast.GoStmt:
		return "go"
	case *ast.IfStmt:
		return "if"
	case *ast.IncDecStmt:
		return "incdec"
	case *ast.LabeledStmt:
		return "label"
	case *ast.RangeStmt:
		return c.rangeForm(s)
	case *ast.ReturnStmt:
		return "return"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "send"
	case *ast.SwitchStmt:
		if s.Tag == nil {
			return "switch.conditions"
		}
		return "switch"
	case *ast.TypeSwitchStmt:
		return "switch.type"
	}
	return "unknown"
}

func (c *checker) assignForm(s *ast.AssignStmt) string {
	name := "assign"
	if s.Tok == token.DEFINE {
		name = "define"
	} else if s.Tok != token.ASSIGN {
		if _, ok := ast.Unparen(s.Lhs[0]).(*ast.Ident); !ok && c.calls(s.Rhs[0]) {
			return "assign.op.call"
		}
		return "assign.op"
	}
	switch {
	case len(s.Lhs) == 1:
		return name
	case len(s.Rhs) > 1:
		return name + ".several"
	}
	if _, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr); ok {
		return name + ".tuple"
	}
	return name + ".commaok"
}

// calls reports whether an expression calls code that may change variables.
func (c *checker) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !c.isType(n.Fun) && c.builtin(n.Fun) == "" && !c.isSupport(n.Fun) {
				found = c.ofCells(n) || found
			}
		}
		return !found
	})
	return found
}

func (c *checker) rangeForm(s *ast.RangeStmt) string {
	form := "range.unknown"
	switch k := kindOf(c.typeOf(s.X)); k {
	case Slice:
		form = "range.slice"
	case Array:
		form = "range.array"
	case Pointer:
		form = "range.pointer"
	case Map:
		form = "range.map"
	case Chan:
		form = "range.chan"
	case Func, VariadicFunc:
		form = "range.func"
	case String:
		form = "range.string"
	case Int, Uint, Uintptr:
		form = "range.int"
	}
	return form
}
