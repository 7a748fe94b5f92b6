package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/lower"
)

// generics is what the session keeps of generic declarations, in the engine's
// names: the engine itself sees only their instances.
type generics struct {
	decls     map[string][]ast.Decl // by name: the declaration and, of types, the methods
	instances map[string]string     // names by the text of the instance
	made      []ast.Decl            // declarations of the instances, without bodies
	origin    map[string]string     // what each instance is one of
}

func newGenerics() *generics {
	return &generics{decls: map[string][]ast.Decl{}, instances: map[string]string{}, origin: map[string]string{}}
}

func (g *generics) clone() *generics {
	return &generics{maps.Clone(g.decls), maps.Clone(g.instances), slices.Clone(g.made), maps.Clone(g.origin)}
}

// instantiate makes the instances of generics that the unit uses, and leaves what
// the checker says of the unit in u.
func (s *Session) instantiate(c *cell, u *lower.Unit) error {
	generic := slices.ContainsFunc(u.File.Decls, lower.IsGeneric)
	if !generic && len(s.generics.decls) == 0 && len(c.info.Instances) == 0 {
		return nil
	}
	c.generics = s.generics.clone()
	c.keepGenerics(u.File)
	paths := map[string]bool{}
	alias := func(path string) string { paths[path] = true; return alias(path) }
	prelude := c.enginePrelude(u.File, paths)
	g := &lower.Generics{
		File: u.File, Prelude: prelude, Known: c.generics.instances, Origin: c.generics.origin,
		Fresh: func(name string) string { return s.slotName(name, c.seq) },
		Alias: alias,
		Check: func(files []*ast.File) (*types.Package, *types.Info, error) {
			maps.Copy(paths, c.unitPaths)
			return s.checkUnit(c, files, paths)
		},
	}
	if err := g.Run(); err != nil {
		return err
	}
	for name, of := range g.Origin {
		if label, ok := c.labels[of]; ok {
			c.labels[name] = label
		} else if label, ok := s.labels[of]; ok {
			c.labels[name] = label
		}
	}
	maps.Copy(c.unitPaths, paths)
	for _, d := range g.Made {
		d = lower.Clone(d, nil)
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
		c.generics.made = append(c.generics.made, d)
	}
	u.Pkg, u.Info = g.Pkg, g.Info
	u.Name = func(o *types.TypeName) (ast.Expr, error) {
		if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 && o.Pkg() != nil && o.Pkg() != g.Pkg {
			return nil, fmt.Errorf("the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
		}
		if e, err := foreign(g.Pkg, o, c.unitPaths); e != nil || err != nil {
			return e, err
		}
		return ast.NewIdent(o.Name()), nil
	}
	return nil
}

// keepGenerics notes the generic declarations of the unit for later cells.
func (c *cell) keepGenerics(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !lower.IsGeneric(d) {
				continue
			}
			name := d.Name.Name
			if d.Recv != nil {
				name = receiver(d)
			}
			c.generics.decls[name] = append(slices.Clone(c.generics.decls[name]), lower.Clone(d, nil))
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				if spec := spec.(*ast.TypeSpec); spec.TypeParams != nil {
					one := &ast.GenDecl{TokPos: spec.Pos(), Tok: token.TYPE, Specs: []ast.Spec{lower.Clone(spec, nil)}}
					c.generics.decls[spec.Name.Name] = append(slices.Clone(c.generics.decls[spec.Name.Name]), one)
				}
			}
		}
	}
}

// enginePrelude declares, in the engine's names, what a unit may use of earlier
// ones.
func (c *cell) enginePrelude(unit *ast.File, paths map[string]bool) *ast.File {
	f := &ast.File{Package: c.stmts.Package, Name: ast.NewIdent("main")}
	declared := map[string]bool{}
	for _, d := range unit.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				declared[d.Name.Name] = true
			} else {
				declared[receiver(d)+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declared[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						declared[id.Name] = true
					}
				}
			}
		}
	}
	names := func(o *types.TypeName) (ast.Expr, error) {
		if e, err := foreign(c.pkg, o, paths); e != nil || err != nil {
			return e, err
		}
		if b := c.bindingOf(o); b != nil {
			return ast.NewIdent(b.slot), nil
		}
		return ast.NewIdent(o.Name()), nil
	}
	add := func(d ast.Decl) {
		locate(d, c.ground)
		f.Decls = append(f.Decls, d)
	}
	for _, name := range slices.Sorted(maps.Keys(c.generics.decls)) {
		if declared[name] {
			continue
		}
		declared[name] = true
		for _, d := range c.generics.decls[name] {
			add(lower.Clone(d, nil))
		}
	}
	for _, d := range c.generics.made {
		add(lower.Clone(d, nil))
	}
	objects := map[types.Object]bool{}
	for o := range c.names {
		objects[o] = true
	}
	for _, name := range c.pkg.Scope().Names() {
		objects[c.pkg.Scope().Lookup(name)] = true
	}
	order := func(a, b types.Object) int { return strings.Compare(a.Name(), b.Name()) }
	for _, o := range slices.SortedFunc(maps.Keys(objects), order) {
		b := c.bindingOf(o)
		if b == nil {
			continue
		}
		if !declared[b.slot] {
			decls, err := header(o, names)
			if err != nil {
				continue
			}
			declared[b.slot] = true
			for _, d := range decls {
				for _, id := range declaredIdents(d) {
					id.Name = b.slot
				}
				add(d)
			}
		}
		if fn, ok := o.(*types.Func); ok && b.hook != "" && !declared[b.hook] {
			if t, err := lower.FuncType(fn.Signature(), names); err == nil {
				declared[b.hook] = true
				add(varDecl(b.hook, t))
			}
		}
		if tn, ok := o.(*types.TypeName); ok && !b.generic {
			c.preludeMethods(tn, b, declared, names, add)
		}
	}
	return f
}

