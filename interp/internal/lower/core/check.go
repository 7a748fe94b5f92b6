package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checker walks a unit.
type checker struct {
	reader
	at       token.Pos // the latest position in the cell
	results  []Position
	shared   map[string]bool // names that function literals of the declaration share
	declared map[string]bool // names that the declaration declares
	body     ast.Node        // the declaration
	refuse   func(Refusal)
}

func (c *checker) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		c.body, c.shared = d, nil
		c.genDecl(d)
	case *ast.FuncDecl:
		if d.Body == nil {
			return
		}
		c.body, c.shared = d, nil
		c.at = d.Pos()
		c.params(d.Recv)
		c.function(d.Type, d.Body)
	}
}

func (c *checker) genDecl(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			c.value(s)
		case *ast.TypeSpec:
			c.permit("type", s, nil, 0, 0)
		}
	}
}

// value checks the declaration of variables.
func (c *checker) value(s *ast.ValueSpec) {
	switch {
	case len(s.Values) == 0:
		c.permit("var", s, nil, 0, 0)
	case len(s.Values) == len(s.Names):
		c.permit("declare", s, nil, 0, 0)
	default:
		c.permit("declare.tuple", s, nil, 0, 0)
	}
	for i, id := range s.Names {
		if s.Type != nil {
			c.define(id, s.Type)
		} else if len(s.Values) == len(s.Names) {
			c.define(id, s.Values[i])
		}
	}
	if len(s.Values) != len(s.Names) && len(s.Values) > 0 {
		c.defineAll(idents(s.Names), s.Values[0])
		c.expr(s.Values[0], Tuple)
		return
	}
	for _, e := range s.Values {
		c.expr(e, Defined)
	}
}

func idents(list []*ast.Ident) []ast.Expr {
	var all []ast.Expr
	for _, id := range list {
		all = append(all, id)
	}
	return all
}

// define records the type of a variable: rewrites mention variables without their objects.
func (c *checker) define(e ast.Expr, value ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
		t := c.typeOf(value)
		if o := c.object(id); o != nil {
			t = o.Type()
		}
		if b, ok := t.(*types.Basic); ok {
			t = types.Default(b)
		}
		c.made[id.Name] = t
	}
}

// defineAll records the types of variables that are set by one expression.
func (c *checker) defineAll(list []ast.Expr, value ast.Expr) {
	t := c.typeOf(value)
	tuple, _ := t.(*types.Tuple)
	for i, e := range list {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		switch o := c.object(id); {
		case o != nil:
			c.made[id.Name] = o.Type()
		case tuple != nil && i < tuple.Len():
			c.made[id.Name] = tuple.At(i).Type()
		case t == support:
			c.made[id.Name] = support
		case tuple == nil && i == 0:
			c.made[id.Name] = t
		case tuple == nil && i == 1:
			c.made[id.Name] = types.Typ[types.Bool]
		}
	}
}

func (c *checker) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		e := f.Type
		if d, ok := e.(*ast.Ellipsis); ok {
			e = &ast.ArrayType{Elt: d.Elt}
		}
		for _, id := range f.Names {
			c.made[id.Name] = c.typeOf(e)
		}
	}
}

// function checks a body whose parameters are in t.
func (c *checker) function(t *ast.FuncType, body *ast.BlockStmt) {
	outer := c.results
	c.params(t.Params)
	c.params(t.Results)
	c.results = nil
	if t.Results != nil {
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				c.results = append(c.results, c.resultPosition(f.Type))
			}
		}
	}
	c.block(body.List)
	c.results = outer
}

func (c *checker) resultPosition(e ast.Expr) Position {
	t := c.typeOf(e)
	switch kindOf(t) {
	case Interface:
		return Returned | AnyResult
	case Func, VariadicFunc:
		if _, ok := types.Unalias(t).(*types.Named); ok {
			return Returned | NamedResult
		}
	}
	return Returned
}
