package notebook

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// SetParameters sets variables of a notebook of Go cells, as papermill does: a cell tagged
// injected-parameters, which sets them, follows the cell tagged parameters, or stands first if
// there is none. It replaces the injected cell of an earlier run. A value is a Go literal, such
// as 0.1, "adam", true or []int{1, 2}; other text becomes a string. A variable that the
// parameters cell declares keeps its type. The error names a parameter that the cell does not
// declare.
func (nb *Notebook) SetParameters(values map[string]string) error {
	if len(values) == 0 {
		return nil
	}
	if l := nb.Language(); l != "" && l != "go" {
		return fmt.Errorf("notebook: parameters for cells in %s, want Go", l)
	}
	nb.Cells = slices.DeleteFunc(nb.Cells, func(c *Cell) bool { return c.HasTag("injected-parameters") })
	at := slices.IndexFunc(nb.Cells, func(c *Cell) bool { return c.Type == Code && c.HasTag("parameters") })
	declared, known := map[string]token.Token{}, false
	if at >= 0 {
		declared, known = declarations(nb.Cells[at].Source)
	}
	src := "// Parameters"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		tok, ok := declared[name]
		switch {
		case !token.IsIdentifier(name):
			return fmt.Errorf("notebook: parameter %q, want the name of a Go variable", name)
		case known && !ok:
			return fmt.Errorf("notebook: unknown parameter %q; the cell tagged parameters declares %s", name, strings.Join(slices.Sorted(maps.Keys(declared)), ", "))
		case tok == token.CONST:
			src += fmt.Sprintf("\nconst %s = %s", name, goLiteral(values[name]))
		case ok:
			src += fmt.Sprintf("\n%s = %s", name, goLiteral(values[name]))
		default:
			src += fmt.Sprintf("\n%s := %s", name, goLiteral(values[name]))
		}
	}
	cell := &Cell{Type: Code, Source: src, Metadata: map[string]any{"tags": []any{"injected-parameters"}}}
	nb.Cells = slices.Insert(nb.Cells, at+1, cell)
	nb.giveIDs()
	return nil
}

// declarations returns the variables and constants that the statements of a cell declare. ok is
// false if the cell is more than statements, so that others may be missing.
func declarations(src string) (names map[string]token.Token, ok bool) {
	names = map[string]token.Token{}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+src+"\n}", parser.SkipObjectResolution)
	if f == nil || len(f.Decls) == 0 {
		return names, false
	}
	fn, isFunc := f.Decls[0].(*ast.FuncDecl)
	if !isFunc || fn.Body == nil {
		return names, false
	}
	for _, st := range fn.Body.List {
		switch st := st.(type) {
		case *ast.AssignStmt:
			for _, x := range st.Lhs {
				if id, ok := x.(*ast.Ident); ok && st.Tok == token.DEFINE {
					names[id.Name] = token.VAR
				}
			}
		case *ast.DeclStmt:
			d := st.Decl.(*ast.GenDecl)
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						names[id.Name] = d.Tok
					}
				}
			}
		}
	}
	return names, err == nil
}

// goLiteral returns a value if it is a Go literal, and else the text as a string literal.
func goLiteral(value string) string {
	if x, err := parser.ParseExpr(value); err == nil && isLiteral(x) {
		return value
	}
	return strconv.Quote(value)
}

func isLiteral(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.BasicLit, *ast.CompositeLit:
		return true
	case *ast.UnaryExpr:
		return (x.Op == token.ADD || x.Op == token.SUB) && isLiteral(x.X)
	case *ast.Ident:
		return x.Name == "true" || x.Name == "false" || x.Name == "nil"
	}
	return false
}
