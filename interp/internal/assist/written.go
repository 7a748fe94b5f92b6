package assist

import (
	"go/types"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/syntax"
)

// Written is a declaration as written in a cell.
type Written struct {
	Text, Doc string
	Cell      int // number n of In[n], or 0 for the cell being written
}

// writtenIn returns the declarations of a cell by name, "T.M" for methods.
func writtenIn(code string) map[string]Written {
	m := map[string]Written{}
	for _, it := range syntax.Split(code).Items {
		if it.Kind == syntax.Decl {
			for _, name := range syntax.DeclaredIn(it.Text) {
				m[name] = Written{Text: it.Text, Doc: syntax.CommentAbove(code, it.Line)}
			}
		}
	}
	return m
}

// source returns the text of a declaration: a type with its methods, a variable with its
// type. Each text is labelled with its cell.
func (p *probe) source(o types.Object, code string) string {
	if v, ok := o.(*types.Var); ok {
		n, ok := types.Unalias(pointee(v.Type())).(*types.Named)
		if !ok || n.Obj().Pkg() != p.pkg {
			return ""
		}
		o = n.Obj()
	}
	name := exports.Member(o, p.pkg.Scope())
	here := writtenIn(code)
	names := []string{name}
	for other := range here {
		if strings.HasPrefix(other, name+".") {
			names = append(names, other)
		}
	}
	names = append(names, p.Earlier.Methods(name)...)
	slices.Sort(names)
	names = slices.Compact(names)
	var texts []string
	for _, name := range names {
		w, ok := here[name]
		if !ok {
			w, _ = p.Earlier.Written(name)
		}
		text := w.Text
		if w.Cell != 0 && text != "" {
			text = "// " + syntax.Label(w.Cell) + "\n" + text
		}
		if text != "" && !slices.Contains(texts, text) { // several may be in one declaration
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}
