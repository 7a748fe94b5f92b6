package native

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
)

// earlier is a declaration of a unit as later units repeat it: a function without its body, a
// variable without its value, a type with its methods, and constants as they are.
type earlier struct {
	text   string
	uses   []string // names in the text, sorted
	embeds []string // types whose methods a type may have: those that it embeds, or is defined as
}

// declare notes the parts of a declaration that later units may repeat.
func (s *source) declare(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if name := owner(d); d.Recv != nil && !s.types[name] {
			s.methods[name] = s.methods[name].with(header(d))
		} else {
			s.repeat(name, header(d))
		}
	case *ast.GenDecl:
		if d.Tok == token.CONST { // a constant may repeat the expression of the one before
			var all *earlier
			all = all.with(d)
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
				if e := s.declares[spec.Name.Name]; e != nil {
					e.embeds = embeds(spec.Type)
				}
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
	s.declares[name] = s.declares[name].with(d)
}

// with returns a copy with one more declaration.
func (e *earlier) with(d ast.Decl) *earlier {
	if e == nil {
		e = &earlier{}
	}
	more := *e
	uses := map[string]bool{}
	names(d, uses)
	more.text += code(d) + "\n"
	more.uses = union(e.uses, slices.Collect(maps.Keys(uses)))
	return &more
}

// and returns a copy with the declarations of another.
func (e *earlier) and(other *earlier) *earlier {
	more := *e
	more.text += other.text
	more.uses = union(e.uses, other.uses)
	return &more
}

// union returns the names of two lists, sorted.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Clone(slices.Compact(all))
}

// embeds returns the names of the types whose methods a type may have.
func embeds(t ast.Expr) []string {
	var list []string
	base := func(x ast.Expr) {
		for {
			switch t := x.(type) {
			case *ast.StarExpr:
				x = t.X
			case *ast.ParenExpr:
				x = t.X
			case *ast.IndexExpr:
				x = t.X
			case *ast.IndexListExpr:
				x = t.X
			case *ast.Ident:
				list = append(list, t.Name)
				return
			default:
				return
			}
		}
	}
	base(t)
	ast.Inspect(t, func(n ast.Node) bool {
		if st, ok := n.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				if len(f.Names) == 0 {
					base(f.Type)
				}
			}
		}
		return true
	})
	return list
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
// the instances that it uses. So does a method init, which calls the method's latest body: the compiler wants a body in each function of that name.
func header(d *ast.FuncDecl) *ast.FuncDecl {
	f := *d
	f.Doc = nil
	generic := d.Type.TypeParams != nil
	if d.Recv != nil {
		_, generic = receiver(d)
	}
	if !generic && d.Name.Name != "init" {
		f.Body = nil
	}
	return &f
}
