package interp

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// written is a declaration as written in a cell.
type written struct {
	text, doc string
	cell      int // number n of In[n], or 0 for the cell being written
}

// writtenIn returns the declarations of a cell by name, "T.M" for methods.
func writtenIn(code string) map[string]written {
	m := map[string]written{}
	for _, it := range split(code).items {
		if it.kind == itemDecl {
			for _, name := range declaredNames(it.text) {
				m[name] = written{text: it.text, doc: commentAbove(code, it.line)}
			}
		}
	}
	return m
}

// commentAbove returns the text of the // lines that end above a line.
func commentAbove(code string, line int) string {
	lines := strings.Split(code, "\n")
	if line > len(lines) {
		return "" // the cell's source is no longer kept
	}
	first := line - 1
	for first > 0 && strings.HasPrefix(strings.TrimLeft(lines[first-1], " \t"), "//") {
		first--
	}
	var group ast.CommentGroup
	for _, l := range lines[first : line-1] {
		group.List = append(group.List, &ast.Comment{Text: strings.TrimSpace(l)})
	}
	return group.Text()
}

// source returns the text of a declaration: a type with its methods, a variable with its
// type. Each text is labelled with its cell.
func (p *probe) source(o types.Object, code string) string {
	if v, ok := o.(*types.Var); ok {
		n, ok := types.Unalias(deref(v.Type())).(*types.Named)
		if !ok || n.Obj().Pkg() != p.pkg {
			return ""
		}
		o = n.Obj()
	}
	name := member(o, p.pkg.Scope())
	here := writtenIn(code)
	names := []string{name}
	for _, m := range []map[string]written{here, p.written} {
		for other := range m {
			if strings.HasPrefix(other, name+".") && !slices.Contains(names, other) {
				names = append(names, other)
			}
		}
	}
	slices.Sort(names)
	var texts []string
	for _, name := range names {
		w, ok := here[name]
		if !ok {
			w = p.written[name]
		}
		text := w.text
		if w.cell != 0 && text != "" {
			text = "// " + inLabel(w.cell) + "\n" + text
		}
		if text != "" && !slices.Contains(texts, text) { // several may be in one declaration
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}
