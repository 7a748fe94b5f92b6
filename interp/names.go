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

// checkNames names types for the checker: those of packages by the packages'
// aliases, those of the session by their names, which are noted as identifiers of
// their bindings.
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

// compiled names types for the engine that are compiled, or that a function
// declares and uses inside it.
func compiled(o *types.TypeName, pkg *types.Package, paths map[string]bool) (ast.Expr, error) {
	if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 && o.Pkg() != pkg {
		if _, ok := n.Underlying().(*types.Signature); ok {
			return nil, nil // iter.Seq[int] is written as the function that it is
		}
		return nil, fmt.Errorf("the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
	}
	if e, err := foreign(pkg, o, paths); e != nil || err != nil {
		return e, err
	}
	return ast.NewIdent(o.Name()), nil
}

// flatName is the engine's name of what the session declares or what is run from
// source, "" for everything else.
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

// foreign names types that are not the session's; it returns nil, nil for those.
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

// renameUses writes the engine's names into a tree.
func (c *cell) renameUses(f *declFile) {
	flat := &lower.Flat{Info: c.info, Name: c.flatName, Alias: func(path string) string {
		c.unitPaths[path] = true
		return alias(path)
	}}
	flat.Apply(f.File)
}

// slotName returns a name that the engine has not seen. A name's first meaning
// keeps it, which makes the engine's own messages readable.
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
