package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/engine"
	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// packages holds the packages that the session runs from source: those of the working
// directory's module and of the modules it requires, and packages of the standard
// library that are not in the binary. Their declarations have separate engine names.
type packages struct {
	loader *library.Loader
	units  map[*types.Package]*sourceUnit
	files  map[string]*sourceFile
	// pending holds the packages that have been read again and whose users are still to be
	// compiled again; reloaded those that have been read again at any time.
	pending, reloaded map[string]bool
	versions          int // number of retired packages
}

// sourceUnit is a package on its way to the engine.
type sourceUnit struct {
	*library.Package
	seq      int            // sequence number, part of its names in the engine
	declared bool           // known to the engine
	program  engine.Program // its initialization, nil once that is done
}

// sourceFile is a file of a package, for tracebacks.
type sourceFile struct{ name, text string }

func newPackages(files *token.FileSet, binary types.ImporterFrom) *packages {
	return &packages{
		loader: library.NewLoader(files, binary), units: map[*types.Package]*sourceUnit{}, files: map[string]*sourceFile{},
		pending: map[string]bool{}, reloaded: map[string]bool{},
	}
}

// importSource returns the package at a path for an import of a cell.
func (s *Session) importSource(path string) (*types.Package, error) {
	pkg, err := s.packages.loader.Load(path)
	if err != nil {
		return nil, err
	}
	for _, dep := range closure(pkg, nil) {
		if s.packages.units[dep.Types] == nil {
			s.packages.units[dep.Types] = &sourceUnit{Package: dep, seq: s.freeSeq(dep.Types)}
		}
	}
	return pkg.Types, nil
}

// closure appends a package to list, after the packages that it imports.
func closure(p *library.Package, list []*library.Package) []*library.Package {
	if slices.Contains(list, p) {
		return list
	}
	for _, dep := range p.Imports {
		list = closure(dep, list)
	}
	return append(list, p)
}

// has reports whether a package is run from source.
func (p *packages) has(pkg *types.Package) bool {
	if pkg == nil {
		return false
	}
	l := p.loader.Loaded(pkg.Path())
	return l != nil && l.Types == pkg
}

// name returns the engine's name of a package's declaration, or "" for other objects.
func (p *packages) name(o types.Object) string {
	if o == nil || o.Pkg() == nil || o.Parent() != o.Pkg().Scope() || p.units[o.Pkg()] == nil {
		return ""
	}
	name := strings.TrimPrefix(o.Name(), library.HiddenPrefix)
	return fmt.Sprintf("%s_%s__%d", o.Pkg().Name(), name, p.units[o.Pkg()].seq)
}

// object returns the object with a name in the engine, or nil if it does not belong to a
// package.
func (p *packages) object(name string) types.Object {
	for pkg := range p.units {
		prefix := pkg.Name() + "_"
		short, found := strings.CutPrefix(name, prefix)
		if !found {
			continue
		}
		short, _, _ = strings.Cut(short, "__")
		if o := pkg.Scope().Lookup(short); o != nil && p.name(o) == name {
			return o
		}
	}
	return nil
}

func (p *packages) file(name string) *sourceFile { return p.files[name] }

// start initializes packages, once each.
func (p *packages) start(list []*sourceUnit) error {
	for i, u := range list {
		if u.program == nil {
			continue
		}
		if err := u.program.Run(); err != nil {
			for _, u := range list[i:] { // the next import reads them again
				delete(p.units, u.Types)
			}
			p.forget()
			return err
		}
		u.program.Free()
		u.program = nil
	}
	return nil
}

// forget drops packages that have only been inspected: their files may have changed by
// the time they are imported.
func (p *packages) forget() {
	maps.DeleteFunc(p.units, func(_ *types.Package, u *sourceUnit) bool { return !u.declared })
	p.loader.Keep(func(l *library.Package) bool { return p.units[l.Types] != nil })
}

