package library

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"go/version"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"halfnote/interp/internal/exports"
)

// Package is a package that has been read from source and checked.
type Package struct {
	Place
	Path    string
	Types   *types.Package
	Info    *types.Info
	Files   []*ast.File
	Imports []*Package        // imports that were read from source
	Text    map[string]string // text of the files, by the names that positions have

	sum   [sha256.Size]byte
	stamp string // state of the folder when the files were read
}

// Name is the display name of a file of the package: it contains no directory of this
// machine.
func (p *Package) Name(file string) string { return p.Path + "/" + filepath.Base(file) }

// Position returns the position of an object of the package.
func (p *Package) Position(files *token.FileSet, pos token.Pos) token.Position {
	at := files.Position(pos)
	at.Filename = p.Name(at.Filename)
	return at
}

// SharedLoopVars reports whether the iterations of a loop share its variables in the
// package's language version: https://go.dev/blog/loopvar-preview.
func (p *Package) SharedLoopVars() bool {
	return p.GoVersion != "" && version.Compare("go"+p.GoVersion, "go1.22") < 0
}

// Changed reports whether the files on disk have changed since they were read.
func (p *Package) Changed() bool {
	b, err := buildContext.ImportDir(p.Dir, 0)
	if err != nil {
		return true
	}
	_, sum, err := read(b)
	return err != nil || sum != p.sum
}

// Touched reports whether the files on disk may have changed since they were read, from
// their names, sizes and times, or since Touched last reported it. It is fast.
func (p *Package) Touched() bool {
	stamp := stampOf(p.Dir)
	if stamp == p.stamp {
		return false
	}
	p.stamp = stamp
	return true
}

// stampOf returns the names, sizes and times of the Go files in a folder.
func stampOf(dir string) string {
	var b strings.Builder
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".go") {
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// Loader reads packages from source. It implements types.ImporterFrom; packages in the
// binary are taken from there. Its methods may be called from any goroutine.
type Loader struct {
	files    *token.FileSet
	compiled types.ImporterFrom

	mu       sync.Mutex
	packages map[string]*Package
	loading  []string
	finder   *Finder // for dir
	dir      string
	lacking  *unprovided // the last package that no module has
}

// NewLoader returns a loader that parses into files.
func NewLoader(files *token.FileSet, compiled types.ImporterFrom) *Loader {
	return &Loader{files: files, compiled: compiled, packages: map[string]*Package{}}
}

// Import implements types.Importer, for code in the working directory.
func (l *Loader) Import(path string) (*types.Package, error) {
	if p, err := l.compiled.Import(path); err == nil {
		return p, nil
	}
	p, err := l.Load(path)
	if err != nil {
		return nil, err
	}
	return p.Types, nil
}

// ImportFrom implements types.ImporterFrom.
func (l *Loader) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	return l.Import(path)
}

// Load returns the package at a path that is not in the binary, for code in the working
// directory. The error names the reason why the package cannot be loaded.
func (l *Loader) Load(path string) (*Package, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.packages[path]; p != nil {
		return p, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if l.finder, err = NewFinder(dir); err != nil {
		return nil, err
	}
	l.dir, l.loading = dir, nil
	return l.load(path, &Package{Path: l.finder.Home(dir), Place: Place{Module: "main"}})
}

// Loaded returns a package that Load has returned, or nil if there is none.
func (l *Loader) Loaded(path string) *Package {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.packages[path]
}

// Keep makes the loader read packages again on their next use, except those for which keep
// returns true.
func (l *Loader) Keep(keep func(*Package) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.packages, func(_ string, p *Package) bool { return !keep(p) })
}

// load reads a package that the package from imports.
func (l *Loader) load(path string, from *Package) (*Package, error) {
	standard := from.Module == ""
	if standard && strings.Contains(path, ".") {
		path = "vendor/" + path // in GOROOT/src
	}
	if p := l.packages[path]; p != nil {
		return p, visible(path, from)
	}
	if path == "C" {
		return nil, errors.New("it uses cgo")
	}
	if slices.Contains(l.loading, path) {
		return nil, fmt.Errorf("packages import each other: %s", strings.Join(append(l.loading, path), ", "))
	}
	if err := visible(path, from); err != nil {
		return nil, err
	}
	if err := exports.Refused(path); err != nil {
		return nil, err
	}
	place, err := l.finder.Find(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exports.Importable(path)
	}
	if err != nil {
		errors.As(err, &l.lacking)
		return nil, err
	}
	l.loading = append(l.loading, path)
	defer func() { l.loading = l.loading[:len(l.loading)-1] }()
	p, err := l.read(path, place)
	if err != nil {
		return nil, fmt.Errorf("package %q cannot run in cells: %w", path, err)
	}
	l.packages[path] = p
	return p, nil
}

// visible implements the rule for internal packages.
func visible(path string, from *Package) error {
	i := strings.LastIndex("/"+path+"/", "/internal/")
	if i < 0 {
		return nil
	}
	parent := path[:max(0, i-1)]
	switch {
	case parent == "" && from.Module == "", parent != "" && (from.Path == parent || strings.HasPrefix(from.Path, parent+"/")):
		return nil
	case parent == "":
		parent = "the standard library"
	}
	return fmt.Errorf("package %q is internal to %s; only packages there can import it", path, parent)
}

