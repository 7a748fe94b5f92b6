package front

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/lower"
)

// Header is a declaration for the checker. It is text, which takes a tenth of the memory of a tree: a session keeps one for each thing that cells declare, and a
// cell reads those that it mentions.
type Header struct {
	Paths map[string]bool // packages that it mentions
	text  string
	refs  []ref
}

// ref is an identifier of a header that denotes a binding.
type ref struct {
	place int // among the identifiers of the header
	b     *Binding
}

// heading is what is known of a header while its declarations are made.
type heading struct {
	paths map[string]bool
	refs  map[*ast.Ident]*Binding
}

func newHeading() *heading { return &heading{map[string]bool{}, map[*ast.Ident]*Binding{}} }

// refer notes that an identifier denotes a binding.
func (h *heading) refer(id *ast.Ident, b *Binding) { h.refs[id] = b }

// header returns the header of declarations.
func (h *heading) header(decls ...ast.Decl) Header {
	to := Header{Paths: nonEmpty(h.paths)}
	for i, id := range identifiers(decls) {
		if b := h.refs[id]; b != nil {
			to.refs = append(to.refs, ref{i, b})
		}
	}
	to.text = textOf(decls)
	to.refs = slices.Clip(to.refs)
	return to
}

// textOf prints declarations, and takes their trees apart for that: structs and interfaces inside others are printed by themselves. In one piece,
// a printer would measure each of them again at each level whether it fits in one line, and indent its lines by the number of levels.
func textOf(decls []ast.Decl) string {
	var b strings.Builder
	for _, d := range decls {
		depth := 0
		var parts []string
		astutil.Apply(d, func(c *astutil.Cursor) bool {
			depth += levels(c.Node())
			return true
		}, func(c *astutil.Cursor) bool {
			n := c.Node()
			if levels(n) == 0 {
				return true
			}
			if depth--; depth > 0 {
				c.Replace(ast.NewIdent(fmt.Sprintf("\x00%d\x00", len(parts)))) // source cannot have that character
				parts = append(parts, lower.Print(n))
			}
			return true
		})
		join(&b, lower.Print(d), parts)
		b.WriteByte('\n')
	}
	return b.String()
}

// levels returns 1 for a type with fields or methods, otherwise 0.
func levels(n ast.Node) int {
	switch n.(type) {
	case *ast.StructType, *ast.InterfaceType:
		return 1
	}
	return 0
}

// join writes a text with its parts, which have parts themselves.
func join(b *strings.Builder, text string, parts []string) {
	for i, s := range strings.Split(text, "\x00") {
		if i%2 == 0 {
			b.WriteString(s)
			continue
		}
		k, _ := strconv.Atoi(s)
		join(b, parts[k], parts)
	}
}

func identifiers(decls []ast.Decl) (list []*ast.Ident) {
	for _, d := range decls {
		list = append(list, identsOf(d)...)
	}
	return list
}

// Decls returns the declarations as new trees, all of it at pos, or at a position without a meaning if that is NoPos.
func (h Header) Decls(pos token.Pos) []ast.Decl {
	f, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+h.text, parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("front: a header is not Go: %v\n%s", err, h.text))
	}
	for _, d := range f.Decls {
		relocate(reflect.ValueOf(d), max(pos, 1))
	}
	return f.Decls
}

// relocate moves a tree to a position.
func relocate(v reflect.Value, pos token.Pos) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			relocate(v.Elem(), pos)
		}
	case reflect.Slice:
		for i := range v.Len() {
			relocate(v.Index(i), pos)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.Type() != reflect.TypeFor[token.Pos]() {
				relocate(f, pos)
			} else if f.Int() != 0 {
				f.SetInt(int64(pos))
			}
		}
	}
}

// mentions reports whether the header refers to a binding.
func (h Header) mentions(b *Binding) bool {
	return slices.ContainsFunc(h.refs, func(r ref) bool { return r.b == b })
}

// renamed returns the header with another name for a binding.
func (h Header) renamed(b *Binding, name string) Header {
	if !h.mentions(b) {
		return h
	}
	decls := h.Decls(token.NoPos)
	ids := identifiers(decls)
	for _, r := range h.refs {
		if r.b == b {
			ids[r.place].Name = name
		}
	}
	h.text = textOf(decls)
	return h
}

// moved returns the header with another path for a package.
func (h Header) moved(from, to string) Header {
	if !h.Paths[from] {
		return h
	}
	h.Paths = maps.Clone(h.Paths)
	delete(h.Paths, from)
	h.Paths[to] = true
	decls := h.Decls(token.NoPos)
	for _, d := range decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := x.X.(*ast.Ident); ok && id.Name == Alias(from) {
					id.Name = Alias(to)
				}
			}
			return true
		})
	}
	h.text = textOf(decls)
	return h
}

// String returns the header as text.
func (h Header) String() string {
	return fmt.Sprintf("%s// packages %v, %d references", h.text, slices.Sorted(maps.Keys(h.Paths)), len(h.refs))
}
