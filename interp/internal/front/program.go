package front

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"halfnote/interp/internal/syntax"
)

// orderVariables orders the variables of a cell with a package clause, such as a pasted
// program, by their dependencies, as a program's initialization does, and puts them
// before the cell's other statements. If the checker finds a mistake, the order stays as it
// is, and a later step reports the mistake.
func (c *Parsed) orderVariables() {
	isVar := func(it syntax.Item) bool { return it.Kind == syntax.Statement && it.Tok == token.VAR }
	if !slices.ContainsFunc(c.Pieces.Items, func(it syntax.Item) bool { return it.Kind == syntax.Package }) || !slices.ContainsFunc(c.Pieces.Items, isVar) {
		return
	}
	var b strings.Builder
	b.WriteString("package main\n")
	var rest []syntax.Item
	for _, it := range c.Pieces.Items {
		if it.Kind == syntax.Package || it.Kind == syntax.Statement && it.Tok != token.VAR {
			rest = append(rest, it)
			continue
		}
		if !isVar(it) {
			rest = append(rest, it)
		}
		fmt.Fprintf(&b, "/*line cell:%d:%d*/%s\n", it.Line, it.Col, it.Text)
	}
	src := b.String()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, syntax.ParseMode)
	if err != nil {
		return
	}
	failed := false
	cfg := types.Config{Importer: c.Session.Importer, Error: func(err error) {
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
	variable := func(n ast.Node, head string) syntax.Item {
		at := fset.Position(n.Pos())
		return syntax.Item{Kind: syntax.Statement, Tok: token.VAR, Text: head + text(n), Line: at.Line, Col: max(1, at.Column-len(head))}
	}
	var vars []syntax.Item
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
	i := slices.IndexFunc(rest, func(it syntax.Item) bool { return it.Kind == syntax.Statement })
	if i < 0 {
		i = len(rest)
	}
	c.Pieces.Items = slices.Insert(rest, i, vars...)
}
