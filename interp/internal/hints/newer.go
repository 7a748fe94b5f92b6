package hints

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"runtime"
	"slices"
	"strings"

	"halfnote/interp/internal/syntax"
)

// Newer returns the message for code that only a checker of a newer release accepts, or "".
func (a *Attempt) Newer(e types.Error) string {
	switch {
	case strings.HasPrefix(e.Msg, "unknown field "):
		if a.isPromoted(e.Pos) {
			return syntax.Needs("promoted fields in struct literals", "1.27")
		}
	case strings.HasPrefix(e.Msg, "cannot use generic function ") && version.Compare(runtime.Version(), "go1.27") < 0:
		if t := a.targetOf(e.Pos); t != nil {
			if _, ok := t.Underlying().(*types.Signature); ok {
				return syntax.Needs("type arguments that follow from a literal, conversion or send", "1.27")
			}
		}
	}
	return ""
}

// isPromoted reports whether a key of a struct literal is the name of a promoted field.
func (a *Attempt) isPromoted(pos token.Pos) bool {
	path := a.enclosing(pos)
	lit, ok := within[*ast.CompositeLit](path)
	id, isName := path[0].(*ast.Ident)
	if !ok || !isName {
		return false
	}
	t := a.literalType(lit, path)
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	o, index, indirect := types.LookupFieldOrMethod(t, false, a.Pkg, id.Name)
	v, ok := o.(*types.Var)
	return ok && v.IsField() && len(index) > 1 && !indirect
}

// targetOf returns the type that an element of a literal, the operand of a conversion or a sent value
// is to have, or nil.
func (a *Attempt) targetOf(pos token.Pos) types.Type {
	var inner ast.Node
	path := a.enclosing(pos)
	for _, n := range path {
		switch n := n.(type) {
		case *ast.SendStmt:
			if c, ok := orInvalid(a.Info.Types[n.Chan].Type).Underlying().(*types.Chan); ok && n.Value == inner {
				return c.Elem()
			}
			return nil
		case *ast.CallExpr:
			if tv := a.Info.Types[n.Fun]; tv.IsType() {
				return tv.Type
			}
			return nil
		case *ast.CompositeLit:
			t := orInvalid(a.literalType(n, path)).Underlying()
			if p, ok := t.(*types.Pointer); ok {
				t = p.Elem().Underlying()
			}
			switch t := t.(type) {
			case *types.Struct:
				return fieldOf(t, n, inner)
			case interface{ Elem() types.Type }:
				return t.Elem()
			}
			return nil
		case *ast.KeyValueExpr, *ast.Ident, *ast.SelectorExpr, *ast.ParenExpr:
		default:
			return nil
		}
		if _, ok := n.(*ast.ParenExpr); !ok {
			inner = n
		}
	}
	return nil
}

// literalType returns the type of a composite literal in path, which the checker does not record for
// one with a mistake, or nil.
func (a *Attempt) literalType(lit *ast.CompositeLit, path []ast.Node) types.Type {
	if lit.Type != nil {
		return a.Info.Types[lit.Type].Type
	}
	outer, ok := within[*ast.CompositeLit](path[slices.Index(path, ast.Node(lit))+1:])
	if !ok {
		return nil
	}
	if t, ok := orInvalid(a.literalType(outer, path)).Underlying().(interface{ Elem() types.Type }); ok {
		return t.Elem()
	}
	return nil
}

// fieldOf returns the type of the field that an element of a struct literal sets, or nil.
func fieldOf(t *types.Struct, lit *ast.CompositeLit, elem ast.Node) types.Type {
	for i, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok && e == elem {
			for f := range t.Fields() {
				if id, ok := kv.Key.(*ast.Ident); ok && id.Name == f.Name() {
					return f.Type()
				}
			}
		} else if e == elem && i < t.NumFields() {
			return t.Field(i).Type()
		}
	}
	return nil
}

func orInvalid(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}
