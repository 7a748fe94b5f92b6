package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

// expr checks an expression in a position.
func (c *checker) expr(e ast.Expr, at Position) { c.exprIn(e, at, 0) }

func (c *checker) exprIn(e ast.Expr, at Position, in Storage) {
	if p := e.Pos(); p.IsValid() {
		c.at = p
	}
	form := c.form(e)
	c.permit(form, e, c.typeOf(e), at, in)
	w := walk{c: c, first: at & First}
	if c.isType(e) {
		return
	}
	switch x := e.(type) {
	case *ast.BinaryExpr:
		switch x.Op {
		case token.LAND, token.LOR:
			c.expr(x.X, Logical|First)
			c.expr(x.Y, Logical)
		default:
			w.expr(x.X, Operand)
			w.expr(x.Y, Operand)
		}
	case *ast.CallExpr:
		c.call(x, &w)
	case *ast.CompositeLit:
		c.literal(x, &w)
	case *ast.FuncLit:
		at := c.at
		c.function(x.Type, x.Body)
		c.at = at
	case *ast.IndexExpr:
		w.expr(x.X, Base)
		if form != "func.instance" {
			w.expr(x.Index, Index)
		}
	case *ast.KeyValueExpr:
		w.expr(x.Value, Element)
	case *ast.ParenExpr:
		if in != 0 {
			c.exprIn(x.X, at, in)
		} else {
			c.expr(x.X, at)
		}
	case *ast.SelectorExpr:
		switch form {
		case "support", "func.compiled", "var.compiled", "const", "method.expr":
		default:
			w.expr(x.X, Base)
		}
	case *ast.SliceExpr:
		w.expr(x.X, Base)
		for _, i := range []ast.Expr{x.Low, x.High, x.Max} {
			if i != nil {
				w.expr(i, Index)
			}
		}
	case *ast.StarExpr:
		w.expr(x.X, Followed)
	case *ast.TypeAssertExpr:
		w.expr(x.X, Asserted)
		if x.Type != nil {
			w.typ(x.Type)
		}
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND:
			w.expr(x.X, Addressed)
		case token.ARROW:
			w.expr(x.X, Received)
		case token.NOT:
			w.expr(x.X, Logical)
		default:
			w.expr(x.X, Operand)
		}
	}
}

// walk visits operands in their order. The first of them that is more than a name or a constant starts the expression.
type walk struct {
	c     *checker
	first Position
}

func (w *walk) expr(e ast.Expr, at Position) {
	first := w.first
	switch e.(type) {
	case *ast.Ident, *ast.BasicLit:
		first = 0
	default:
		w.first = 0
	}
	w.c.expr(e, at|first)
}

// typ visits a type, which starts the expression unless it is one that the interpreter skips.
func (w *walk) typ(e ast.Expr) {
	switch e.(type) {
	case *ast.Ident, *ast.ArrayType, *ast.ChanType, *ast.MapType:
		return
	}
	if w.first != 0 {
		w.c.permit(typeForm(e), e, nil, w.first, 0)
	}
	w.first = 0
}

func (c *checker) call(x *ast.CallExpr, w *walk) {
	if c.isType(x.Fun) {
		w.typ(x.Fun)
		for _, e := range x.Args {
			w.expr(e, Converted)
		}
		return
	}
	if name := c.builtin(x.Fun); name != "" {
		for _, e := range x.Args {
			switch {
			case c.isType(e):
				w.typ(e)
			case e == x.Args[len(x.Args)-1] && x.Ellipsis.IsValid():
				w.expr(e, Builtin|Spread)
			default:
				w.expr(e, Builtin)
			}
		}
		return
	}
	w.expr(ast.Unparen(x.Fun), Callee)
	sig, _ := types.Type(nil), 0
	if t := c.typeOf(x.Fun); t != nil && t != support {
		sig = t.Underlying()
	}
	s, _ := sig.(*types.Signature)
	for i, e := range x.Args {
		at := Argument
		switch {
		case x.Ellipsis.IsValid() && i == len(x.Args)-1:
			at |= Spread
		case s != nil && s.Variadic() && i >= s.Params().Len()-1 && c.ofCells(x):
			at |= Variadic
			list := s.Params().At(s.Params().Len() - 1).Type()
			if t := c.typeOf(e); t != nil && (types.Identical(t, list) || types.Identical(t.Underlying(), list.Underlying()) && kindOf(list) == Slice && kindOf(elementOf(list)) == Interface) {
				at |= WholeList
			}
		}
		w.expr(e, at)
	}
}

// ofCells reports whether a call is that of a function of a cell.
func (c *checker) ofCells(x *ast.CallExpr) bool {
	switch c.callForm(x) {
	case "call.support", "call.compiled":
		return false
	case "call.method":
		f, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if s := c.info.Selections[f]; s != nil {
			return s.Obj().Pkg() == c.u.Pkg
		}
	}
	return true
}

func (c *checker) literal(x *ast.CompositeLit, w *walk) {
	if x.Type != nil {
		w.typ(x.Type)
	}
	keyed := false
	switch kindOf(c.typeOf(x)) {
	case Map, Array, Slice:
		keyed = true
	}
	for _, e := range x.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			w.expr(e, Element)
			continue
		}
		if keyed {
			w.expr(kv.Key, Key)
		}
		w.expr(kv.Value, Element)
	}
}

// variable returns the storage of a variable.
func (c *checker) variable(id *ast.Ident) Storage {
	if o := c.object(id); o != nil && o.Parent() == c.u.Pkg.Scope() {
		return Global
	}
	if c.shared == nil {
		c.share()
	}
	switch {
	case c.shared[id.Name]:
		return Shared
	case c.declared[id.Name]:
		return Local
	}
	return Global
}

// share finds the variables that function literals of the declaration share, and its named results.
func (c *checker) share() {
	c.shared, c.declared = map[string]bool{}, map[string]bool{}
	in := map[string]ast.Node{}
	var visit func(n, f ast.Node)
	visit = func(n, f ast.Node) {
		ast.Inspect(n, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.FuncLit:
				if x != f {
					visit(x, x)
					return false
				}
			case *ast.FuncType:
				if x.Results != nil {
					for _, r := range x.Results.List {
						for _, id := range r.Names {
							c.shared[id.Name] = true
						}
					}
				}
			case *ast.SelectorExpr:
				visit(x.X, f)
				return false
			case *ast.KeyValueExpr:
				if _, ok := x.Key.(*ast.Ident); !ok {
					visit(x.Key, f)
				}
				visit(x.Value, f)
				return false
			case *ast.Ident:
				if at, ok := in[x.Name]; ok && at != f {
					c.shared[x.Name] = true
				} else {
					in[x.Name] = f
				}
			}
			return true
		})
	}
	visit(c.body, c.body)
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				c.declare(n.Lhs...)
			}
		case *ast.RangeStmt:
			c.declare(n.Key, n.Value)
		case *ast.ValueSpec:
			c.declare(idents(n.Names)...)
		case *ast.Field:
			c.declare(idents(n.Names)...)
		}
		return true
	})
}

func (c *checker) declare(list ...ast.Expr) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			c.declared[id.Name] = true
		}
	}
}
