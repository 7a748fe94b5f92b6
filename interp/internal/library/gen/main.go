// Command gen writes the files that package library embeds: for each package of the standard
// library that cells can import, its generic functions and types and their dependencies in
// it, under flat names and without comments. The folder overlay replaces declarations that
// need the run-time system. Go's licence goes with the files. Run it with
// go generate ./interp/...
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/exports/list"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
)

// left lists the declarations whose source cannot run in cells, because it accesses memory of
// the run-time system.
var left = []string{"runtime.AddCleanup"}

func main() {
	files, err := generate("overlay")
	if err == nil {
		err = write("z", files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write brings the folder up to date. It compresses the texts of packages, and leaves a
// compressed file alone whose text is the same.
func write(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range old {
		if files[strings.TrimSuffix(e.Name(), ".gz")] == nil {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	for name, data := range files {
		if strings.HasSuffix(name, ".go") {
			name += ".gz"
			if old, err := gunzip(filepath.Join(dir, name)); err == nil && bytes.Equal(old, data) {
				continue
			}
			data = gzipped(data)
		}
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	return err
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func gunzip(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// generate returns the files by name, before compression.
func generate(overlay string) (map[string][]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	ctx := build.Default
	ctx.GOROOT = strings.TrimSpace(string(root))
	ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled, ctx.BuildTags = "linux", "amd64", false, []string{"purego"}
	license, err := os.ReadFile(filepath.Join(ctx.GOROOT, "LICENSE"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"LICENSE": license, "release.txt": []byte(runtime.Version() + "\n")}
	imp := exports.Importer() // lacks packages that only replaced code uses
	for _, path := range list.Std {
		p, err := imp.Import(path)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(p.Scope().Names(), func(name string) bool { return wanted(p.Scope().Lookup(name)) }) {
			continue
		}
		source, err := load(ctx, token.NewFileSet(), imp, path, overlay)
		if err != nil {
			return nil, err
		}
		text, err := source.flat()
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", path, err)
		}
		files[library.StdFile(path)] = text
	}
	return files, nil
}

// pkg is a package with the declarations of its objects.
type pkg struct {
	*types.Package
	info  *types.Info
	fset  *token.FileSet
	decls map[types.Object]ast.Decl // declarations of functions and types
	meth  map[types.Object][]*ast.FuncDecl
}

// load reads a package; declarations of the overlay replace those of the package.
func load(ctx build.Context, fset *token.FileSet, imp types.Importer, path, overlay string) (*pkg, error) {
	b, err := ctx.ImportDir(filepath.Join(ctx.GOROOT, "src", filepath.FromSlash(path)), 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	replaced := map[string]bool{}
	name := filepath.Join(overlay, library.StdFile(path))
	if f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution); err == nil {
		files = append(files, f)
		for _, d := range f.Decls {
			for _, n := range names(d) {
				replaced[n] = true
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, n := range b.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(b.Dir, n), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool {
			return slices.ContainsFunc(names(d), func(n string) bool { return replaced[n] })
		})
		files = append(files, f)
	}
	p := &pkg{fset: fset, decls: map[types.Object]ast.Decl{}, meth: map[types.Object][]*ast.FuncDecl{}, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{},
	}}
	cfg := types.Config{Importer: imp, Error: func(error) {}, FakeImportC: true}
	p.Package, _ = cfg.Check(path, fset, files, p.info) // unused parts may have errors
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				fn, ok := p.info.Defs[d.Name].(*types.Func)
				if !ok {
					continue
				}
				if recv := fn.Signature().Recv(); recv == nil {
					p.decls[fn] = d
				} else if n := named(recv.Type()); n != nil {
					p.meth[n.Obj()] = append(p.meth[n.Obj()], d)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						p.decls[p.info.Defs[s.Name]] = &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{s}}
					case *ast.ValueSpec:
						if d.Tok == token.VAR && len(s.Names) == 1 && len(s.Values) == 0 {
							p.decls[p.info.Defs[s.Names[0]]] = &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{s}}
						}
					}
				}
			}
		}
	}
	return p, nil
}

// names lists the names that a declaration declares; methods as T.M.
func names(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		for _, name := range slices.Collect(maps.Keys(library.Index([]ast.Decl{d}))) {
			return []string{name + "." + d.Name.Name}
		}
	case *ast.GenDecl:
		var list []string
		for _, s := range d.Specs {
			if t, ok := s.(*ast.TypeSpec); ok {
				list = append(list, t.Name.Name)
			}
		}
		return list
	}
	return nil
}

func named(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := t.(*types.Named)
	return n
}

// isFlat reports whether cells get an object from its source: it is generic or unexported,
// and it is not a function type, which cells can use without its name.
func isFlat(o types.Object) bool {
	if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() {
		return false
	}
	return !o.Exported() || library.Generic(o)
}

// wanted reports whether cells can refer to an object.
func wanted(o types.Object) bool {
	return o.Exported() && library.Generic(o) && !slices.Contains(left, o.Pkg().Path()+"."+o.Name())
}

// flat returns the file with the package's flat declarations.
func (p *pkg) flat() ([]byte, error) {
	var work []types.Object
	for _, name := range p.Scope().Names() {
		if o := p.Scope().Lookup(name); wanted(o) {
			work = append(work, o)
		}
	}
	seen := map[types.Object]bool{}
	consts := map[types.Object]bool{}
	var nodes []ast.Node
	for len(work) > 0 {
		o := work[0]
		work = work[1:]
		if seen[o] {
			continue
		}
		seen[o] = true
		if _, ok := o.(*types.Const); ok {
			consts[o] = true
			if n := named(o.Type()); n != nil {
				work = append(work, n.Obj())
			}
			continue
		}
		d := p.decls[o]
		if d == nil {
			return nil, fmt.Errorf("the declaration of %s is missing or not simple enough", o.Name())
		}
		parts := []ast.Node{d}
		for _, m := range p.meth[o] {
			parts = append(parts, m)
		}
		nodes = append(nodes, parts...)
		for _, n := range parts {
			if f, ok := n.(*ast.FuncDecl); ok && f.Body == nil {
				return nil, fmt.Errorf("%s has no body", f.Name.Name)
			}
			var bad error
			ast.Inspect(n, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok {
					return true
				}
				u := p.info.Uses[id]
				if _, defined := p.info.Defs[id]; u == nil && !defined && bad == nil { // the variable of a type switch is defined as nil
					bad = fmt.Errorf("%s: %s is not known", p.fset.Position(id.Pos()), id.Name)
				}
				switch {
				case u == nil || u.Pkg() == nil:
				case isFlat(u) && u.Pkg() == p.Package:
					work = append(work, u)
				case u.Pkg() != p.Package && !slices.Contains(list.Std, u.Pkg().Path()):
					bad = cmp.Or(bad, fmt.Errorf("%s: %s uses package %s", p.fset.Position(id.Pos()), o.Name(), u.Pkg().Path()))
				}
				return true
			})
			if bad != nil {
				return nil, bad
			}
		}
	}
	return p.print(nodes, consts)
}

