package exports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
)

// check makes the package at path from its header: Go declarations without bodies. The
// caller holds m.mu.
func (m *importer) check(path string, header []byte) (*types.Package, error) {
	// The positions belong to no FileSet of a session and cannot be mistaken for places in a
	// cell.
	fset := token.NewFileSet()
	fset.AddFile("", math.MaxInt/2, 0)
	f, err := parser.ParseFile(fset, path, header, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	cfg := types.Config{Importer: importerFunc(m.load), IgnoreFuncBodies: true}
	p, err := cfg.Check(path, fset, []*ast.File{f}, nil)
	if err != nil {
		return nil, fmt.Errorf("%w (run go generate ./interp/...)", err)
	}
	m.packages[path] = p
	return p, nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
