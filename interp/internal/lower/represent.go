package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ast/astutil"
)

// interfaces removes Go's named types and interfaces for the back end, which is left
// with plain data: methods become functions, interfaces of the session become any, and
// a value in an interface keeps its type as package dynamic describes.
func (u *Unit) interfaces() {
	u.imports, u.untyped = true, true
	for i, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
		u.File.Decls[i] = u.dynamic(d).(ast.Decl)
	}
	u.plainMethods()
	u.plainTypes()
}

// localTypes moves types that functions declare to package level.
func (u *Unit) localTypes() {
	u.hoisted = map[*types.TypeName]string{}
	var moved []ast.Decl
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil {
			continue
		}
		astutil.Apply(fd.Body, nil, func(c *astutil.Cursor) bool {
			st, ok := c.Node().(*ast.DeclStmt)
			if !ok {
				return true
			}
			g := st.Decl.(*ast.GenDecl)
			if g.Tok != token.TYPE {
				return true
			}
			for _, s := range g.Specs {
				spec := s.(*ast.TypeSpec)
				if o, ok := u.Info.Defs[spec.Name].(*types.TypeName); ok {
					u.hoisted[o] = fmt.Sprintf("%s__%d_t%d", o.Name(), u.Seq, len(u.hoisted))
					moved = append(moved, &ast.GenDecl{TokPos: spec.Pos(), Tok: token.TYPE, Specs: []ast.Spec{spec}})
				}
			}
			c.Replace(&ast.EmptyStmt{Semicolon: st.Pos(), Implicit: true})
			return true
		})
	}
	if len(moved) == 0 {
		return
	}
	for _, m := range []map[*ast.Ident]types.Object{u.Info.Defs, u.Info.Uses} {
		for id, o := range m {
			if v, ok := o.(*types.Var); ok && v.Embedded() {
				o = TypeName(v.Type())
			}
			if t, ok := o.(*types.TypeName); ok && u.hoisted[t] != "" {
				id.Name = u.hoisted[t]
			}
		}
	}
	name := u.Name
	u.Name = func(o *types.TypeName) (ast.Expr, error) {
		if hoisted := u.hoisted[o]; hoisted != "" {
			return ident(hoisted), nil
		}
		return name(o)
	}
	u.File.Decls = append(moved, u.File.Decls...)
}

// plainTypes writes types as the back end needs them: with the tags that name declared
// structs, without interface methods, without embedding.
func (u *Unit) plainTypes() {
	for _, d := range u.File.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			spec := s.(*ast.TypeSpec)
			o, ok := u.Info.Defs[spec.Name].(*types.TypeName)
			if !ok || spec.Assign.IsValid() || spec.TypeParams != nil {
				continue
			}
			n, ok := o.Type().(*types.Named)
			switch {
			case !ok:
			case types.IsInterface(n):
				spec.Type = emptyInterface()
			case u.tagged(n):
				st, ok := ast.Unparen(spec.Type).(*ast.StructType)
				if !ok {
					st = u.typeExpr(spec, n.Underlying()).(*ast.StructType)
				}
				spec.Type = st
				u.describe(n)
				u.tag(st.Fields.List[0], u.id(n))
			default:
				u.direct(spec, n)
			}
		}
	}
	for i, d := range u.File.Decls {
		u.File.Decls[i] = u.plain(d).(ast.Decl)
	}
	u.isPlain = true
}

// direct writes the definition of a type by another defined type as one by its underlying type:
// Yaegi's literals see only one definition.
func (u *Unit) direct(spec *ast.TypeSpec, n *types.Named) {
	switch ast.Unparen(spec.Type).(type) {
	case *ast.Ident, *ast.SelectorExpr:
	default:
		return
	}
	switch n.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array, *types.Pointer, *types.Chan, *types.Signature:
		if e, err := TypeExpr(n.Underlying(), u.Name); err == nil {
			spec.Type = e
		}
	}
}

