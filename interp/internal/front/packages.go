package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Packages holds the packages that the session runs from source: those of the working
// directory's module and of the modules it requires, and packages of the standard
// library that are not in the binary. Their declarations have separate engine names.
type Packages struct {
	Loader *library.Loader
	Units  map[*types.Package]*SourceUnit
	Files  map[string]*SourceFile
	// Pending holds the packages that have been read again and whose users are still to be
	// compiled again; reloaded those that have been read again at any time.
	Pending, reloaded map[string]bool
	versions          int    // number of retired packages
	modules           string // state of go.mod when the last cell ran
	// next numbers the packages, and slots holds their names in the engine.
	next  func() int
	slots map[string]bool
}

// SourceUnit is a package on its way to the engine.
type SourceUnit struct {
	*library.Package
	seq      int                     // sequence number, part of its names in the engine
	locals   map[types.Object]string // engine names of types that its functions declare
	Declared bool                    // known to the engine
	Program  engine.Program          // its initialization, nil once that is done
}

// SourceFile is a file of a package, for tracebacks.
type SourceFile struct{ Name, Text string }

func NewPackages(files *token.FileSet, binary types.ImporterFrom, next func() int) *Packages {
	return &Packages{
		Loader: library.NewLoader(files, binary), Units: map[*types.Package]*SourceUnit{}, Files: map[string]*SourceFile{},
		Pending: map[string]bool{}, reloaded: map[string]bool{}, next: next, slots: map[string]bool{},
	}
}

// use returns the package at a path for an import of a cell.
func (p *Packages) use(path string) (*types.Package, error) {
	pkg, err := p.Loader.Load(path)
	if err != nil {
		return nil, err
	}
	for _, dep := range Closure(pkg, nil) {
		if p.Units[dep.Types] == nil {
			p.Units[dep.Types] = &SourceUnit{Package: dep, seq: p.next()}
			for _, name := range dep.Types.Scope().Names() {
				p.slots[p.name(dep.Types.Scope().Lookup(name))] = true
			}
		}
	}
	return pkg.Types, nil
}

// Closure appends a package to list, after the packages that it imports.
func Closure(p *library.Package, list []*library.Package) []*library.Package {
	if slices.Contains(list, p) {
		return list
	}
	for _, dep := range p.Imports {
		list = Closure(dep, list)
	}
	return append(list, p)
}

// has reports whether a package is run from source.
func (p *Packages) has(pkg *types.Package) bool {
	if pkg == nil {
		return false
	}
	l := p.Loader.Loaded(pkg.Path())
	return l != nil && l.Types == pkg
}

// name returns the engine's name of a package's declaration, or "" for other objects.
func (p *Packages) name(o types.Object) string {
	if o == nil || o.Pkg() == nil || p.Units[o.Pkg()] == nil {
		return ""
	}
	u := p.Units[o.Pkg()]
	if o.Parent() != o.Pkg().Scope() {
		return u.locals[o]
	}
	return u.name(strings.TrimPrefix(o.Name(), library.HiddenPrefix))
}

// name returns the engine's name of a declaration by its name in the package.
func (u *SourceUnit) name(name string) string {
	return fmt.Sprintf("%s_%s__%d", u.Types.Name(), name, u.seq)
}

// nameLocals gives the types that functions declare separate names in the engine: values of them are written outside their scopes.
func (u *SourceUnit) nameLocals() {
	u.locals = map[types.Object]string{}
	for _, f := range u.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok && t.Name.Name != "_" {
				if o := u.Info.Defs[t.Name]; o.Parent() != u.Types.Scope() {
					u.locals[o] = fmt.Sprintf("%s_t%d", u.name(o.Name()), len(u.locals))
				}
			}
			return true
		})
	}
}

// Object returns the object with a name in the engine, or nil if it does not belong to a
// package.
func (p *Packages) Object(name string) types.Object {
	for pkg, u := range p.Units {
		prefix := pkg.Name() + "_"
		short, found := strings.CutPrefix(name, prefix)
		if !found {
			continue
		}
		short, _, _ = strings.Cut(short, "__")
		if o := pkg.Scope().Lookup(short); o != nil && p.name(o) == name {
			return o
		}
		for o, local := range u.locals {
			if local == name {
				return o
			}
		}
	}
	return nil
}

