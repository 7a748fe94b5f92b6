package export

import (
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/lower"
)

// Functions of the program that do not come from cells, by their placeholder names.
const (
	showName  = "show__"
	timedName = "timed__"
)

var helpers = map[string]string{
	showName: `
// show prints the values of a cell's last expression, except a single nil.
func show__(values ...any) {
	if len(values) == 1 && values[0] == nil {
		return
	}
	var texts []string
	for _, v := range values {
		texts = append(texts, p__halfnote_display.Of(v).String())
	}
	p__fmt.Println(p__strings.Join(texts, ", "))
}
`,
	timedName: `
// timed runs a cell and prints how long it took.
func timed__(cell func()) {
	start := p__time.Now()
	cell()
	p__fmt.Println("time:", p__time.Since(start).Round(p__time.Microsecond))
}
`,
}

// program assembles the parts.
func (x *exporter) program() string {
	var b, calls strings.Builder
	count := map[int]int{}
	for _, p := range x.parts {
		if p.note != "" {
			b.WriteString("\n" + p.note)
		}
		body := x.body(p)
		if len(p.decls)+len(p.vars)+len(body) > 0 && p.note == "" && count[p.cell] == 0 {
			fmt.Fprintf(&b, "\n// In[%d]\n", p.cell)
		}
		x.declarations(&b, p)
		if strings.TrimSpace(body) == "" {
			continue
		}
		name := fmt.Sprintf("cell%d__", p.cell)
		if count[p.cell]++; count[p.cell] > 1 {
			name = fmt.Sprintf("cell%d_%d__", p.cell, count[p.cell])
		}
		fmt.Fprintf(&b, "\nfunc %s() {\n%s}\n", name, body)
		if p.isTimed {
			fmt.Fprintf(&calls, "\t%s(%s)\n", timedName, name)
		} else {
			fmt.Fprintf(&calls, "\t%s()\n", name)
		}
	}
	var outs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(x.outUsed)) {
		fmt.Fprintf(&outs, "\nvar %s %s\n", name, x.outType[name])
	}
	text := b.String() + outs.String() + "\nfunc main() {\n" + calls.String() + "}\n"
	for _, name := range slices.Sorted(maps.Keys(helpers)) {
		if strings.Contains(text, name) {
			text += helpers[name]
			for _, path := range []string{"fmt", "strings", "time", "halfnote/display"} {
				x.alias(path)
			}
		}
	}
	return x.named(text)
}

func (x *exporter) declarations(b *strings.Builder, p *part) {
	if len(p.vars) > 0 {
		b.WriteString("\n" + strings.Join(p.vars, "\n") + "\n")
	}
	for _, d := range p.decls {
		b.WriteString("\n")
		b.WriteString(d.comment)
		if d.hook == "" || x.bodies[d.hook] < 2 {
			b.WriteString(d.text + "\n")
			continue
		}
		for _, decl := range d.through {
			b.WriteString(lower.Print(decl) + "\n\n")
		}
	}
	for _, h := range slices.Sorted(maps.Keys(x.hooks)) {
		if x.hooks[h] != nil && x.several(h) && x.hookType[h] != "" && slices.ContainsFunc(p.start, func(s [2]string) bool { return s[0] == h }) {
			fmt.Fprintf(b, "\nvar %s %s\n", h, x.hookType[h])
			x.hookType[h] = "" // already declared
		}
	}
}

// several reports whether a variable holds different functions in turn. If not, its
// function is called directly.
func (x *exporter) several(hook string) bool {
	list := x.hooks[hook]
	return slices.ContainsFunc(list, func(f string) bool { return f != list[0] })
}

func (x *exporter) body(p *part) string {
	var b strings.Builder
	for _, d := range p.decls {
		if d.hook != "" && x.bodies[d.hook] > 1 {
			fmt.Fprintf(&b, "%s = %s\n", d.set[0], d.set[1])
		}
	}
	for _, s := range p.start {
		if x.several(s[0]) {
			fmt.Fprintf(&b, "%s = %s\n", s[0], s[1])
		}
	}
	for _, s := range p.body {
		switch {
		case s.show != "" && s.out != "" && x.outUsed[s.out]:
			fmt.Fprintf(&b, "%s = %s\n%s(%s)\n", s.out, s.text, s.show, s.out)
		case s.show != "":
			fmt.Fprintf(&b, "%s(%s)\n", s.show, s.text)
		case s.text != "":
			b.WriteString(strings.TrimSuffix(s.text, "\n") + "\n")
		}
	}
	return b.String()
}

// token is an identifier of the program being written.
type programToken struct {
	start, end int
	name       string
}

// named gives every declaration its final name: packages their own, the only version of
// a declaration its own, other versions one with a number that is unused in the cells.
func (x *exporter) named(text string) string {
	var ids []programToken
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.IDENT {
			off := file.Offset(pos)
			ids = append(ids, programToken{off, off + len(lit), lit})
		}
	}
	names := x.names(ids)
	var b strings.Builder
	at := 0
	for _, id := range ids {
		if name := names[id.name]; name != "" {
			b.WriteString(text[at:id.start] + name)
			at = id.end
		}
	}
	b.WriteString(text[at:])
	var imports [2]strings.Builder // the standard library's come first
	paths := map[string]string{}
	for _, id := range ids {
		if path := x.paths[id.name]; path != "" {
			paths[path] = names[id.name]
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		group := &imports[0]
		if first, _, _ := strings.Cut(path, "/"); first == "halfnote" || strings.Contains(first, ".") {
			group = &imports[1]
		}
		if paths[path] == x.packageName(path) {
			fmt.Fprintf(group, "\t%q\n", path)
		} else {
			fmt.Fprintf(group, "\t%s %q\n", paths[path], path)
		}
	}
	head := "// This program was exported from a notebook. It runs the cells in order.\npackage main\n"
	if len(paths) > 0 {
		head += "\nimport (\n" + imports[0].String() + "\n" + imports[1].String() + ")\n"
	}
	return head + b.String()
}

// names returns the final names of identifiers, where they differ from the current
// ones.
func (x *exporter) names(ids []programToken) map[string]string {
	names := map[string]string{}
	taken := map[string]bool{}
	for _, b := range x.declared() {
		if !strings.Contains(b, "__") {
			taken[b] = true
		}
	}
	free := func(base string) string {
		name := base
		for n := 2; taken[name] || x.words[name] || name == "main" || name == "init" || types.Universe.Lookup(name) != nil || token.IsKeyword(name); n++ {
			name = fmt.Sprintf("%s%d", base, n)
		}
		taken[name] = true
		return name
	}
	for _, id := range ids {
		if names[id.name] != "" || !strings.Contains(id.name, "__") {
			continue
		}
		if path := x.paths[id.name]; path != "" {
			name := x.packageName(path)
			if taken[name] {
				name = free(name)
			}
			taken[name] = true
			names[id.name] = name
			continue
		}
		if f := x.hooks[id.name]; f != nil && !x.several(id.name) {
			continue // handled below: calls use the function's name
		}
		base, _, _ := strings.Cut(strings.TrimRight(id.name, "_"), "__")
		if n, ok := strings.CutPrefix(id.name, "Out__"); ok {
			base = "out" + n
		}
		if base == "" {
			continue
		}
		names[id.name] = free(base)
	}
	for hook, list := range x.hooks {
		if !x.several(hook) {
			if names[hook] = names[list[0]]; names[hook] == "" {
				names[hook] = list[0]
			}
		}
	}
	return names
}

// declared lists the program's declarations.
func (x *exporter) declared() []string { return slices.Collect(maps.Keys(x.state.Taken)) }
