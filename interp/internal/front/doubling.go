package front

import (
	"fmt"
	"go/ast"
	"go/token"

	"halfnote/interp/internal/syntax"
)

// maxParts is the number of types that a declared type may hold by value, counted as often as they occur: go/types looks at each
// occurrence, and a chain of types that hold the one before twice has a million after 20 of them.
const maxParts = 100_000

// parts counts the types that a type holds by value, those of its fields and of the elements of its arrays.
type parts struct {
	env   *Env
	specs map[string]ast.Expr // types that the cell declares, by name
	count map[string]int      // of declared types; those of one that is being counted are 0
}

// doubling refuses a declaration of a type that holds too many types by value.
func (c *checker) doubling(decls []*DeclFile) error {
	p := &parts{c.Env, map[string]ast.Expr{}, map[string]int{}}
	var declared []*ast.TypeSpec
	for _, f := range append(decls[:len(decls):len(decls)], c.Stmts) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				p.specs[t.Name.Name] = t.Type
				declared = append(declared, t)
			}
			return true
		})
	}
	for _, t := range declared {
		if p.of(t.Type) > maxParts {
			at := c.Session.Fset.Position(t.Pos())
			return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
				"type %s holds more than %d types in its fields, counted as often as they occur; hold some of them by pointer", t.Name.Name, maxParts)}}}
		}
	}
	return nil
}

// of counts the types in an expression, no further than a little above maxParts.
func (p *parts) of(e ast.Expr) (n int) {
	switch t := e.(type) {
	case *ast.Ident:
		return p.named(t.Name)
	case *ast.ParenExpr:
		return p.of(t.X)
	case *ast.ArrayType:
		if t.Len != nil {
			return p.of(t.Elt)
		}
	case *ast.IndexExpr:
		return p.of(t.X) + p.of(t.Index)
	case *ast.IndexListExpr:
		n = p.of(t.X)
		for _, e := range t.Indices {
			n += p.of(e)
		}
	case *ast.StructType:
		for _, f := range t.Fields.List {
			if n += max(1, len(f.Names)) * p.of(f.Type); n > maxParts {
				return n
			}
		}
	}
	return n
}

func (p *parts) named(name string) int {
	n, known := p.count[name]
	if known {
		return n
	}
	t := p.specs[name]
	if t == nil {
		if b := p.env.byCheck(name); b != nil && b.Kind == KindType {
			for _, d := range p.env.Of(b).Header.Decls {
				if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
					t = g.Specs[0].(*ast.TypeSpec).Type
				}
			}
		}
	}
	p.count[name] = 0
	if t != nil {
		n = 1 + p.of(t)
	}
	p.count[name] = n
	return n
}
