package front

import (
	"fmt"
	"go/ast"
	"go/types"
	"runtime"

	"halfnote/interp/internal/live"
	"halfnote/interp/internal/syntax"
)

// Fits refuses a cell with a variable or value of a type that does not fit into memory:
// creating one would end the process.
func (c *Checked) Fits(limit int64) error {
	if limit == 0 {
		return nil
	}
	var list []syntax.Problem
	known := map[types.Type]bool{}
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
				if t == nil || known[t] {
					return true
				}
				known[t] = true
				if size := bytesOf(t); size > limit {
					at := c.Fset.Position(e.Pos())
					list = append(list, syntax.Problem{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
						"%v", live.TooMuch{Asked: size, Limit: limit})})
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

var sizes = types.SizesFor("gc", runtime.GOARCH)

// bytesOf returns the size of a type's values in bytes, or 0 if a type parameter is part
// of it.
func bytesOf(t types.Type) (n int64) {
	switch u := t.Underlying().(type) {
	case *types.Array:
		if elem := bytesOf(u.Elem()); elem > 0 && u.Len() > maxSize/elem {
			return maxSize
		} else {
			return elem * u.Len()
		}
	case *types.Struct:
		for f := range u.Fields() {
			if n += bytesOf(f.Type()); n > maxSize {
				return maxSize
			}
		}
		return n
	case *types.Basic:
		if u.Info()&types.IsUntyped != 0 || u.Kind() == types.Invalid {
			return 0
		}
		return sizes.Sizeof(u)
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return sizes.Sizeof(u)
	case *types.Interface:
		if _, ok := types.Unalias(t).(*types.TypeParam); ok {
			return 0
		}
		return sizes.Sizeof(u)
	}
	return 0
}

// maxSize stands for all sizes beyond it.
const maxSize = 1 << 62
