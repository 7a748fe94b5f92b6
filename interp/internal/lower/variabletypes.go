package lower

import (
	"go/ast"
	"go/token"
)

// variableTypes replaces names in the types of package variables, which Yaegi mistakes for variables: a type with a struct gets an
// alias, and parameters lose their names.
//
//	var v struct{ A int }      type v__type = struct{ A int }; var v v__type
//	var f func(n int) int      var f func(int) int
func (u *Unit) variableTypes() {
	var aliases []ast.Decl
	for _, d := range u.File.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for _, s := range d.Specs {
			s := s.(*ast.ValueSpec)
			if s.Type == nil {
				continue
			}
			if hasFields(s.Type) {
				alias := ast.NewIdent(s.Names[0].Name + "__type")
				aliases = append(aliases, &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{Name: alias, Assign: 1, Type: s.Type}}})
				s.Type = u.typed(ast.NewIdent(alias.Name), u.typeOf(s.Type))
				continue
			}
			ast.Inspect(s.Type, func(n ast.Node) bool {
				if f, ok := n.(*ast.FuncType); ok {
					f.Params.List = anonymous(f.Params.List)
					if f.Results != nil {
						f.Results.List = anonymous(f.Results.List)
					}
				}
				return true
			})
		}
	}
	u.File.Decls = append(aliases, u.File.Decls...)
}

// hasFields reports whether a type expression holds a struct type.
func hasFields(t ast.Expr) bool {
	found := false
	ast.Inspect(t, func(n ast.Node) bool {
		_, ok := n.(*ast.StructType)
		found = found || ok
		return !found
	})
	return found
}

// anonymous returns one field without a name for each parameter.
func anonymous(list []*ast.Field) []*ast.Field {
	var all []*ast.Field
	for _, f := range list {
		for range max(1, len(f.Names)) {
			all = append(all, &ast.Field{Type: f.Type})
		}
	}
	return all
}