// declarePackages passes the cell's imports to the engine, with their dependencies.
func (s *Session) declarePackages(c *cell) error {
	var list []*library.Package
	paths := slices.Concat(c.imported, slices.Sorted(maps.Values(c.env.imports)), c.env.dots)
	for _, path := range paths {
		if l := s.packages.loader.Loaded(path); l != nil {
			list = closure(l, list)
		}
	}
	for _, l := range list {
		u := s.packages.units[l.Types]
		if u == nil {
			continue // only inspected, for completion
		}
		if !u.declared {
			if err := s.declarePackage(c, u); err != nil {
				delete(s.packages.units, l.Types)
				return s.refused(c, u, err)
			}
			u.declared = true
		}
		if u.program != nil {
			c.starts = append(c.starts, u)
		}
	}
	return nil
}

// freeSeq returns a number that is unused in the names of a package.
func (s *Session) freeSeq(pkg *types.Package) int {
	s.seq++
	for _, name := range pkg.Scope().Names() {
		s.slots[fmt.Sprintf("%s_%s__%d", pkg.Name(), name, s.seq)] = true
	}
	return s.seq
}

// refused returns the error of a package that is valid Go but cannot run.
func (s *Session) refused(c *cell, u *sourceUnit, err error) error {
	what := err.Error()
	if x, ok := err.(*lower.Unsupported); ok {
		what = fmt.Sprintf("%s: %s", u.Position(c.fset, x.Pos), what)
	} else if pos, rest, ok := position(what); ok && pos.Line > 0 {
		pos.Filename = u.Name(pos.Filename)
		what = fmt.Sprintf("%s: %s", pos, rest)
	}
	return &rejected{"Unsupported", []problem{{cell: c.n, line: 1, col: 1, msg: fmt.Sprintf(
		"package %q is valid Go, but not supported by the interpreter yet: %s", u.Path, versioned.ReplaceAllString(what, "$1"))}}}
}

// declarePackage passes a package to the engine: its declarations, and a function that
// initializes it. It consumes the package's trees.
func (s *Session) declarePackage(by *cell, u *sourceUnit) error {
	c := s.newCell(by.ctx, kernel.Cell{Count: by.n}, by.out)
	c.pkg, c.info, c.flat = types.NewPackage("main", "main"), library.NewInfo(), true
	c.names = map[types.Object]*binding{}
	e := &emission{}
	if err := c.emitPackage(e, u); err != nil {
		return err
	}
	entry := &ast.FuncDecl{
		Name: ast.NewIdent(c.entry()), Type: &ast.FuncType{Func: u.Files[0].Package, Params: &ast.FieldList{}},
		Body: &ast.BlockStmt{List: slices.Concat(e.start, e.inits)},
	}
	file := &ast.File{Package: u.Files[0].Package, Name: ast.NewIdent("main"), Decls: slices.Concat(e.types, e.vars, e.funcs)}
	for name, d := range library.Index(append(e.consts, file.Decls...)) {
		if !d.Generic {
			s.generics.decls[name] = headers(d.Nodes)
		}
	}
	file.Decls = append(file.Decls, entry)
	x := s.newUnit(c, file, entry)
	if s.engine.Needs().Instances {
		if err := s.instantiate(c, x); err != nil {
			return err
		}
	} else {
		x.Pkg, x.Info = u.Types, u.Info
		s.unpackage(c, x)
	}
	rewrites := s.engine.Needs().Rewrites
	if u.SharedLoopVars() {
		rewrites = slices.DeleteFunc(slices.Clone(rewrites), func(name string) bool { return name == "loopvar" })
	}
	if err := s.rewrite(c, x, rewrites); err != nil {
		return err
	}
	if !s.engine.Needs().Instances {
		if err := s.include(c, x); err != nil {
			return err
		}
	}
	for name, text := range u.Text {
		s.packages.files[name] = &sourceFile{u.Name(name), text}
	}
	base := s.noteMarks(c, x.Marks)
	file.Decls = append([]ast.Decl{importDecl(c.unitPaths)}, file.Decls...)
	var err error
	u.program, err = s.engine.Declare(&engine.Unit{N: by.n, Entry: c.entry(), File: file, Fset: c.fset, Pkg: x.Pkg, Info: x.Info})
	if err != nil {
		s.unmark(base)
		return err
	}
	maps.Copy(s.labels, c.labels)
	s.labels[c.entry()] = "the initialization of package " + u.Types.Name()
	if c.generics != nil {
		s.generics = c.generics
	}
	if c.included != nil {
		s.included = c.included
	}
	return nil
}

