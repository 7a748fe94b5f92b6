package systems

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/asmdecl"

	"halfnote/internal/testenv"
)

// listed is a package as the go command lists it.
type listed struct {
	ImportPath, Dir           string
	GoFiles, CgoFiles, SFiles []string
	ImportMap                 map[string]string
	Standard                  bool
	Module                    *struct {
		GoVersion string
		Main      bool
	}
	Error *struct{ Err string }
}

// own reports whether the package is part of this module.
func (p *listed) own() bool { return p.Module != nil && p.Module.Main }

// list lists packages with all that they import, each after its imports.
func list(v Variant, patterns []string) (found []*listed, err error) {
	args := []string{"list", "-e", "-deps", "-tags=" + v.Tags, "-json=ImportPath,Dir,GoFiles,CgoFiles,SFiles,ImportMap,Standard,Module,Error", "--"}
	cmd := exec.Command("go", append(args, patterns...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), v.environment()...)
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			err = fmt.Errorf("%w\n%s", err, e.Stderr)
		}
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		switch err := d.Decode(p); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		if v.Later && p.own() {
			context := build.Default
			context.GOOS, context.GOARCH, context.CgoEnabled = v.GOOS, v.GOARCH, v.Cgo
			for minor := range 100 {
				context.ReleaseTags = append(context.ReleaseTags, fmt.Sprintf("go1.%d", minor))
			}
			as, err := context.ImportDir(p.Dir, 0)
			if err != nil {
				return nil, err
			}
			p.GoFiles, p.CgoFiles, p.SFiles = as.GoFiles, as.CgoFiles, as.SFiles
		}
		found = append(found, p)
	}
}

// root is the folder of the module.
const root = "../.."

// environment is what the go command needs to build the variant, whatever the tests were started with.
func (v Variant) environment() []string {
	cgo := "0"
	if v.Cgo {
		cgo = "1"
	}
	return []string{"GOOS=" + v.GOOS, "GOARCH=" + v.GOARCH, "CGO_ENABLED=" + cgo, "GOFLAGS=", "GOWORK=off"}
}

func (v Variant) String() string {
	s := v.GOOS + "/" + v.GOARCH
	if v.Tags != "" {
		s += " with the tag " + v.Tags
	}
	if v.Later {
		s += " with a later Go"
	}
	return s
}

// sources parses files, each once for all systems.
type sources struct {
	files   *token.FileSet
	tracked map[string]bool   // folders below the root with tracked files; the others are a user's own
	replace map[string]string // texts that stand in for those of files, by path below the root

	mu     sync.Mutex
	parsed map[string]func() (*ast.File, error)
}

func newSources(t *testing.T) *sources {
	s := &sources{files: token.NewFileSet(), tracked: map[string]bool{}, parsed: map[string]func() (*ast.File, error){}}
	for _, file := range testenv.Tracked(t, root) {
		s.tracked[path.Dir(file)] = true
	}
	return s
}

// file parses a file, with or without the bodies of its functions.
func (s *sources) file(path string, bodies bool) (*ast.File, error) {
	key := fmt.Sprint(bodies, path)
	s.mu.Lock()
	parse := s.parsed[key]
	if parse == nil {
		parse = sync.OnceValues(func() (*ast.File, error) {
			var text any
			if t, ok := s.replace[below(path)]; ok {
				text = t
			}
			f, err := parser.ParseFile(s.files, path, text, parser.SkipObjectResolution)
			if err != nil || bodies {
				return f, err
			}
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
					d.Body = &ast.BlockStmt{Lbrace: d.Body.Lbrace, Rbrace: d.Body.Rbrace}
				}
			}
			return f, nil
		})
		s.parsed[key] = parse
	}
	s.mu.Unlock()
	return parse()
}

// below returns the path of a file below the root of the module.
func below(path string) string {
	dir, err := filepath.Abs(root)
	if err != nil {
		return path
	}
	if rest, ok := strings.CutPrefix(path, dir+string(filepath.Separator)); ok {
		return filepath.ToSlash(rest)
	}
	return path
}

