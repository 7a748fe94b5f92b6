package interp

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// program orders the variables of a cell with a package clause, such as a pasted
// program, by their dependencies, as a program's initialization does, and puts them
// before the cell's other statements. If the checker finds a mistake, the order stays as it
// is, and a later step reports the mistake.
func (s *Session) program(c *cell) {
	isVar := func(it item) bool { return it.kind == itemStatement && it.tok == token.VAR }
	if !slices.ContainsFunc(c.items, func(it item) bool { return it.kind == itemPackage }) || !slices.ContainsFunc(c.items, isVar) {
		return
	}
	var b strings.Builder
	b.WriteString("package main\n")
	var rest []item
	for _, it := range c.items {
		if it.kind == itemPackage || it.kind == itemStatement && it.tok != token.VAR {
			rest = append(rest, it)
			continue
		}
		if !isVar(it) {
			rest = append(rest, it)
		}
		fmt.Fprintf(&b, "/*line cell:%d:%d*/%s\n", it.line, it.col, it.text)
	}
	src := b.String()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parseMode)
	if err != nil {
		return
	}
	failed := false
	cfg := types.Config{Importer: c.importer, Error: func(err error) {
		e, ok := err.(types.Error)
		failed = failed || !ok || !tolerated(e.Msg)
	}}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	_ = types.NewChecker(&cfg, fset, types.NewPackage("main", "main"), info).Files([]*ast.File{file})
	if failed {
		return
	}
	text := func(n ast.Node) string {
		f := fset.File(file.Package)
		return src[f.Offset(n.Pos()):f.Offset(n.End())]
	}
	variable := func(n ast.Node, head string) item {
		at := fset.Position(n.Pos())
		return item{kind: itemStatement, tok: token.VAR, text: head + text(n), line: at.Line, col: max(1, at.Column-len(head))}
	}
	var vars []item
	typeOf := map[types.Object]ast.Expr{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for _, id := range v.Names {
				typeOf[info.Defs[id]] = v.Type
			}
			if len(v.Values) == 0 {
				vars = append(vars, variable(v, "var "))
			}
		}
	}
	for _, in := range info.InitOrder {
		var names []string
		t := ""
		for _, v := range in.Lhs {
			names = append(names, v.Name())
			if e := typeOf[v]; e != nil {
				t = " " + text(e)
			}
		}
		vars = append(vars, variable(in.Rhs, "var "+strings.Join(names, ", ")+t+" = "))
	}
	i := slices.IndexFunc(rest, func(it item) bool { return it.kind == itemStatement })
	if i < 0 {
		i = len(rest)
	}
	c.items = slices.Insert(rest, i, vars...)
}