func (p *Packages) File(name string) *SourceFile { return p.Files[name] }

// Start initializes packages, once each.
func (p *Packages) Start(list []*SourceUnit) error {
	for i, u := range list {
		if u.Program == nil {
			continue
		}
		if err := u.Program.Run(); err != nil {
			for _, u := range list[i:] { // the next import reads them again
				delete(p.Units, u.Types)
			}
			p.Forget()
			return err
		}
		u.Program.Free()
		u.Program = nil
	}
	return nil
}

// Forget drops packages that have only been inspected: their files may have changed by
// the time they are imported.
func (p *Packages) Forget() {
	maps.DeleteFunc(p.Units, func(_ *types.Package, u *SourceUnit) bool { return !u.Declared })
	p.Loader.Keep(func(l *library.Package) bool { return p.Units[l.Types] != nil })
}

// Refused returns the error of a package that is valid Go but cannot run.
func (c *Checked) Refused(u *SourceUnit, err error) error {
	what := err.Error()
	if x, ok := err.(*lower.Unsupported); ok {
		what = fmt.Sprintf("%s: %s", u.Position(c.Session.Fset, x.Pos), what)
	} else if pos, rest, ok := position(what); ok && pos.Line > 0 {
		pos.Filename = u.Name(pos.Filename)
		what = fmt.Sprintf("%s: %s", pos, rest)
	}
	return &syntax.Rejected{Name: "Unsupported", Problems: []syntax.Problem{{Cell: c.N, Line: 1, Col: 1, Msg: fmt.Sprintf(
		"package %q is valid Go, but not supported by the interpreter yet: %s", u.Path, syntax.Versioned.ReplaceAllString(what, "$1"))}}}
}

// Lower turns a package into a unit: its declarations, and a function that initializes it. It
// consumes the package's trees. by is the cell that imports it.
func (u *SourceUnit) Lower(by Input, e *Env, to *Target) (*Lowering, error) {
	main := &Checked{Parsed: &Parsed{Input: by, Env: e}, Known: e, Pkg: types.NewPackage("main", "main"), Info: library.NewInfo()}
	c := NewLowering(&Bound{Checked: main, Env: e, Slots: map[string]bool{}, UnitPaths: map[string]bool{}, flat: true}, to)
	m := &Emission{}
	if err := c.emitPackage(m, u); err != nil {
		return nil, err
	}
	entry := &ast.FuncDecl{
		Name: ast.NewIdent(c.Entry()), Type: &ast.FuncType{Func: u.Files[0].Package, Params: &ast.FieldList{}},
		Body: &ast.BlockStmt{List: slices.Concat(m.Start, m.inits)},
	}
	file := &ast.File{Package: u.Files[0].Package, Name: ast.NewIdent("main"), Decls: slices.Concat(m.types, m.Vars, m.Funcs)}
	c.Generics = to.Generics.clone()
	for name, d := range library.Index(append(m.consts, file.Decls...)) {
		if !d.Generic {
			c.Generics.Decls[name] = headers(d.Nodes)
		}
	}
	file.Decls = append(file.Decls, entry)
	x := c.newUnit(file, entry)
	if c.to.Needs.Instances {
		if err := c.instantiate(x); err != nil {
			return nil, err
		}
	} else {
		x.Pkg, x.Info = u.Types, u.Info
		c.unpackage(x)
	}
	rewrites := c.to.Needs.Rewrites
	if u.SharedLoopVars() {
		rewrites = slices.DeleteFunc(slices.Clone(rewrites), func(name string) bool { return name == "loopvar" })
	}
	if err := c.rewrite(x, rewrites); err != nil {
		return nil, err
	}
	if !c.to.Needs.Instances {
		if err := c.include(x); err != nil {
			return nil, err
		}
	}
	c.Marks = x.Marks
	c.Labels[c.Entry()] = "the initialization of package " + u.Types.Name()
	file.Decls = append([]ast.Decl{ImportDecl(c.UnitPaths)}, file.Decls...)
	c.Unit = &engine.Unit{N: by.N, Entry: c.Entry(), File: file, Fset: c.Session.Fset, Pkg: x.Pkg, Info: x.Info}
	return c, nil
}

