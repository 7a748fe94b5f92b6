package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/clone"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Generics holds the session's generic declarations and the source of generics of the
// standard library, under engine names. The engine itself sees only instances.
type Generics struct {
	Decls     map[string][]ast.Decl // generic declarations, headers of instances and of other declarations
	Instances map[string]string     // names of instances, by their text
	Origin    map[string]string     // generic origin of each instance
	Suffix    map[string]string     // what the names that Go shows have in addition, see lower.Generics
}

func NewGenerics() *Generics {
	return &Generics{map[string][]ast.Decl{}, map[string]string{}, map[string]string{}, map[string]string{}}
}

func (g *Generics) clone() *Generics {
	return &Generics{maps.Clone(g.Decls), maps.Clone(g.Instances), maps.Clone(g.Origin), maps.Clone(g.Suffix)}
}

// instantiate makes the instances of generics that the unit uses, and stores the
// checker's results for the unit in u.
func (c *Lowering) instantiate(u *lower.Unit) error {
	generic := slices.ContainsFunc(u.File.Decls, lower.IsGeneric)
	c.flat = c.flat || slices.ContainsFunc(c.Pkg.Imports(), c.Session.Packages.has)
	if !generic && !c.flat && len(c.Info.Instances) == 0 {
		return nil
	}
	c.Generics = cmp.Or(c.Generics, c.to.Generics).clone()
	c.keepGenerics(u.File)
	prelude := c.newLazyPrelude(u.File, c.Generics, c.sessionDecls())
	g := &lower.Generics{
		File: u.File, Prelude: prelude.file, Known: c.Generics.Instances, Origin: c.Generics.Origin, Suffix: c.Generics.Suffix,
		Label: c.to.TypeLabel(c.Generics),
		Fresh: func(name string) string { return c.slotName(name) },
		Want:  prelude.need, Compiled: c.to.Compiled,
		Alias: func(path string) string { prelude.paths[path] = true; return Alias(path) },
		Check: func(files []*ast.File) (*types.Package, *types.Info, error) {
			maps.Copy(prelude.paths, c.UnitPaths)
			return c.checkUnit(files, prelude.paths)
		},
	}
	if err := cmp.Or(g.Run(), prelude.err); err != nil {
		return err
	}
	u.Unmarked = func(name string) bool { return library.IsStd(cmp.Or(g.Origin[name], name)) }
	for name, of := range g.Origin {
		if label, ok := c.Labels[of]; ok {
			c.Labels[name] = label
		} else if label, ok := c.to.Labels[of]; ok {
			c.Labels[name] = label
		}
	}
	maps.Copy(c.UnitPaths, prelude.paths)
	for name, d := range library.Index(g.Made) {
		c.Generics.Decls[name] = append(slices.Clone(c.Generics.Decls[name]), headers(d.Nodes)...)
	}
	u.Pkg, u.Info = g.Pkg, g.Info
	u.Name = func(o *types.TypeName) (ast.Expr, error) { return compiled(o, g.Pkg, c.UnitPaths) }
	return nil
}

// keepGenerics records the generic declarations of the unit for later cells.
func (c *Lowering) keepGenerics(f *ast.File) {
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
			c.Generics.Decls[name] = append(slices.Clone(c.Generics.Decls[name]), clone.Tree(d, nil))
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				if spec := spec.(*ast.TypeSpec); spec.TypeParams != nil {
					one := &ast.GenDecl{TokPos: spec.Pos(), Tok: token.TYPE, Specs: []ast.Spec{clone.Tree(spec, nil)}}
					c.Generics.Decls[spec.Name.Name] = append(slices.Clone(c.Generics.Decls[spec.Name.Name]), one)
				}
			}
		}
	}
}

// checkUnit runs the checker over trees with engine names. It ignores errors that only
// an instance of valid code can have.
func (c *Lowering) checkUnit(files []*ast.File, paths map[string]bool) (*types.Package, *types.Info, error) {
	info := library.NewInfo()
	var first error
	cfg := types.Config{
		Importer: supportImporter{c.Session.Importer, c.Session.Std.Instances},
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok || first != nil || tolerated(e.Msg) || strings.HasPrefix(e.Msg, "\t") || inInstance(e.Msg) ||
				strings.HasSuffix(e.Msg, " is not used") {
				return
			}
			first = c.hiddenName(&lower.Unsupported{Pos: e.Pos, What: e.Msg})
		},
	}
	imports := ImportDecl(paths)
	imports.Specs = append(imports.Specs, importSpec(Alias(lower.SupportPath), lower.SupportPath))
	var list []*ast.File
	for _, f := range files {
		list = append(list, &ast.File{Package: f.Package, Name: f.Name, Decls: append([]ast.Decl{imports}, f.Decls...)})
	}
	pkg := types.NewPackage("main", "main")
	for _, name := range c.Pkg.Scope().Names() {
		if o := c.Pkg.Scope().Lookup(name); o.Pkg() != c.Pkg {
			pkg.Scope().Insert(o)
		}
	}
	_ = types.NewChecker(&cfg, c.Session.Fset, pkg, info).Files(list)
	return pkg, info, first
}

// hiddenName returns the error of an instance, or a better one if the generic declaration is of an earlier cell and uses a name that has another
// meaning now.
func (c *Lowering) hiddenName(err *lower.Unsupported) error {
	name, ok := strings.CutPrefix(err.What, "undefined: ")
	cell := syntax.CellOf(c.Session.Fset.Position(err.Pos).Filename)
	if !ok || cell == 0 || cell == c.N {
		return err
	}
	for generic, decls := range c.Generics.Decls {
		if !slices.ContainsFunc(decls, func(d ast.Decl) bool { return d.Pos() <= err.Pos && err.Pos < d.End() }) {
			continue
		}
		generic = syntax.Versioned.ReplaceAllString(generic, "$1")
		at := token.NoPos
		for id := range c.Info.Instances {
			if id.Name == generic && (at == token.NoPos || id.Pos() < at) {
				at = id.Pos()
			}
		}
		return &lower.Unsupported{Pos: at, What: fmt.Sprintf("%s of In[%d] uses a %s that a later declaration or import hides: declare %[1]s again", generic, cell, name)}
	}
	return err
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
