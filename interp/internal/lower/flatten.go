package lower

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// Flat writes engine names into trees, by object and not by name, so that shadowing is
// handled exactly.
type Flat struct {
	Info *types.Info
	// Name returns the engine's name of an object, whatever its package; "" for objects
	// without one.
	Name func(types.Object) string
	// Alias returns the name of the package at a path.
	Alias func(path string) string
	// IsType reports whether a name is the engine's name of a type; nil stands for no names.
	IsType func(name string) bool
	// Dots reports whether names without a package get one, including those of dot imports.
	Dots bool
}

// Apply returns the tree with the names of its objects; embedded fields are named after
// their types. It changes the tree.
func (f *Flat) Apply(n ast.Node) ast.Node {
	return astutil.Apply(n, nil, func(c *astutil.Cursor) bool {
		switch x := c.Node().(type) {
		case *ast.SelectorExpr:
			if q := f.qualified(x); q != nil {
				if tv, ok := f.Info.Types[x]; ok {
					f.Info.Types[q] = tv
				}
				c.Replace(q)
			}
		case *ast.Ident:
			_, selected := c.Parent().(*ast.SelectorExpr)
			if q := f.ident(x, selected && c.Name() == "Sel"); q != nil {
				c.Replace(q)
			}
		case *ast.TypeSwitchStmt: // each clause has its own variable
			if a, ok := x.Assign.(*ast.AssignStmt); ok {
				id := a.Lhs[0].(*ast.Ident)
				id.Name = f.unshadowed(id.Name)
			}
		}
		return true
	})
}

// qualified names the package of x, or returns the replacement of x.
func (f *Flat) qualified(x *ast.SelectorExpr) ast.Expr {
	id, ok := x.X.(*ast.Ident)
	if !ok {
		return nil
	}
	p, ok := f.Info.Uses[id].(*types.PkgName)
	if !ok {
		return nil
	}
	if name := f.Name(f.Info.Uses[x.Sel]); name != "" {
		x.Sel.Name = name
		return x.Sel
	}
	id.Name = f.Alias(p.Imported().Path())
	return nil
}

// ident renames an identifier, or returns its replacement.
func (f *Flat) ident(id *ast.Ident, selected bool) ast.Expr {
	o := f.Info.Uses[id]
	if v, ok := f.Info.Defs[id].(*types.Var); ok && v.Embedded() || o == nil {
		o = f.Info.Defs[id]
	}
	if v, ok := o.(*types.Var); ok && v.Embedded() {
		if o = TypeName(v.Type()); o == nil {
			return nil
		}
		if name := f.Name(o); name != "" {
			id.Name = name
		}
		return nil
	}
	if o == nil || selected {
		return nil
	}
	if _, ok := o.(*types.PkgName); ok {
		return nil
	}
	_, isVar := o.(*types.Var)
	_, isParam := o.Type().(*types.TypeParam)
	if name := f.Name(o); name != "" {
		id.Name = name
	} else if (isVar || isParam) && o.Parent() != nil && o.Pkg() != nil && o.Parent() != o.Pkg().Scope() {
		id.Name = f.unshadowed(id.Name)
	} else if f.Dots && o.Pkg() != nil && o.Parent() == o.Pkg().Scope() {
		return &ast.SelectorExpr{X: &ast.Ident{NamePos: id.NamePos, Name: f.Alias(o.Pkg().Path())}, Sel: id}
	}
	return nil
}

// TypeName returns the name that an embedded field of type t has.
func TypeName(t types.Type) types.Object {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	switch t := t.(type) {
	case *types.Named:
		return t.Obj()
	case *types.Alias:
		return t.Obj()
	}
	return nil
}

// unshadowed returns a name for a local variable or a type parameter that differs from predeclared names and from those of types: rewrites
// use len, and write the types of constants, even where the code redefines their names.
func (f *Flat) unshadowed(name string) string {
	if types.Universe.Lookup(name) != nil || f.IsType != nil && f.IsType(name) {
		return name + "__00"
	}
	return name
}
