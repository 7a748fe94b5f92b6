package syntax

import (
	"go/ast"
	"go/token"
)

// MaxNesting is the depth of a syntax tree that recursion follows. Some of go/ast takes quadratic time for nested expressions.
const MaxNesting = 2000

// TooDeep returns the position of a part of a file that is nested more deeply than MaxNesting, or token.NoPos.
func TooDeep(f *ast.File) token.Pos {
	depth, deep := 0, token.NoPos
	ast.Inspect(f, func(n ast.Node) bool {
		switch {
		case deep.IsValid():
		case n == nil:
			depth--
		case depth == MaxNesting:
			deep = n.Pos()
		default:
			depth++
		}
		return !deep.IsValid()
	})
	return deep
}

// MaxParts is the number of types that a declared type may hold by value, counted as often as they occur: go/types looks at each
// occurrence, and a chain of types that hold the one before twice has a million after 20 of them.
const MaxParts = 100_000

// parts counts the types that a type holds by value, those of its fields and of the elements of its arrays.
type parts struct {
	earlier func(name string) ast.Expr
	specs   map[string]ast.Expr // types that the files declare, by name
	count   map[string]int      // of declared types; those of one that is being counted are 0
}

// Doubling returns a declaration in files of a type that holds more than MaxParts types by value, or nil. earlier returns
// what types are that the files do not declare, or nil.
func Doubling(files []*ast.File, earlier func(name string) ast.Expr) *ast.TypeSpec {
	p := &parts{earlier, map[string]ast.Expr{}, map[string]int{}}
	var declared []*ast.TypeSpec
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				p.specs[t.Name.Name] = t.Type
				declared = append(declared, t)
			}
			return true
		})
	}
	for _, t := range declared {
		if p.of(t.Type) > MaxParts {
			return t
		}
	}
	return nil
}

// of counts the types in an expression, no further than a little above MaxParts.
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
			if n += max(1, len(f.Names)) * p.of(f.Type); n > MaxParts {
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
		t = p.earlier(name)
	}
	p.count[name] = 0
	if t != nil {
		n = 1 + p.of(t)
	}
	p.count[name] = n
	return n
}
