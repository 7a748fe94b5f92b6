package front

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"runtime"

	"halfnote/interp/internal/live"
	"halfnote/interp/internal/syntax"
)

// Fits refuses a cell with a variable or value of a type that does not fit into memory:
// creating one would end the process. setBy is what set the limit.
func (c *Checked) Fits(limit int64, setBy string) error {
	if limit == 0 {
		return nil
	}
	var list []syntax.Problem
	sizes, known := bytesOf{}, map[types.Type]bool{}
	for _, f := range c.Files.Parsed {
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || len(list) > 0 {
					return len(list) == 0
				}
				t := c.Info.Types[e].Type
				if id, ok := e.(*ast.Ident); ok && t == nil && c.Info.Defs[id] != nil {
					t = c.Info.Defs[id].Type()
				}
				size := c.sizeOfLiteral(sizes, e, t)
				if t != nil && !known[t] {
					known[t] = true
					size = max(size, sizes.of(t))
				}
				if size > limit {
					at := c.Session.Fset.Position(e.Pos())
					list = append(list, syntax.Problem{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
						"%v", live.TooMuch{Asked: size, Limit: limit, SetBy: setBy})})
				}
				return true
			})
		}
	}
	if len(list) > 0 {
		return &syntax.Rejected{Name: "OutOfMemory", Problems: list}
	}
	return nil
}

// sizeOfLiteral returns the size of the array behind a slice literal in bytes. An index can make a short one large.
func (c *Checked) sizeOfLiteral(sizes bytesOf, e ast.Expr, t types.Type) int64 {
	lit, ok := e.(*ast.CompositeLit)
	if !ok || t == nil {
		return 0
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return 0
	}
	n, most := int64(0), int64(0)
	for _, x := range lit.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			if v := c.Info.Types[kv.Key].Value; v != nil && v.Kind() == constant.Int {
				n, _ = constant.Int64Val(v)
			}
		}
		n++
		most = max(most, n)
	}
	return sizes.of(types.NewArray(s.Elem(), most))
}

var layout = types.SizesFor("gc", runtime.GOARCH)

// bytesOf holds the sizes of the values of types in bytes: 0 for a type that a type parameter is part of.
type bytesOf map[types.Type]int64

func (b bytesOf) of(t types.Type) int64 {
	n, known := b[t]
	if !known {
		n = b.compute(t)
		b[t] = n
	}
	return n
}

func (b bytesOf) compute(t types.Type) (n int64) {
	switch u := t.Underlying().(type) {
	case *types.Array:
		if elem := b.of(u.Elem()); elem > 0 && u.Len() > maxSize/elem {
			return maxSize
		} else {
			return elem * u.Len()
		}
	case *types.Struct:
		for f := range u.Fields() {
			if n += b.of(f.Type()); n > maxSize {
				return maxSize
			}
		}
		return n
	case *types.Basic:
		if u.Info()&types.IsUntyped != 0 || u.Kind() == types.Invalid {
			return 0
		}
		return layout.Sizeof(u)
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return layout.Sizeof(u)
	case *types.Interface:
		if _, ok := types.Unalias(t).(*types.TypeParam); ok {
			return 0
		}
		return layout.Sizeof(u)
	}
	return 0
}

// maxSize stands for all sizes beyond it.
const maxSize = 1 << 62
