package native

import (
	"go/ast"
	"go/token"
)

// earlier is a declaration of a unit as later units repeat it: a function without its body, a
// variable without its value, a type with its methods, and constants as they are.
type earlier struct {
	text string
	uses map[string]bool // names in the text
}

// declare notes the parts of a declaration that later units may repeat.
func (s *source) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		s.repeat(owner(d), header(d))
	case *ast.GenDecl:
		if d.Tok == token.CONST { // a constant may repeat the expression of the one before
			all := &earlier{text: code(d) + "\n", uses: map[string]bool{}}
			names(d, all.uses)
			for _, spec := range d.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					s.declares[id.Name] = all
				}
			}
			return
		}
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.repeat(spec.Name.Name, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{spec}})
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					s.variables = append(s.variables, id.Name)
					one := &ast.ValueSpec{Names: []*ast.Ident{id}, Type: spec.Type}
					s.repeat(id.Name, &ast.GenDecl{Tok: d.Tok, Specs: []ast.Spec{one}})
				}
			}
		}
	}
}

// repeat adds a declaration to what later units repeat if they use a name.
func (s *source) repeat(name string, d ast.Decl) {
	if name == "" || name == "_" {
		return
	}
	e := s.declares[name]
	if e == nil {
		e = &earlier{uses: map[string]bool{}}
		s.declares[name] = e
	}
	e.text += code(d) + "\n"
	names(d, e.uses)
}

// owner returns the name that brings a function with it: its own, or that of its receiver's type.
func owner(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	t, _ := receiver(d)
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// receiver returns the type of a method's receiver, without a pointer and type parameters.
func receiver(d *ast.FuncDecl) (t ast.Expr, generic bool) {
	t = d.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		return x.X, true
	case *ast.IndexListExpr:
		return x.X, true
	}
	return t, false
}

// header returns a function without its body. A generic function keeps it: each unit compiles
// the instances that it uses.
func header(d *ast.FuncDecl) *ast.FuncDecl {
	f := *d
	f.Doc = nil
	generic := d.Type.TypeParams != nil
	if d.Recv != nil {
		_, generic = receiver(d)
	}
	if !generic {
		f.Body = nil
	}
	return &f
}