// plain writes the types in a tree for the back end: interfaces without their methods, and
// fields with their names. Embedded fields of declared structs stay embedded, because
// package reflect reveals this.
func (u *Unit) plain(n ast.Node) ast.Node {
	return astutil.Apply(n, nil, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.Ident:
			if n.Name == "any" && (u.objectOf(n) == nil || u.objectOf(n) == anyName) {
				c.Replace(u.as(emptyInterface(), n))
			}
		case *ast.InterfaceType:
			n.Methods = &ast.FieldList{}
		case *ast.StructType:
			blanks := 0
			for _, f := range n.Fields.List {
				if _, own := f.Type.(*ast.Ident); len(f.Names) == 0 && !own {
					f.Names = []*ast.Ident{ident(lastName(f.Type))}
				}
				for i, id := range f.Names {
					if id.Name == "_" {
						blanks++
						f.Names[i] = ident(fmt.Sprintf("blank__%d", blanks))
					}
				}
			}
		}
		return true
	})
}

func emptyInterface() ast.Expr { return &ast.InterfaceType{Methods: &ast.FieldList{}} }

// tag puts a type's identity before the tag of a field.
func (u *Unit) tag(f *ast.Field, id string) {
	tag := u.Types.Tag(id)
	if f.Tag != nil {
		if s, err := strconv.Unquote(f.Tag.Value); err == nil {
			tag += " " + s
		}
	}
	f.Tag = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(tag)}
}

// lastName returns the name of an embedded field of that type.
func lastName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return lastName(t.X)
	case *ast.ParenExpr:
		return lastName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.IndexExpr:
		return lastName(t.X)
	case *ast.IndexListExpr:
		return lastName(t.X)
	case *ast.Ident:
		return t.Name
	case *ast.InterfaceType: // no other one has a name
		return "any"
	}
	return "_"
}

// ownNamed reports whether the session declares t.
func (u *Unit) ownNamed(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && u.ours(n.Obj())
}

// ours reports whether an object is declared by interpreted code.
func (u *Unit) ours(o types.Object) bool { return o.Pkg() == u.Pkg || u.Own != nil && u.Own(o) }

// isInterface reports whether t is an interface type.
func (u *Unit) isInterface(t types.Type) bool { return t != nil && types.IsInterface(t) }

// compiledIface reports whether t is an interface with methods that compiled code
// declares: the back end keeps those.
func (u *Unit) compiledIface(t types.Type) bool {
	if t == nil || !hasMethods(t) {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && !u.ours(n.Obj())
}

// tagged reports whether values of a type identify their type by a tag: the type is a struct
// that the session declares and can write.
func (u *Unit) tagged(n *types.Named) bool {
	st, ok := n.Underlying().(*types.Struct)
	if !ok || !u.ours(n.Obj()) || st.NumFields() == 0 {
		return false
	}
	for f := range st.Fields() {
		if !f.Exported() && f.Pkg() != n.Obj().Pkg() {
			return false
		}
	}
	return true
}

// boxed reports whether values of a type need a box in interfaces because they look
// like values of another type.
func (u *Unit) boxed(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return u.ours(t.Obj()) && !u.tagged(t) || u.nameless(t)
	case *types.Map:
		return u.boxed(t.Key()) || u.boxed(t.Elem())
	case *types.Signature:
		return u.boxedTuple(t.Params()) || u.boxedTuple(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() || f.Embedded() || u.boxed(f.Type()) {
				return true
			}
		}
	case *types.Interface:
		return t.NumMethods() > 0
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return u.boxed(t.Elem())
	}
	return false
}

func (u *Unit) boxedTuple(t *types.Tuple) bool {
	return slices.ContainsFunc(slices.Collect(t.Variables()), func(v *types.Var) bool { return u.boxed(v.Type()) })
}

// boxType returns the type of the box of values of type t.
func (u *Unit) boxType(at ast.Node, t types.Type) ast.Expr {
	f := &ast.Field{Names: []*ast.Ident{ident("V")}, Type: u.typeExpr(at, t)}
	u.tag(f, u.id(t))
	return &ast.StructType{Fields: &ast.FieldList{List: []*ast.Field{f}}}
}

func text(s string) ast.Expr { return &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(s)} }
