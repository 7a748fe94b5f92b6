package assist

import (
	"go/ast"
	"go/token"
	"strings"

	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// nameOutputs replaces references to values of earlier cells with their variables, unless
// the name has another meaning.
func (p *probe) nameOutputs(file *ast.File) (instead map[*ast.Ident]*ast.Ident) {
	instead = map[*ast.Ident]*ast.Ident{}
	var body *ast.FuncDecl
	taken := map[string]bool{}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "cell__" {
			body = f
		}
		for _, name := range syntax.Declared([]ast.Decl{d}) {
			taken[name] = true
		}
	}
	if body == nil {
		return instead
	}
	defining := syntax.Definitions(body)
	for id := range defining {
		taken[id.Name] = taken[id.Name] || id.Name != "_"
	}
	variables := map[string]string{}
	for _, v := range p.Shown {
		for _, name := range v.Names {
			variables[name] = v.Check
		}
	}
	lower.Replace(body, func(e ast.Expr) ast.Expr {
		id, name := (*ast.Ident)(nil), ""
		switch e := e.(type) {
		case *ast.Ident:
			id, name = e, e.Name
		case *ast.IndexExpr:
			if x, ok := e.X.(*ast.Ident); ok {
				if lit, ok := e.Index.(*ast.BasicLit); ok && x.Name == "Out" && lit.Kind == token.INT {
					id, name = x, "Out["+lit.Value+"]"
				}
			}
		}
		if id == nil || defining[id] || taken[id.Name] || variables[name] == "" {
			return nil
		}
		if p.Earlier.Declares(id.Name) {
			return nil
		}
		to := &ast.Ident{Name: variables[name], NamePos: id.NamePos}
		instead[id] = to
		return to
	})
	return instead
}

// outputName returns the user-visible name of the variable of a cell's value, or "" for
// other variables.
func (p *probe) outputName(check string) string {
	for _, v := range p.Shown {
		if v.Check == check {
			return v.Names[0]
		}
	}
	return ""
}

// outputs offers the values of earlier cells.
func (c *completer) outputs() {
	for _, v := range c.probe.Shown {
		for _, name := range v.Names {
			base, _, _ := strings.Cut(name, "[")
			if !c.probe.Earlier.Declares(base) {
				c.offer(rankSession, name, "variable", v.Type)
			}
		}
	}
}
