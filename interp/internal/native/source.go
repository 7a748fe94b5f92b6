package native

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
)

// source is a unit as the compiler reads it.
type source struct {
	text      string
	declares  map[string]*earlier // what later units may use
	types     map[string]bool     // of the unit
	methods   map[string]*earlier // of types of earlier units
	wrappers  map[string]bool     // symbols of methods that only call another function
	variables []string
	bare      map[string]bool // variables without values in their declaration
	own       ownNames
	lines     *lines
	ends      bool // whether no code of the unit runs after its entry function
}

// source writes a unit, with the declarations of earlier units that it uses.
func (e *Engine) source(u *engine.Unit) *source {
	s := &source{
		declares: map[string]*earlier{}, types: map[string]bool{}, methods: map[string]*earlier{}, wrappers: map[string]bool{}, bare: map[string]bool{},
		own: ownNames{number: numberOf(u), names: map[string]bool{}}, lines: newLines(fmt.Sprintf("u%d", e.seq), u.Info), ends: ends(u),
	}
	used := map[string]bool{}
	for _, d := range u.File.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, spec := range g.Specs {
				s.types[spec.(*ast.TypeSpec).Name.Name] = true
			}
		}
	}
	literals := e.literals(u)
	e.marks(u, &s.own)
	var own []ast.Decl
	for _, d := range u.File.Decls {
		g, isGen := d.(*ast.GenDecl)
		if isGen && g.Tok == token.IMPORT {
			continue
		}
		if f, ok := d.(*ast.FuncDecl); ok {
			if name := wrapper(f); name != "" {
				s.wrappers[name] = true
			}
		}
		e.bindings(d)
		inRegisters(d, s.lines.info, u.Entry, literals)
		useVariables(d, s.lines.info)
		names(d, used)
		s.own.find(d)
		s.declare(d)
		if !isGen || !s.bareVariables(g) {
			own = append(own, d)
		}
	}
	gain := e.gain(s, used)
	imports, declarations := e.uses(used, s)
	var b strings.Builder
	b.WriteString("package main\n")
	for _, path := range imports {
		name := e.alias(path)
		fmt.Fprintf(&b, "import %s %q\n", name, path)
	}
	b.WriteString(declarations)
	for _, d := range own {
		s.own.replace(d)
		s.lines.mark(d)
		b.WriteString(code(d) + "\n")
	}
	b.WriteString(gain)
	s.text = b.String()
	s.lines.info = nil          // the lines outlive the unit's syntax
	delete(s.declares, u.Entry) // only Run calls it
	return s
}

// bareVariables reports whether a declaration is one of variables without values, and notes them: they are written like
// those of earlier units, so that a unit that runs again has the same text as when it was the first to declare them.
func (s *source) bareVariables(d *ast.GenDecl) bool {
	if d.Tok != token.VAR || slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool { return len(spec.(*ast.ValueSpec).Values) > 0 }) {
		return false
	}
	for _, spec := range d.Specs {
		for _, id := range spec.(*ast.ValueSpec).Names {
			s.bare[id.Name] = true
		}
	}
	return true
}

// uses returns the imports and the declarations of earlier units that names refer to, directly
// or through such declarations, and of the unit's variables without values.
func (e *Engine) uses(used map[string]bool, s *source) (imports []string, declarations string) {
	var text strings.Builder
	seen, written := map[string]bool{}, map[*earlier]bool{}
	todo := slices.Sorted(maps.Keys(used))
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if path, ok := e.paths[name]; ok {
			imports = append(imports, path)
		} else if d := s.declares[name]; d != nil {
			if s.bare[name] {
				text.WriteString(s.own.text(name, d.text))
			}
		} else if d := e.known[name]; d != nil && !written[d] {
			written[d] = true
			text.WriteString(s.own.text(name, d.text))
			todo = append(todo, d.uses...)
		}
	}
	slices.Sort(imports)
	return imports, text.String()
}

// code prints a declaration, statement or expression without comments.
func code(n any) string {
	var b bytes.Buffer
	if n, ok := n.(ast.Node); ok {
		ast.Inspect(n, nameInstance)
	}
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprintf("/* %v */", err) // the compiler reports what is lacking
	}
	return b.String()
}

// nameInstance makes the type of a literal a name if it is an instance. In the head of a statement, the printer
// keeps the parentheses around a literal only if its type is a name.
func nameInstance(n ast.Node) bool {
	if lit, ok := n.(*ast.CompositeLit); ok {
		switch lit.Type.(type) {
		case *ast.IndexExpr, *ast.IndexListExpr:
			lit.Type = ast.NewIdent(code(lit.Type))
		}
	}
	return true
}

// names collects the names in a tree that may be of other declarations.
func names(n ast.Node, into map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			into[n.Name] = true
		case *ast.SelectorExpr:
			names(n.X, into)
			return false
		}
		return true
	})
}
