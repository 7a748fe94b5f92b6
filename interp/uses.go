package interp

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// lateBinding makes function literals of the statements call functions through variables:
// the literals may outlive the cell, and must reach later versions. Declared functions are
// compiled again instead.
func (c *cell) lateBinding() {
	ast.Inspect(c.stmts.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			b := c.bindingOf(c.info.Uses[id])
			if b == nil || b.kind != kindFunc || b.generic {
				return true
			}
			if b.hook == "" && c.newFuncHooks[b] == "" {
				c.newFuncHooks[b] = fmt.Sprintf("%s__hook%d", b.slot, c.seq)
				c.hooked = append(c.hooked, hooked{b, c.info.Uses[id].(*types.Func)})
			}
			id.Name = cmp.Or(b.hook, c.newFuncHooks[b])
			return true
		})
		return false
	})
}

// hooked is a function that gets a variable through which literals call it.
type hooked struct {
	*binding
	fn *types.Func
}

// noteUses records what a declaration uses, so that a redeclaration finds it.
func (c *cell) noteUses(f *declFile) {
	f.src.uses = map[*binding]bool{}
	f.src.pkgs, f.src.names = map[int]string{}, map[string]string{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := c.info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			f.src.pkgs[f.offset(id)] = o.Imported().Path()
			f.src.names[f.src.item.text[f.offset(id):][:identLen(f.src.item.text[f.offset(id):])]] = o.Imported().Path()
		default:
			if b := c.bindingOf(o); b != nil {
				f.src.uses[b] = true
			}
		}
		return true
	})
	for _, b := range f.src.binds {
		delete(f.src.uses, b) // recursion does not require compiling again
	}
}

func identLen(s string) int {
	for i, r := range s {
		if !isIdent(r) {
			return i
		}
	}
	return len(s)
}

func isIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
}

// noteCaptures marks the variables that may outlive the cell: those that function
// literals use and those whose address is taken.
func (c *cell) noteCaptures() {
	mark := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if b := c.bindingOf(c.info.Uses[id]); b != nil {
					b.captured = true
				}
			}
			return true
		})
	}
	for _, f := range append(c.decls, c.stmts) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				mark(n.Body)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.SelectorExpr: // a method with a pointer receiver, or a slice of an array
				if sel := c.info.Selections[n]; sel != nil && sel.Kind() != types.FieldVal {
					mark(n.X)
				}
			}
			return true
		})
	}
}
