package interp

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
)

// generics holds the session's generic declarations and the source of generics of the
// standard library, under engine names. The engine itself sees only instances.
type generics struct {
	decls     map[string][]ast.Decl // generic declarations, headers of instances and of other declarations
	instances map[string]string     // names of instances, by their text
	origin    map[string]string     // generic origin of each instance
}

func newGenerics() *generics {
	return &generics{map[string][]ast.Decl{}, map[string]string{}, map[string]string{}}
}

func (g *generics) clone() *generics {
	return &generics{maps.Clone(g.decls), maps.Clone(g.instances), maps.Clone(g.origin)}
}

// instantiate makes the instances of generics that the unit uses, and stores the
// checker's results for the unit in u.
func (s *Session) instantiate(c *cell, u *lower.Unit) error {
	generic := slices.ContainsFunc(u.File.Decls, lower.IsGeneric)
	c.flat = c.flat || slices.ContainsFunc(c.pkg.Imports(), c.packages.has)
	if !generic && !c.flat && len(c.info.Instances) == 0 {
		return nil
	}
	c.generics = s.generics.clone()
	c.keepGenerics(u.File)
	prelude := s.newLazyPrelude(u.File, c.generics, c.sessionDecls())
	g := &lower.Generics{
		File: u.File, Prelude: prelude.file, Known: c.generics.instances, Origin: c.generics.origin,
		Fresh: func(name string) string { return s.slotName(name, c.seq) },
		Want:  prelude.need, Compiled: s.compiled,
		Alias: func(path string) string { prelude.paths[path] = true; return alias(path) },
		Check: func(files []*ast.File) (*types.Package, *types.Info, error) {
			maps.Copy(prelude.paths, c.unitPaths)
			return s.checkUnit(c, files, prelude.paths)
		},
	}
	if err := cmp.Or(g.Run(), prelude.err); err != nil {
		return err
	}
	u.Unmarked = func(name string) bool { return library.IsStd(cmp.Or(g.Origin[name], name)) }
	for name, of := range g.Origin {
		if label, ok := c.labels[of]; ok {
			c.labels[name] = label
		} else if label, ok := s.labels[of]; ok {
			c.labels[name] = label
		}
	}
	maps.Copy(c.unitPaths, prelude.paths)
	for name, d := range library.Index(g.Made) {
		c.generics.decls[name] = append(slices.Clone(c.generics.decls[name]), headers(d.Nodes)...)
	}
	u.Pkg, u.Info = g.Pkg, g.Info
	u.Name = func(o *types.TypeName) (ast.Expr, error) { return compiled(o, g.Pkg, c.unitPaths) }
	return nil
}

// keepGenerics records the generic declarations of the unit for later cells.
func (c *cell) keepGenerics(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if !lower.IsGeneric(d) {
				continue
			}
			name := d.Name.Name
			if d.Recv != nil {
				name = lower.Receiver(d)
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

// compiled makes a compiled instance of a generic function available to units.
func (s *Session) compiled(instance string, t types.Type) ast.Expr {
	name, f, ok := library.Compiled(instance)
	if !ok {
		return nil
	}
	if s.std.instances[name] == nil {
		s.bindSupportSymbols(map[string]reflect.Value{name: f})
		s.std.instances[name] = t
	}
	return lower.SupportName(name)
}

// checkUnit runs the checker over trees with engine names. It ignores errors that only
// an instance of valid code can have.
func (s *Session) checkUnit(c *cell, files []*ast.File, paths map[string]bool) (*types.Package, *types.Info, error) {
	info := library.NewInfo()
	var first error
	cfg := types.Config{
		Importer: supportImporter{c.importer, s.std.instances},
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

// inInstance reports whether an error of the checker is one that only an instance of
// valid code can have.
func inInstance(msg string) bool {
	return strings.HasPrefix(msg, "duplicate case ") || strings.HasPrefix(msg, "duplicate key ") || strings.HasPrefix(msg, "impossible type ") ||
		strings.HasPrefix(msg, "missing function body") || strings.HasPrefix(msg, "func ") && strings.HasSuffix(msg, "missing body") ||
		strings.HasPrefix(msg, "undefined: ") && strings.Contains(msg, "__hook")
}

// supportImporter provides the package of support functions that units mention before
// they are lowered.
type supportImporter struct {
	types.Importer
	instances map[string]types.Type
}

func (i supportImporter) Import(path string) (*types.Package, error) {
	if path != lower.SupportPath {
		return i.Importer.Import(path)
	}
	p := types.NewPackage(path, path)
	text, anything := types.Typ[types.String], types.Universe.Lookup("any").Type()
	declare := func(name string, t types.Type) {
		p.Scope().Insert(types.NewFunc(token.NoPos, p, name, t.(*types.Signature)))
	}
	for name, params := range map[string][]types.Type{"Zero": {text}, "Method": {text, anything}} {
		var vars []*types.Var
		for _, t := range params {
			vars = append(vars, types.NewParam(token.NoPos, p, "", t))
		}
		declare(name, types.NewSignatureType(nil, nil, nil, types.NewTuple(vars...), nil, false))
	}
	for name, t := range i.instances {
		declare(name, t)
	}
	p.MarkComplete()
	return p, nil
}
