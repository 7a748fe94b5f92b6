package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
)

// checkNames names types for the checker: types of packages by the packages' aliases,
// types of the session by their names, which it records in the header.
func (c *Bound) checkNames(h *heading) lower.Namer {
	return func(o *types.TypeName) (ast.Expr, error) {
		if e, err := Foreign(c.Pkg, o, h.paths); e != nil || err != nil {
			return e, err
		}
		b := c.BindingOf(o)
		if b == nil {
			return nil, fmt.Errorf("type %s is declared inside a function", o.Name())
		}
		id := ast.NewIdent(c.Env.Of(b).Check)
		h.refer(id, b)
		return id, nil
	}
}

// unitNames names types for the trees of a unit that the checker is to read again.
func (c *Bound) unitNames(o *types.TypeName) (ast.Expr, error) {
	if c.Session.Instances && lower.IsFuncType(o) && o.Pkg() != c.Pkg && c.flatName(o) == "" {
		c.flat = true // the checker reads the unit again
		return Foreign(c.Pkg, o, c.UnitPaths)
	}
	return c.EngineNames(o)
}

// EngineNames names types for the engine.
func (c *Bound) EngineNames(o *types.TypeName) (ast.Expr, error) {
	if name := c.flatName(o); name != "" {
		return ast.NewIdent(name), nil
	}
	if !c.Session.Instances { // the engine has generic types of packages under their names
		if e, err := Foreign(c.Pkg, o, c.UnitPaths); e != nil || err != nil {
			return e, err
		}
	}
	return compiled(o, c.Pkg, c.UnitPaths)
}

// compiled names, for the engine, types that are compiled or that a function declares
// and uses internally.
func compiled(o *types.TypeName, pkg *types.Package, paths map[string]bool) (ast.Expr, error) {
	if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 && o.Pkg() != pkg {
		if lower.IsFuncType(o) {
			return nil, nil // iter.Seq[int] is written as its underlying function type
		}
		return nil, fmt.Errorf("the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
	}
	if e, err := Foreign(pkg, o, paths); e != nil || err != nil {
		return e, err
	}
	return ast.NewIdent(o.Name()), nil
}

// flatName returns the engine's name of an object that the session declares or runs
// from source, and "" for all others.
func (c *Bound) flatName(o types.Object) string {
	if b := c.BindingOf(o); b != nil {
		return b.Slot
	}
	if name := cmp.Or(c.Session.Std.Name(o), c.Session.Packages.name(o)); name != "" {
		c.flat = true
		return name
	}
	return c.localTypes[o]
}

// Foreign names types that do not belong to the session; it returns nil, nil for those
// that do.
func Foreign(pkg *types.Package, o *types.TypeName, paths map[string]bool) (ast.Expr, error) {
	switch {
	case o.Pkg() == nil:
		return ast.NewIdent(o.Name()), nil
	case o.Pkg() == pkg:
		return nil, nil
	case !o.Exported() && library.Hidden(o) != "":
		paths[o.Pkg().Path()] = true
		return &ast.SelectorExpr{X: ast.NewIdent(Alias(o.Pkg().Path())), Sel: ast.NewIdent(library.Hidden(o))}, nil
	case !o.Exported():
		return nil, fmt.Errorf("its type %s.%s has no name outside its package", o.Pkg().Name(), o.Name())
	}
	paths[o.Pkg().Path()] = true
	return &ast.SelectorExpr{X: ast.NewIdent(Alias(o.Pkg().Path())), Sel: ast.NewIdent(o.Name())}, nil
}

// renameUses replaces the identifiers of a tree with the engine's names.
func (c *Bound) renameUses(f *DeclFile) {
	flat := &lower.Flat{Info: c.Info, Name: c.flatName, IsType: c.isType, Alias: func(path string) string {
		c.UnitPaths[path] = true
		return Alias(path)
	}}
	flat.Apply(f.File)
}

// isType reports whether a name is the engine's name of a type of the session or of a function of the cell.
func (c *Bound) isType(name string) bool {
	if b := c.Slotted(name); b != nil {
		return b.Kind == KindType
	}
	for _, slot := range c.localTypes {
		if slot == name {
			return true
		}
	}
	return false
}

// slotName returns a name that is new to the engine. The first meaning of a name keeps
// it unchanged, so that the engine's messages stay readable.
func (c *Bound) slotName(name string) string {
	isTaken := func(slot string) bool {
		return c.Session.Taken[slot] || c.Slots[slot] || c.Session.Packages.slots[slot]
	}
	slot := name
	if isTaken(slot) || types.Universe.Lookup(name) != nil || strings.Contains(name, "__") || name == "main" || name == "init" {
		slot = fmt.Sprintf("%s__%d", name, c.Seq)
		for i := 2; isTaken(slot); i++ {
			slot = fmt.Sprintf("%s__%d_%d", name, c.Seq, i)
		}
	}
	c.Slots[slot] = true
	return slot
}
