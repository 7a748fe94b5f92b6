package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"slices"

	"halfnote/internal/text"
	"halfnote/interp/internal/syntax"
)

// maxConstant is the most bytes of a constant string. The type checker has no limit, and each line of a cell can double one.
const maxConstant = 4 << 20

// longConstants refuses a cell with a longer constant string before the checker computes it.
func (c *checker) longConstants() error {
	l := lengths{env: c.Env, values: map[string][]ast.Expr{}, names: map[string]int{}, sums: map[ast.Expr]int{}}
	for _, f := range c.Files.Parsed {
		ast.Inspect(f.File, l.note)
	}
	var problems []syntax.Problem
	for _, f := range c.Files.Parsed {
		ast.Inspect(f.File, func(n ast.Node) bool {
			e, ok := n.(*ast.BinaryExpr)
			if !ok || len(problems) > 0 {
				return len(problems) == 0
			}
			if size := l.of(e); size > maxConstant {
				at := c.Session.Fset.Position(e.Pos())
				problems = append(problems, syntax.Problem{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
					"constant string of %s; want at most %s: a variable can be longer, such as strings.Repeat(s, n)", text.Bytes(int64(size)), text.Bytes(maxConstant))})
			}
			return true
		})
	}
	if len(problems) > 0 {
		return &syntax.Rejected{Name: "CompileError", Problems: problems}
	}
	return nil
}

// lengths finds how many bytes constant strings have at most. Names of different scopes count as one.
type lengths struct {
	env    *Env
	values map[string][]ast.Expr // values of constants of the cell, by name
	names  map[string]int
	sums   map[ast.Expr]int
}

// note notes the constants that a node declares.
func (l *lengths) note(n ast.Node) bool {
	if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
		for name, value := range constantsIn(d) {
			l.values[name] = append(l.values[name], value)
		}
	}
	return true
}

// constantsIn yields the constants of a declaration. A line without values repeats those before it.
func constantsIn(d *ast.GenDecl) func(yield func(name string, value ast.Expr) bool) {
	return func(yield func(string, ast.Expr) bool) {
		var values []ast.Expr
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			if len(v.Values) > 0 {
				values = v.Values
			}
			for i, id := range v.Names {
				if i < len(values) && !yield(id.Name, values[i]) {
					return
				}
			}
		}
	}
}

// of returns the most bytes that an expression has if it is a constant string.
func (l *lengths) of(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return len(e.Value) - 2 // without quotes
		}
	case *ast.ParenExpr:
		return l.of(e.X)
	case *ast.CallExpr: // perhaps a conversion
		if len(e.Args) == 1 {
			return l.of(e.Args[0])
		}
	case *ast.Ident:
		return l.name(e.Name)
	case *ast.BinaryExpr:
		n, known := l.sums[e]
		if !known && e.Op == token.ADD {
			n = l.of(e.X) + min(l.of(e.Y), math.MaxInt/4)
			n = min(n, math.MaxInt/4)
			l.sums[e] = n
		}
		return n
	}
	return 0
}

// name returns the most bytes of the constants of a name.
func (l *lengths) name(name string) int {
	if n, known := l.names[name]; known {
		return n
	}
	l.names[name] = 0 // a constant that refers to itself is another mistake
	values := slices.Clone(l.values[name])
	if b := l.env.Named(name); b != nil && b.Kind == KindConst {
		for _, d := range l.env.Of(b).Header.Decls(token.NoPos) {
			if d, ok := d.(*ast.GenDecl); ok {
				for _, value := range constantsIn(d) {
					values = append(values, value)
				}
			}
		}
	}
	n := 0
	for _, value := range values {
		n = max(n, l.of(value))
	}
	l.names[name] = n
	return n
}
