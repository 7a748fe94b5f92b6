package library

import (
	"cmp"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/lower"
)

//go:generate go run ./gen

// generics holds the generic declarations of the standard library, and their licence.
//
//go:embed z
var generics embed.FS

// StdName returns the flat name of a generic declaration of the standard library, or of a
// declaration that it uses.
func StdName(path, name string) string { return mangle(path) + "_" + name + "__0" }

// IsStd reports whether a name is the result of StdName.
func IsStd(name string) bool { return strings.HasSuffix(name, "__0") }

// Alias returns the name under which trees import a package. Cells cannot use it: names with
// two consecutive underscores are reserved for the session.
func Alias(path string) string { return "p__" + mangle(path) }

func mangle(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, path)
}

// StdPackages returns the paths of the packages that may declare a flat name of the
// standard library, likeliest first.
func StdPackages(name string) []string {
	if !IsStd(name) {
		return nil
	}
	var list []string
	for _, path := range exports.Packages() {
		if strings.HasPrefix(name, mangle(path)+"_") {
			list = append(list, path)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}

// StdPath returns the path and the name of a declaration of the standard library by its flat name.
func StdPath(flat string) (path, name string, ok bool) {
	for _, path := range StdPackages(flat) { // the longest comes first
		return path, strings.TrimSuffix(strings.TrimPrefix(flat, mangle(path)+"_"), "__0"), true
	}
	return "", "", false
}

// StdFile returns the name of the file with the generic declarations of a package of the
// standard library.
func StdFile(path string) string { return mangle(path) + ".go" }

// Std returns the generic declarations of a package of the standard library, and their
// dependencies in it, by flat name. The map is empty if the package has none. The declarations
// are in the binary.
func Std(fset *token.FileSet, path string) (map[string]*Decl, error) {
	f, err := generics.Open("z/" + StdFile(path) + ".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("package %q: %w", path, err)
	}
	file, err := parser.ParseFile(fset, "std "+path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("package %q: %w", path, err)
	}
	return Index(file.Decls), nil
}

// compiled returns the paths of the packages in the binary by alias.
var compiled = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, path := range exports.Packages() {
		m[Alias(path)] = path
	}
	return m
})

// Aliased returns the path of a package of the binary by its alias, or "" for other names.
func Aliased(alias string) string {
	if !strings.HasPrefix(alias, "p__") {
		return ""
	}
	return compiled()[alias]
}

// Decl is the meaning of a flat name: a declaration of one name, with the methods of a
// type.
type Decl struct {
	Nodes []ast.Decl
	// Generic reports whether the declaration is generic, so that only its instances run.
	Generic bool
}

// Index returns flat declarations, each of one name, by that name.
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