// checked is the outcome of one variant.
type checked struct {
	variant  Variant
	files    map[string]bool              // Go files of this module that were checked
	packages map[string]map[string]symbol // names of each package of this module
	errs     []string
}

// symbol is a name at the level of a package.
type symbol struct {
	text string // its type, or for a type what others see of it
	file string // where it is declared
	used bool   // whether it is exported or another file uses it
}

// maxErrors is the number of errors that are reported for one variant.
const maxErrors = 30

// check type-checks packages with all that they import. The bodies of functions are checked in this module and,
// if modules is true, in other modules, but not in the standard library, which Go's own builders compile for every system.
func check(v Variant, patterns []string, modules bool, src *sources) (*checked, error) {
	packages, err := list(v, patterns)
	if err != nil {
		return nil, err
	}
	c := &checked{variant: v, files: map[string]bool{}, packages: map[string]map[string]symbol{}}
	done := importer{"unsafe": types.Unsafe}
	sizes := types.SizesFor("gc", v.GOARCH)
	for _, p := range packages {
		if p.ImportPath == "unsafe" || p.own() && !src.tracked[path.Dir(below(filepath.Join(p.Dir, "*")))] {
			continue
		}
		if p.Error != nil {
			c.fail("%s: %s", p.ImportPath, p.Error.Err)
			continue
		}
		bodies := p.own() || modules && !p.Standard
		var files []*ast.File
		for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
			path := filepath.Join(p.Dir, name)
			f, err := src.file(path, bodies)
			if err != nil {
				c.fail("%v", err)
				continue
			}
			if v.Later && f.GoVersion != "" { // the release that runs the test cannot check the language of that one
				same := *f
				same.GoVersion = ""
				f = &same
			}
			files = append(files, f)
			if p.own() {
				c.files[below(path)] = true
			}
		}
		config := types.Config{
			Importer: mapped{done, p.ImportMap}, IgnoreFuncBodies: !bodies, FakeImportC: true, Sizes: sizes,
			Error: func(err error) {
				if !v.Cgo { // names of C have no types here; cuda/build.sh compiles them
					c.fail("%v", err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var info *types.Info
		if p.own() {
			info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
		}
		checked, _ := config.Check(p.ImportPath, src.files, files, info)
		done[p.ImportPath] = checked
		if !p.own() {
			continue
		}
		c.packages[p.ImportPath] = symbols(src.files, checked, info)
		if err := c.assembly(p, src.files, files, checked, info, sizes); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *checked) fail(format string, args ...any) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, fmt.Sprintf(format, args...))
	}
}

// assembly compares assembly with the declarations of its functions, as go vet does.
func (c *checked) assembly(p *listed, files *token.FileSet, syntax []*ast.File, pkg *types.Package, info *types.Info, sizes types.Sizes) error {
	if len(p.SFiles) == 0 {
		return nil
	}
	var others []string
	for _, name := range p.SFiles {
		others = append(others, filepath.Join(p.Dir, name))
	}
	_, err := asmdecl.Analyzer.Run(&analysis.Pass{
		Analyzer: asmdecl.Analyzer, Fset: files, Files: syntax, OtherFiles: others, Pkg: pkg, TypesInfo: info, TypesSizes: sizes, ReadFile: os.ReadFile,
		Report: func(d analysis.Diagnostic) { c.fail("%v: %s", files.Position(d.Pos), d.Message) },
	})
	return err
}

// importer holds the packages that have been checked.
type importer map[string]*types.Package

// mapped is an importer for one package, whose import paths may mean others.
type mapped struct {
	all   importer
	paths map[string]string
}

func (m mapped) Import(path string) (*types.Package, error) {
	if to := m.paths[path]; to != "" {
		path = to
	}
	if p := m.all[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s has not been checked", path)
}

// symbols returns the names of a package.
func symbols(files *token.FileSet, p *types.Package, info *types.Info) map[string]symbol {
	all := map[string]symbol{}
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		all[name] = symbol{text: describe(o), file: below(files.Position(o.Pos()).Filename), used: o.Exported()}
	}
	for id, o := range info.Uses {
		if o.Pkg() != p || o.Parent() != p.Scope() {
			continue
		}
		if s := all[o.Name()]; !s.used && below(files.Position(id.Pos()).Filename) != s.file {
			s.used = true
			all[o.Name()] = s
		}
	}
	return all
}

// describe returns what other files can rely on: the type of a function, variable or constant, and of a type its
// exported fields and methods.
func describe(o types.Object) string {
	t, isType := o.(*types.TypeName)
	if !isType {
		text := types.TypeString(unnamed(o.Type()), nil)
		if _, constant := o.(*types.Const); constant {
			return "const " + text
		}
		return text // a function and a variable of its type are called alike
	}
	named, ok := types.Unalias(t.Type()).(*types.Named)
	if !ok || t.IsAlias() {
		return "type " + types.TypeString(types.Unalias(t.Type()), nil)
	}
	var parts []string
	if s, ok := named.Underlying().(*types.Struct); ok {
		parts = append(parts, "type struct")
		for f := range s.Fields() {
			if f.Exported() {
				parts = append(parts, f.Name()+" "+types.TypeString(f.Type(), nil))
			}
		}
	} else {
		parts = append(parts, "type "+types.TypeString(named.Underlying(), nil))
	}
	var methods []string
	for m := range named.Methods() {
		if m.Exported() {
			methods = append(methods, m.Name()+strings.TrimPrefix(types.TypeString(unnamed(m.Type()), nil), "func"))
		}
	}
	slices.Sort(methods)
	return strings.Join(append(parts, methods...), "; ")
}

// unnamed returns the type of a function without the names of its parameters and results.
func unnamed(t types.Type) types.Type {
	f, ok := t.(*types.Signature)
	if !ok || f.TypeParams() != nil {
		return t
	}
	plain := func(t *types.Tuple) *types.Tuple {
		var list []*types.Var
		for v := range t.Variables() {
			list = append(list, types.NewParam(token.NoPos, nil, "", v.Type()))
		}
		return types.NewTuple(list...)
	}
	return types.NewSignatureType(nil, nil, nil, plain(f.Params()), plain(f.Results()), f.Variadic())
}

// target is a row of the table or a variant, with its packages.
type target struct {
	Variant
	packages []string
	modules  bool // whether nothing else compiles the other modules for the system
}

func (t target) check(src *sources) (*checked, error) {
	return check(t.Variant, t.packages, t.modules, src)
}

func targets() (list []target) {
	for _, s := range Table {
		list = append(list, target{Variant{GOOS: s.GOOS, GOARCH: s.GOARCH}, s.Packages, s.Program == ""})
	}
	for _, v := range Variants {
		list = append(list, target{v, all, false})
	}
	return list
}

// quick are the systems that a run without HALFNOTE_REQUIRE=systems checks: most files with constraints are for one of them.
var quick = []string{"linux/amd64", "windows/amd64", "js/wasm"}

func TestCheck(t *testing.T) {
	src := newSources(t)
	var mu sync.Mutex
	var done []*checked
	whole := testenv.Requires("systems")
	t.Run("types", func(t *testing.T) {
		for _, b := range targets() {
			if !whole && !slices.Contains(quick, b.String()) {
				continue
			}
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				c, err := b.check(src)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range c.errs {
					t.Error(e)
				}
				mu.Lock()
				done = append(done, c)
				mu.Unlock()
			})
		}
	})
	for _, d := range differences(done) {
		if !d.accepted() {
			t.Errorf("%s\nif it is meant, add it to accepted with the reason", d)
		}
	}
	if !whole {
		t.Logf("%s; HALFNOTE_REQUIRE=systems checks all systems and that no file is left out", strings.Join(quick, ", "))
		return
	}
	for _, path := range leftOut(t, done) {
		if unchecked[path] == "" {
			t.Errorf("%s: no system of the table and no variant builds it; add one, or the reason to unchecked", path)
		}
	}
}
