package interp

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
)

// checkNames names types for the checker: types of packages by the packages' aliases,
// types of the session by their names, which it records as identifiers of their
// bindings.
func checkNames(pkg *types.Package, bindingOf func(types.Object) *binding, paths map[string]bool) lower.Namer {
	return func(o *types.TypeName) (ast.Expr, error) {
		if e, err := foreign(pkg, o, paths); e != nil || err != nil {
			return e, err
		}
		id := ast.NewIdent(o.Name())
		if bindingOf != nil {
			b := bindingOf(o)
			if b == nil {
				return nil, fmt.Errorf("type %s is declared inside a function", o.Name())
			}
			id.Name = b.check
			b.idents = append(b.idents, id)
		}
		return id, nil
	}
}

// engineNames names types for the engine.
func (c *cell) engineNames(o *types.TypeName) (ast.Expr, error) {
	if name := c.flatName(o); name != "" {
		return ast.NewIdent(name), nil
	}
	return compiled(o, c.pkg, c.unitPaths)
}

// compiled names, for the engine, types that are compiled or that a function declares
// and uses internally.
func compiled(o *types.TypeName, pkg *types.Package, paths map[string]bool) (ast.Expr, error) {
	if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 && o.Pkg() != pkg {
		if _, ok := n.Underlying().(*types.Signature); ok {
			return nil, nil // iter.Seq[int] is written as its underlying function type
		}
		return nil, fmt.Errorf("the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
	}
	if e, err := foreign(pkg, o, paths); e != nil || err != nil {
		return e, err
	}
	return ast.NewIdent(o.Name()), nil
}

// flatName returns the engine's name of an object that the session declares or runs
// from source, and "" for all others.
func (c *cell) flatName(o types.Object) string {
	if b := c.bindingOf(o); b != nil {
		return b.slot
	}
	if name := cmp.Or(c.std.name(o), c.packages.name(o)); name != "" {
		c.flat = true
		return name
	}
	return c.localTypes[o]
}

// foreign names types that do not belong to the session; it returns nil, nil for those
// that do.
func foreign(pkg *types.Package, o *types.TypeName, paths map[string]bool) (ast.Expr, error) {
	switch {
	case o.Pkg() == nil:
		return ast.NewIdent(o.Name()), nil
	case o.Pkg() == pkg:
		return nil, nil
	case !o.Exported() && library.Hidden(o) != "":
		paths[o.Pkg().Path()] = true
		return &ast.SelectorExpr{X: ast.NewIdent(alias(o.Pkg().Path())), Sel: ast.NewIdent(library.Hidden(o))}, nil
	case !o.Exported():
		return nil, fmt.Errorf("its type %s.%s has no name outside its package", o.Pkg().Name(), o.Name())
	}
	paths[o.Pkg().Path()] = true
	return &ast.SelectorExpr{X: ast.NewIdent(alias(o.Pkg().Path())), Sel: ast.NewIdent(o.Name())}, nil
}

// renameUses replaces the identifiers of a tree with the engine's names.
func (c *cell) renameUses(f *declFile) {
	flat := &lower.Flat{Info: c.info, Name: c.flatName, Alias: func(path string) string {
		c.unitPaths[path] = true
		return alias(path)
	}}
	flat.Apply(f.File)
}

// slotName returns a name that is new to the engine. The first meaning of a name keeps
// it unchanged, so that the engine's messages stay readable.
func (s *Session) slotName(name string, seq int) string {
	slot := name
	if s.slots[slot] || types.Universe.Lookup(name) != nil || strings.Contains(name, "__") || name == "main" || name == "init" {
		slot = fmt.Sprintf("%s__%d", name, seq)
		for i := 2; s.slots[slot]; i++ {
			slot = fmt.Sprintf("%s__%d_%d", name, seq, i)
		}
	}
	s.slots[slot] = true
	return slot
}

func typeString(t types.Type, pkg *types.Package) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}
