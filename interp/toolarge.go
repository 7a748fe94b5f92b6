package interp

import (
	"fmt"
	"go/ast"
	"go/types"
	"runtime"

	"halfnote/interp/internal/live"
)

// fits refuses a cell with a variable or value of a type that does not fit into memory:
// creating one would end the process.
func (s *Session) fits(c *cell) error {
	if s.live.Memory == 0 {
		return nil
	}
	var list []problem
	known := map[types.Type]bool{}
	for _, f := range c.parsed {
		for _, d := range f.Decls {
			ast.Inspect(d, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || len(list) > 0 {
					return len(list) == 0
				}
				t := c.info.Types[e].Type
				if id, ok := e.(*ast.Ident); ok && t == nil && c.info.Defs[id] != nil {
					t = c.info.Defs[id].Type()
				}
				if t == nil || known[t] {
					return true
				}
				known[t] = true
				if size := bytesOf(t); size > s.live.Memory {
					at := c.fset.Position(e.Pos())
					list = append(list, problem{cell: c.n, line: at.Line, col: at.Column, msg: fmt.Sprintf(
						"%v", live.TooMuch{Asked: size, Limit: s.live.Memory})})
				}
				return true
			})
		}
	}
	if len(list) > 0 {
		return &rejected{"OutOfMemory", list}
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
