package library

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strings"
	"sync"

	"halfnote/interp/internal/exports"
	"halfnote/interp/lower"
)

//go:generate go run ./gen

//go:embed z
var files embed.FS

// StdName is the flat name of a generic declaration of the standard library, or of
// one that such a declaration uses.
func StdName(path, name string) string { return mangle(path) + "_" + name + "__0" }

// Alias is the name under which trees import a package. Cells cannot use it: two
// underscores in a row are the session's own.
func Alias(path string) string { return "p__" + mangle(path) }

func mangle(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, path)
}

// stdPaths lists the packages that have files, and what their flat names begin
// with.
var stdPaths = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, path := range exports.Packages() {
		if _, err := files.Open(stdFile(path)); err == nil {
			m[path] = mangle(path) + "_"
		}
	}
	return m
})

func stdFile(path string) string { return "z/" + mangle(path) + ".go.gz" }

// StdPackages returns the paths of the packages that may declare a flat name of the
// standard library.
func StdPackages(name string) []string {
	if !strings.HasSuffix(name, "__0") {
		return nil
	}
	var list []string
	for path, prefix := range stdPaths() {
		if strings.HasPrefix(name, prefix) {
			list = append(list, path)
		}
	}
	return list
}

// Std returns the generic declarations of a package of the standard library, and
// what they use of it, by flat name; none if the package has none. They are
// in the binary: no Go needs to be there.
func Std(fset *token.FileSet, path string) (map[string]*Decl, error) {
	if stdPaths()[path] == "" {
		return nil, nil
	}
	f, err := files.Open(stdFile(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text bytes.Buffer
	r, err := gzip.NewReader(f)
	if err == nil {
		_, err = io.Copy(&text, r)
	}
	if err != nil {
		return nil, fmt.Errorf("library: package %q: %w", path, err)
	}
	file, err := parser.ParseFile(fset, "std "+path, text.Bytes(), parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("library: package %q: %w", path, err)
	}
	return Index(file.Decls), nil
}

// compiled gives the paths of the packages of the binary by alias.
var compiled = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, path := range exports.Packages() {
		m[Alias(path)] = path
	}
	return m
})

// Aliased returns the path of a package of the binary by its alias, "" for other
// names.
func Aliased(alias string) string {
	if !strings.HasPrefix(alias, "p__") {
		return ""
	}
	return compiled()[alias]
}

// Decl is what a flat name stands for: a declaration of one name, and the methods
// of a type.
type Decl struct {
	Nodes []ast.Decl
	// Generic: it is there to make instances of.
	Generic bool
}

// Index returns flat declarations, each of one name, by that.
func Index(list []ast.Decl) map[string]*Decl {
	m := map[string]*Decl{}
	add := func(name string, d ast.Decl) {
		if m[name] == nil {
			m[name] = &Decl{Generic: lower.IsGeneric(d)}
		}
		m[name].Nodes = append(m[name].Nodes, d)
	}
	var methods []*ast.FuncDecl
	for _, d := range list {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				methods = append(methods, d)
			} else {
				add(d.Name.Name, d)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name, &ast.GenDecl{TokPos: s.Pos(), Tok: d.Tok, Specs: []ast.Spec{s}})
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id.Name, &ast.GenDecl{TokPos: s.Pos(), Tok: d.Tok, Specs: []ast.Spec{s}})
					}
				}
			}
		}
	}
	for _, d := range methods {
		add(lower.Receiver(d), d)
	}
	return m
}