// buildContext selects files as a build without cgo does. With these tags packages offer Go instead of assembly, unsafe code and calls of the
// system. Each is a convention of some modules: appengine, the oldest, of those that were to run where only such code could.
var buildContext = func() build.Context {
	c := build.Default
	c.CgoEnabled = false
	c.BuildTags = []string{"purego", "noasm", "safe", "nounsafe", "appengine"}
	return c
}()

// read reads, parses and checks the package at a place.
func (l *Loader) read(path string, place Place) (*Package, error) {
	if lang := version.Lang("go" + place.GoVersion); version.Compare(lang, version.Lang(runtime.Version())) > 0 {
		return nil, fmt.Errorf("its go.mod says go %s, which needs a halfnote built with Go %s or newer; this one is built with %s",
			place.GoVersion, strings.TrimPrefix(lang, "go"), runtime.Version())
	}
	b, err := buildContext.ImportDir(place.Dir, 0)
	var none *build.NoGoError
	switch {
	case errors.As(err, &none):
		for _, name := range b.IgnoredGoFiles {
			if f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(b.Dir, name), nil, parser.ImportsOnly); err == nil && imports(f, "C") {
				return nil, fmt.Errorf("it uses cgo (%s)", name)
			}
		}
		return nil, fmt.Errorf("no Go file in %s is for %s/%s", place.Dir, buildContext.GOOS, buildContext.GOARCH)
	case err != nil:
		return nil, err
	case b.Name == "main":
		return nil, errors.New("it is a program, package main")
	case len(b.EmbedPatterns) > 0:
		return nil, fmt.Errorf("it embeds files (%s)", filepath.Base(b.EmbedPatternPos[b.EmbedPatterns[0]][0].Filename))
	}
	p := &Package{Place: place, Path: path, Info: NewInfo(), stamp: stampOf(place.Dir)}
	if p.Text, p.sum, err = read(b); err != nil {
		return nil, err
	}
	for _, name := range b.GoFiles {
		file := filepath.Join(b.Dir, name)
		f, err := parser.ParseFile(l.files, file, p.Text[file], parser.SkipObjectResolution|parser.AllErrors)
		var list scanner.ErrorList
		if errors.As(err, &list) {
			list[0].Pos.Filename = p.Name(file)
			return nil, list[0]
		}
		if err != nil {
			return nil, err
		}
		if err := runnable(f, b.SFiles); err != nil {
			return nil, fmt.Errorf("%w (%s)", err, name)
		}
		p.Files = append(p.Files, f)
	}
	return p, l.check(p, importerOf{l, p})
}

// read returns the texts of a package's files by name, and a hash of them.
func read(b *build.Package) (map[string]string, [sha256.Size]byte, error) {
	text := map[string]string{}
	h := sha256.New()
	for _, name := range b.GoFiles {
		file := filepath.Join(b.Dir, name)
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, [sha256.Size]byte{}, err
		}
		text[file] = string(data)
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		h.Write(data)
	}
	return text, [sha256.Size]byte(h.Sum(nil)), nil
}

func imports(f *ast.File, path string) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+path+`"` })
}

// runnable returns an error for the parts of a file that no interpreter can run.
func runnable(f *ast.File, assembly []string) error {
	if imports(f, "unsafe") {
		return errors.New("it uses unsafe")
	}
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body == nil {
			if len(assembly) > 0 {
				return fmt.Errorf("its function %s is written in assembly", fd.Name.Name)
			}
			return fmt.Errorf("its function %s has no body in Go", fd.Name.Name)
		}
	}
	return nil
}

// check runs the type checker over a package.
func (l *Loader) check(p *Package, imp types.Importer) error {
	var first error
	cfg := types.Config{
		Importer: imp,
		Sizes:    types.SizesFor("gc", buildContext.GOARCH),
		Error: func(err error) {
			if e, ok := err.(types.Error); ok && first == nil {
				first = fmt.Errorf("%s: %s", p.Position(l.files, e.Pos), e.Msg)
			}
		},
	}
	if p.GoVersion != "" {
		cfg.GoVersion = "go" + p.GoVersion
	}
	p.Types = types.NewPackage(p.Path, p.Files[0].Name.Name)
	_ = types.NewChecker(&cfg, l.files, p.Types, p.Info).Files(p.Files)
	if first != nil {
		return first
	}
	scope := p.Types.Scope()
	for _, name := range scope.Names() {
		if o, ok := scope.Lookup(name).(*types.TypeName); ok && !o.Exported() {
			scope.Insert(types.NewTypeName(o.Pos(), p.Types, HiddenPrefix+name, o.Type()))
		}
	}
	return nil
}

// HiddenPrefix precedes the names of unexported types in declarations of variables that must
// mention them.
const HiddenPrefix = "Hidden__"

// Hidden returns a name by which other packages can refer to a type that its package does not
// export, or "" if there is none.
func Hidden(o *types.TypeName) string {
	if o.Pkg() == nil || o.Pkg().Scope().Lookup(HiddenPrefix+o.Name()) == nil {
		return ""
	}
	return HiddenPrefix + o.Name()
}

// importerOf returns an importer for a package.
type importerOf struct {
	loader *Loader
	p      *Package
}

func (i importerOf) Import(path string) (*types.Package, error) {
	if exports.Importable(path) == nil {
		return i.loader.compiled.Import(path)
	}
	p, err := i.loader.load(path, i.p)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(i.p.Imports, p) {
		i.p.Imports = append(i.p.Imports, p)
	}
	return p.Types, nil
}

// NewInfo returns an Info that records everything that rewrites use.
func NewInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}