// print writes the declarations under their flat names.
func (p *pkg) print(nodes []ast.Node, consts map[types.Object]bool) ([]byte, error) {
	imports := map[string]string{}
	flat := &lower.Flat{Info: p.info, Dots: true, Name: func(o types.Object) string {
		if isFlat(o) {
			return library.StdName(o.Pkg().Path(), o.Name())
		}
		return ""
	}, Alias: func(path string) string {
		imports[path] = library.Alias(path)
		return imports[path]
	}}
	var body []string
	for o := range consts {
		t := ""
		if n := named(o.Type()); n != nil {
			t = flat.Name(n.Obj())
		} else if b := o.Type().(*types.Basic); b.Info()&types.IsUntyped == 0 {
			t = b.Name()
		}
		body = append(body, fmt.Sprintf("const %s %s = %s\n", flat.Name(o), t, o.(*types.Const).Val().ExactString()))
	}
	for _, n := range nodes {
		var b strings.Builder
		if err := printer.Fprint(&b, token.NewFileSet(), flat.Apply(n)); err != nil {
			return nil, err
		}
		body = append(body, b.String()+"\n")
	}
	slices.Sort(body)
	var text strings.Builder
	fmt.Fprintf(&text, "// Code generated from package %s of %s. DO NOT EDIT.\n// Copyright The Go Authors: see LICENSE.\n\npackage main\n\nimport (\n", p.Path(), runtime.Version())
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&text, "%s %q\n", imports[path], path)
	}
	text.WriteString(")\n\n" + strings.Join(body, "\n"))
	return format.Source([]byte(text.String()))
}