// emitPackage adds the declarations of a package under the engine's names.
func (c *Lowering) emitPackage(e *Emission, u *SourceUnit) error {
	u.nameLocals()
	flat := &lower.Flat{Info: u.Info, Dots: true, Name: c.flatName, Alias: func(path string) string {
		c.UnitPaths[path] = true
		return Alias(path)
	}}
	scope := u.Types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		switch o := o.(type) {
		case *types.Const:
			decls, err := headerOf(o, c.EngineNames)
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
	methods := c.genericMethods(u.Info)
	for _, in := range u.Info.InitOrder {
		if st := c.initialize(in, u.Info); st != nil {
			if _, err := methods.Uses(st); err != nil {
				return err
			}
			e.Start = append(e.Start, flat.Apply(st).(ast.Stmt))
		}
	}
	for _, f := range u.Files {
		for _, d := range f.Decls {
			if _, err := methods.Uses(d); err != nil {
				return err
			}
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
func (c *Lowering) initialize(in *types.Initializer, info *types.Info) ast.Stmt {
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
func (c *Lowering) emitFunc(e *Emission, u *SourceUnit, flat *lower.Flat, d *ast.FuncDecl) error {
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
			d.Name.Name = fmt.Sprintf("init__%d_%d", c.Seq, c.inits)
			e.inits = append(e.inits, &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent(d.Name.Name)}})
		}
		c.Labels[d.Name.Name] = label
		e.Funcs = append(e.Funcs, d)
		return nil
	}
	label = u.Types.Name() + "." + lower.Receiver(d) + "." + d.Name.Name
	if _, ok := fn.Signature().Recv().Type().(*types.Pointer); ok {
		label = "(*" + u.Types.Name() + "." + lower.Receiver(d) + ")." + d.Name.Name
	}
	d = flat.Apply(d).(*ast.FuncDecl)
	if name := c.Session.Packages.methodName(fn); name != "" {
		c.Labels[name] = label
		e.Funcs = append(e.Funcs, d)
		return c.genericMethods(u.Info).Decl(d, fn, name)
	}
	if generic {
		c.Labels[d.Name.Name] = label
		e.types = append(e.types, d)
		return nil
	}
	body := fmt.Sprintf("%s_%s__%d", lower.Receiver(d), d.Name.Name, c.Seq)
	c.Labels[body] = label
	e.Funcs = append(e.Funcs, methodBody(d, body))
	f, err := c.forward(fn, body)
	if err != nil {
		return &lower.Unsupported{Pos: d.Pos(), What: err.Error()}
	}
	e.Funcs = append(e.Funcs, f)
	return nil
}

// Interpreted reports whether a type belongs to a cell or to a package run from source,
// or is generic.
func (p *Packages) Interpreted(o types.Object, pkg *types.Package) bool {
	return o.Pkg() == pkg || p.Units[o.Pkg()] != nil || library.Generic(o)
}

// Own reports whether values of t may contain values of interpreted types, or are
// better described by the checker, as functions are.
func (p *Packages) Own(t types.Type, pkg *types.Package) bool {
	seen := map[types.Type]bool{}
	var walk func(types.Type) bool
	walk = func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			return p.Interpreted(t.Origin().Obj(), pkg)
		case *types.Pointer:
			return walk(t.Elem())
		case *types.Slice:
			return walk(t.Elem())
		case *types.Array:
			return walk(t.Elem())
		case *types.Map:
			return walk(t.Key()) || walk(t.Elem())
		case *types.Struct, *types.Signature:
			return true
		}
		return false
	}
	return walk(t)
}
