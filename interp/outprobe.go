package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/lower"
)

// shownValue is a value that a cell has shown, as completion and help use it.
type shownValue struct {
	names []string // for example "Out[3]", "_3" and "_"
	check string
	typ   string
	decls []ast.Decl
	paths map[string]bool
}

// noteOutputs makes the kept values visible to completion and help.
func (s *Session) noteOutputs() {
	var list []shownValue
	for _, v := range s.outs.kept {
		x := shownValue{check: v.check, typ: v.typ, decls: v.decls, paths: v.paths}
		for i, n := range s.outs.last {
			if n == v.cell {
				x.names = append(x.names, strings.Repeat("_", i+1))
			}
		}
		x.names = append(x.names, inOut(v.cell), fmt.Sprintf("_%d", v.cell))
		list = append(list, x)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown, s.snap = list, nil
}

func inOut(cell int) string { return fmt.Sprintf("Out[%d]", cell) }

// nameOutputs replaces references to values of earlier cells with their variables, unless
// the name has another meaning.
func (p *probe) nameOutputs(file *ast.File) (instead map[*ast.Ident]*ast.Ident) {
	instead = map[*ast.Ident]*ast.Ident{}
	var body *ast.FuncDecl
	taken := map[string]bool{}
	u := outputUses{defining: map[*ast.Ident]bool{}}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "cell__" {
			body = f
		}
		for _, name := range declNames([]ast.Decl{d}) {
			taken[name] = true
		}
	}
	if body == nil {
		return instead
	}
	ast.Inspect(body, u.definitions)
	for id := range u.defining {
		taken[id.Name] = taken[id.Name] || id.Name != "_"
	}
	variables := map[string]string{"In": inName}
	for _, v := range p.shown {
		for _, name := range v.names {
			variables[name] = v.check
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
		if id == nil || u.defining[id] || taken[id.Name] || variables[name] == "" {
			return nil
		}
		if _, own := p.written[id.Name]; own {
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
	if check == inName {
		return "In"
	}
	for _, v := range p.shown {
		if v.check == check {
			return v.names[0]
		}
	}
	return ""
}

// outputs offers the values of earlier cells.
func (c *completer) outputs() {
	free := func(name string) bool {
		_, own := c.probe.written[name]
		return !own
	}
	for _, v := range c.probe.shown {
		for _, name := range v.names {
			base, _, _ := strings.Cut(name, "[")
			if free(base) {
				c.offer(rankSession, name, "variable", v.typ)
			}
		}
	}
	if free("In") {
		c.offer(rankSession, "In", "variable", types.NewSlice(types.Typ[types.String]).String())
	}
}
