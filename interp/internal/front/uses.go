package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// lateBinding makes function literals of the statements call functions through variables:
// the literals may outlive the cell, and must reach later versions. Declared functions are
// compiled again instead.
func (c *Bound) lateBinding() {
	ast.Inspect(c.Stmts.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			b := c.BindingOf(c.Info.Uses[id])
			if b == nil || b.Kind != KindFunc || b.Generic {
				return true
			}
			if c.Env.Of(b).Hook == "" {
				hook := fmt.Sprintf("%s%s%d", b.Slot, hookMark, c.Seq)
				c.Env.change(b).Hook = hook
				c.hooks[b] = true
				c.Hooked = append(c.Hooked, hooked{b, hook, c.Info.Uses[id].(*types.Func)})
			}
			id.Name = c.Env.Of(b).Hook
			return true
		})
		return false
	})
}

// hookMark stands between a function's name in the engine and a number in the name of the variable through which literals call it.
const hookMark = "__hook"

// hooked is a function that gets a variable through which literals call it.
type hooked struct {
	*Binding
	Hook string
	Fn   *types.Func
}

// Hooks reports whether the cell gives a function its variable.
func (c *Bound) Hooks(b *Binding) bool { return c.hooks[b] }

// noteUses records what a declaration uses, so that a redeclaration finds it.
func (c *Bound) noteUses(f *DeclFile) {
	uses, pkgs, names := map[*Binding]bool{}, map[int]string{}, map[string]string{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := c.Info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			pkgs[f.offset(id)] = o.Imported().Path()
			names[f.Src.Item.Text[f.offset(id):][:IdentLen(f.Src.Item.Text[f.offset(id):])]] = o.Imported().Path()
		default:
			if b := c.BindingOf(o); b != nil {
				uses[b] = true
			}
		}
		return true
	})
	for _, b := range f.Src.Binds {
		delete(uses, b) // recursion does not require compiling again
	}
	for _, m := range f.Src.Methods {
		delete(uses, m.Fn)
	}
	for b := range uses {
		c.Env.use(b, f.Src)
	}
	f.Src.Uses, f.Src.Pkgs, f.Src.Names = nonEmpty(uses), nonEmpty(pkgs), nonEmpty(names)
}

func IdentLen(s string) int {
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
func (c *Bound) noteCaptures() {
	mark := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if b := c.BindingOf(c.Info.Uses[id]); b != nil && !c.Env.Of(b).Captured {
					c.Env.change(b).Captured = true
					c.KeepsIn = c.KeepsIn || b == c.Outs[InName]
				}
			}
			return true
		})
	}
	for _, f := range append(c.Decls, c.Stmts) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) { // what is marked is not visited again
			case *ast.FuncLit:
				mark(n.Body)
				return false
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
					return false
				}
			case *ast.SelectorExpr: // a method with a pointer receiver, or a slice of an array
				if sel := c.Info.Selections[n]; sel != nil && sel.Kind() != types.FieldVal {
					mark(n.X)
					return false
				}
			}
			return true
		})
	}
}
