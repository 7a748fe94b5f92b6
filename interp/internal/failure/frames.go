package failure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/syntax"
)

// frames shows the interpreted calls, innermost first, with their lines. Recursive
// calls are folded.
func (d Describer) frames(p *engine.Panic) []string {
	var list []string
	folded := 0
	fold := func() {
		if folded > 0 {
			list = append(list, ansi.Dim(fmt.Sprintf("  … %d more of the same", folded)))
		}
		folded = 0
	}
	if n := len(p.Inside); n > 1 { // a single one is the call that the cell shows
		list = append(list, ansi.Dim(fmt.Sprintf("  … %d calls inside %s", n, packagesOf(p.Inside))))
	}
	inside := len(list)
	last := "-"
	seen := map[string]bool{}
	for _, f := range d.Places.Named(p.Frames) {
		base, _, _ := strings.Cut(f.Func, ".")
		label, ok := d.Places.Label(base)
		if !ok {
			continue // not in a cell
		}
		if label != "" {
			label = "in " + label + strings.Repeat(", in a function literal", strings.Count(f.Func, ".func"))
		}
		where := label
		var excerpt []string
		var marks []places.Place
		if seen[f.Func] && !f.Pos.IsValid() {
			marks = d.Places.Recursing(f.Func)
		} else if m, ok := d.Places.Of(f); ok {
			marks = []places.Place{m}
		}
		seen[f.Func] = true
		if len(marks) > 0 {
			where = linesOf(marks)
			if label != "" {
				where += ", " + label
			}
		}
		if len(marks) == 1 && marks[0].File != nil {
			_, line, col := marks[0].Where()
			excerpt = syntax.Underlined(marks[0].File.Text, syntax.Span{Line: line, Col: col})
		} else if len(marks) == 1 {
			m := marks[0]
			cell, _, _ := m.Where()
			at, note := d.Places.Span(m), ""
			if len(list) == inside { // the origin of the panic
				call, shapes := d.operands(p.Value, m)
				at, note = cmp.Or(call, d.outermost(m, p.Inside), at), shapes
				if !explainsItself(p.Value) {
					note = d.mentioned(m, at, note)
				}
			}
			excerpt = d.Places.Excerpt(cell, at)
			if note != "" {
				excerpt = append(excerpt, "        "+ansi.Bold("where: ")+note)
			}
		}
		if f.Func == last {
			if f.Func == base { // literals share a name
				folded++
			}
			continue
		}
		fold()
		last = f.Func
		if where == "" {
			continue
		}
		list = append(list, where)
		list = append(list, excerpt...)
	}
	fold()
	if p.Skipped > 0 {
		list = append(list, ansi.Dim(fmt.Sprintf("  … %d more calls", p.Skipped)))
	}
	return list
}

// packagesOf returns the packages of compiled functions such as
// "halfnote/tensor.(*Tensor).MatMul", each once.
func packagesOf(functions []string) string {
	var names []string
	for _, f := range functions {
		f = f[strings.LastIndexByte(f, '/')+1:]
		name, _, _ := strings.Cut(f, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// linesOf formats the lines of the marks of one function.
func linesOf(marks []places.Place) string {
	cell, line, _ := marks[0].Where()
	text, last := syntax.Place(cell, line, 0), line
	if f := marks[0].File; f != nil {
		text = fmt.Sprintf("%s, line %d", ansi.Bold(f.Name), line)
	}
	for _, m := range marks[1:] {
		if _, line, _ := m.Where(); line != last {
			text += fmt.Sprintf(" or %d", line)
			last = line
		}
	}
	return text
}
