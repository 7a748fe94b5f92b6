// Package load reads types and doc comments of packages with the go command, for the
// generators and for the tests that compare the generated files. The kernel does not
// import it.
package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Package is one package as the go command loads it.
type Package struct {
	Path, Name string
	Types      *types.Package
	dir        string
	files      []string
}

// Packages loads pkgs as a build for linux/amd64 without cgo does, so that the generated
// files do not depend on the machine. It omits packages that do not exist. It also omits
// packages that do not compile, and err names these; the others are still valid.
func Packages(pkgs ...string) (loaded []*Package, err error) {
	args := append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Name,Dir,Export,GoFiles,DepOnly,Error,DepsErrors"}, pkgs...)
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOEXPERIMENT=", "GOFLAGS=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("load: go list: %w: %s", err, stderr.String())
	}
	type failure struct{ Err string }
	archives := map[string]string{}
	var errs []error
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Dir, Export string
			GoFiles                       []string
			DepOnly                       bool
			Error                         *failure
			DepsErrors                    []failure
		}
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("load: go list: %w", err)
		}
		archives[p.ImportPath] = p.Export
		switch {
		case p.DepOnly, len(p.GoFiles) == 0 && p.Export == "":
		case p.Export == "":
			why := "does not compile"
			if p.Error != nil {
				why = p.Error.Err
			} else if len(p.DepsErrors) > 0 {
				why = p.DepsErrors[0].Err
			}
			errs = append(errs, fmt.Errorf("load: %s: %s", p.ImportPath, why))
		default:
			loaded = append(loaded, &Package{Path: p.ImportPath, Name: p.Name, dir: p.Dir, files: p.GoFiles})
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if archives[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(archives[path])
	})
	for _, p := range loaded {
		if p.Types, err = imp.Import(p.Path); err != nil {
			return nil, fmt.Errorf("load: %s: %w", p.Path, err)
		}
	}
	return loaded, errors.Join(errs...)
}

// Exported returns the package's objects that cells can use, in order of their names: the exported ones, apart from functions for
// packages of this module only, which take a plumbing.Token.
func (p *Package) Exported() (list []types.Object) {
	for _, name := range p.Types.Scope().Names() {
		if o := p.Types.Scope().Lookup(name); o.Exported() && !takesToken(o) {
			list = append(list, o)
		}
	}
	return list
}

func takesToken(o types.Object) bool {
	f, ok := o.(*types.Func)
	if !ok || f.Signature().Params().Len() != 1 {
		return false
	}
	n, ok := f.Signature().Params().At(0).Type().(*types.Named)
	return ok && n.Obj().Name() == "Token" && n.Obj().Pkg().Path() == "halfnote/internal/plumbing"
}

// Builtin returns the package that documents the predeclared names. It has no types.
func Builtin() (*Package, error) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "builtin").Output()
	if err != nil {
		return nil, fmt.Errorf("load: builtin: %w", err)
	}
	return &Package{Path: "builtin", Name: "builtin", dir: strings.TrimSpace(string(out)), files: []string{"builtin.go"}}, nil
}

// syntax parses the package's files.
func (p *Package) syntax() (*token.FileSet, []*ast.File, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.files {
		f, err := parser.ParseFile(fset, filepath.Join(p.dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, fmt.Errorf("load: %w", err)
		}
		files = append(files, f)
	}
	return fset, files, nil
}