// emitPackage adds the declarations of a package under the engine's names.
func (c *cell) emitPackage(e *emission, u *sourceUnit) error {
	flat := &lower.Flat{Info: u.Info, Dots: true, Name: c.flatName, Alias: func(path string) string {
		c.unitPaths[path] = true
		return alias(path)
	}}
	scope := u.Types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		switch o := o.(type) {
		case *types.Const:
			decls, err := header(o, c.engineNames)
			if err != nil {
				return &lower.Unsupported{Pos: o.Pos(), What: err.Error()}
			}
			for _, id := range declared(decls) {
				id.Name = c.flatName(o)
			}
			e.consts = append(e.consts, decls...)
		case *types.Var:
			if err := c.slot(e, c.flatName(o), o.Type()); err != nil {
				return &lower.Unsupported{Pos: o.Pos(), What: err.Error()}
			}
		}
	}
	for _, in := range u.Info.InitOrder {
		if st := c.initialize(in, u.Info); st != nil {
			e.start = append(e.start, flat.Apply(st).(ast.Stmt))
		}
	}
	for _, f := range u.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				if d.Tok == token.TYPE {
					e.types = append(e.types, flat.Apply(d).(ast.Decl))
				}
			case *ast.FuncDecl:
				if err := c.emitFunc(e, u, flat, d); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// initialize returns the statement that initializes package variables, or nil if it has no
// effect.
func (c *cell) initialize(in *types.Initializer, info *types.Info) ast.Stmt {
	st := &ast.AssignStmt{TokPos: in.Rhs.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{in.Rhs}}
	blank := true
	for _, v := range in.Lhs {
		id := &ast.Ident{NamePos: v.Pos(), Name: "_"}
		if v.Name() != "_" {
			blank = false
			info.Uses[id] = v
		}
		st.Lhs = append(st.Lhs, id)
	}
	if blank { // var _ I = (*T)(nil) is only for the checker
		calls := false
		ast.Inspect(in.Rhs, func(n ast.Node) bool {
			x, ok := n.(*ast.CallExpr)
			calls = calls || ok && !info.Types[x.Fun].IsType()
			return true
		})
		if !calls {
			return nil
		}
	}
	return st
}

// emitFunc adds a function or method.
func (c *cell) emitFunc(e *emission, u *sourceUnit, flat *lower.Flat, d *ast.FuncDecl) error {
	fn, _ := u.Info.Defs[d.Name].(*types.Func)
	if d.Name.Name == "_" || fn == nil {
		return nil
	}
	label := u.Types.Name() + "." + d.Name.Name
	generic := lower.IsGeneric(d)
	if d.Recv == nil {
		d = flat.Apply(d).(*ast.FuncDecl)
		if fn.Name() == "init" {
			c.inits++
			d.Name.Name = fmt.Sprintf("init__%d_%d", c.seq, c.inits)
			e.inits = append(e.inits, &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent(d.Name.Name)}})
		}
		c.labels[d.Name.Name] = label
		e.funcs = append(e.funcs, d)
		return nil
	}
	label = u.Types.Name() + "." + lower.Receiver(d) + "." + d.Name.Name
	if _, ok := fn.Signature().Recv().Type().(*types.Pointer); ok {
		label = "(*" + u.Types.Name() + "." + lower.Receiver(d) + ")." + d.Name.Name
	}
	d = flat.Apply(d).(*ast.FuncDecl)
	if generic {
		c.labels[d.Name.Name] = label
		e.types = append(e.types, d)
		return nil
	}
	body := fmt.Sprintf("%s_%s__%d", lower.Receiver(d), d.Name.Name, c.seq)
	c.labels[body] = label
	e.funcs = append(e.funcs, methodBody(d, body))
	f, err := c.forward(fn, body)
	if err != nil {
		return &lower.Unsupported{Pos: d.Pos(), What: err.Error()}
	}
	e.funcs = append(e.funcs, f)
	return nil
}