// preludeMethods declares the methods of a type that the unit does not declare.
func (c *cell) preludeMethods(o *types.TypeName, b *binding, declared map[string]bool, names lower.Namer, add func(ast.Decl)) {
	n, ok := o.Type().(*types.Named)
	if !ok || o.IsAlias() {
		return
	}
	for m := range n.Methods() {
		if declared[b.slot+"."+m.Name()] {
			continue
		}
		declared[b.slot+"."+m.Name()] = true
		var recv ast.Expr = ast.NewIdent(b.slot)
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			recv = &ast.StarExpr{X: recv}
		}
		if d, err := funcHeader(m, recv, names); err == nil {
			add(d)
		}
	}
}

func declaredIdents(d ast.Decl) []*ast.Ident { return declared([]ast.Decl{d}) }

// checkUnit runs the checker over trees in the engine's names. What a program may
// not say in so many words, and an instance does, is no error.
func (s *Session) checkUnit(c *cell, files []*ast.File, paths map[string]bool) (*types.Package, *types.Info, error) {
	info := newInfo()
	var first error
	cfg := types.Config{
		Importer: supportImporter{c.importer},
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok || first != nil || tolerated(e.Msg) || strings.HasPrefix(e.Msg, "\t") || inInstance(e.Msg) ||
				strings.HasSuffix(e.Msg, " is not used") {
				return
			}
			first = &lower.Unsupported{Pos: e.Pos, What: e.Msg}
		},
	}
	imports := importDecl(paths)
	imports.Specs = append(imports.Specs, importSpec(alias(lower.SupportPath), lower.SupportPath))
	var list []*ast.File
	for _, f := range files {
		list = append(list, &ast.File{Package: f.Package, Name: f.Name, Decls: append([]ast.Decl{imports}, f.Decls...)})
	}
	pkg := types.NewPackage("main", "main")
	for _, name := range c.pkg.Scope().Names() {
		if o := c.pkg.Scope().Lookup(name); o.Pkg() != c.pkg {
			pkg.Scope().Insert(o)
		}
	}
	_ = types.NewChecker(&cfg, c.fset, pkg, info).Files(list)
	return pkg, info, first
}

// inInstance tells whether the checker complains of what only an instance of valid
// code can say.
func inInstance(msg string) bool {
	return strings.HasPrefix(msg, "duplicate case ") || strings.HasPrefix(msg, "duplicate key ") || strings.HasPrefix(msg, "impossible type ") ||
		strings.HasPrefix(msg, "missing function body") || strings.HasPrefix(msg, "func ") && strings.HasSuffix(msg, "missing body") ||
		strings.HasPrefix(msg, "undefined: ") && strings.Contains(msg, "__hook")
}

// supportImporter knows the package of support functions, as far as units mention
// it before they are lowered.
type supportImporter struct{ types.Importer }

func (i supportImporter) Import(path string) (*types.Package, error) {
	if path != lower.SupportPath {
		return i.Importer.Import(path)
	}
	p := types.NewPackage(path, path)
	text, anything := types.Typ[types.String], types.Universe.Lookup("any").Type()
	for name, params := range map[string][]types.Type{"Zero": {text}, "Method": {text, anything}} {
		var vars []*types.Var
		for _, t := range params {
			vars = append(vars, types.NewParam(token.NoPos, p, "", t))
		}
		p.Scope().Insert(types.NewFunc(token.NoPos, p, name, types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), nil, false)))
	}
	p.MarkComplete()
	return p, nil
}
