package ixgo

import (
	"fmt"
	"go/ast"
	"go/types"
	"runtime"
	"strings"

	"halfnote/interp/engine"
)

// check type-checks a unit. Names that earlier units have declared are put into the
// scope of its package, below its own declarations: they remain objects of the packages
// that declared them.
func (e *Engine) check(u *engine.Unit) (*types.Package, *types.Info, error) {
	pkg := types.NewPackage("main", "main")
	own := map[string]bool{}
	for _, d := range u.File.Decls {
		for _, id := range declared(d) {
			own[id.Name] = true
		}
	}
	ast.Inspect(u.File, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !own[id.Name] {
			if o := e.units.objects[id.Name]; o != nil {
				own[id.Name] = true
				pkg.Scope().Insert(o)
			}
		}
		return true
	})
	info := &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Scopes:       map[ast.Node]*types.Scope{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Instances:    map[*ast.Ident]types.Instance{},
		FileVersions: map[*ast.File]string{},
	}
	var first error
	cfg := types.Config{
		Importer: e.loader, Sizes: types.SizesFor("gc", runtime.GOARCH), DisableUnusedImportCheck: true,
		Error: func(err error) {
			if first == nil && !unused(err) {
				first = err
			}
		},
	}
	_ = types.NewChecker(&cfg, u.Fset, pkg, info).Files([]*ast.File{u.File})
	if first == nil {
		first = bodyless(u, info)
	}
	return pkg, info, first
}

// bodyless returns an error if the unit uses a generic function of a compiled package,
// whose source is not available for an instance.
func bodyless(u *engine.Unit, info *types.Info) (err error) {
	ast.Inspect(u.File, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || err != nil {
			return err == nil
		}
		if _, ok := info.Instances[sel.Sel]; !ok {
			return true
		}
		if f, ok := info.Uses[sel.Sel].(*types.Func); ok && f.Pkg() != nil && f.Pkg().Path() != "main" && f.Signature().Recv() == nil {
			err = fmt.Errorf("%s: the generic function %s.%s of a compiled package", u.Fset.Position(sel.Pos()), f.Pkg().Name(), f.Name())
		}
		return true
	})
	return err
}

// unused reports whether an error is about an unused variable or value, which a rewrite
// may leave behind.
func unused(err error) bool {
	e, ok := err.(types.Error)
	return ok && (strings.Contains(e.Msg, "declared and not used") || strings.HasSuffix(e.Msg, " is not used"))
}

// declared returns the names that a declaration adds to the package.
func declared(d ast.Decl) (list []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			list = append(list, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				list = append(list, spec.Name)
			case *ast.ValueSpec:
				list = append(list, spec.Names...)
			case *ast.ImportSpec:
				if spec.Name != nil {
					list = append(list, spec.Name)
				}
			}
		}
	}
	return list
}

// imports adds the packages that a unit uses to the SSA program: those that it imports
// and those whose methods it calls.
func (e *Engine) imports(pkg *types.Package, info *types.Info) error {
	for _, p := range pkg.Imports() {
		e.external(p)
	}
	for _, s := range info.Selections {
		if f, ok := s.Obj().(*types.Func); ok && f.Pkg() != nil {
			e.external(f.Pkg())
		}
	}
	return nil
}

// external declares a compiled package to the SSA program. It declares the package again if
// more of it has been read since.
func (e *Engine) external(p *types.Package) {
	if p == types.Unsafe || p.Path() == "main" {
		return
	}
	if !p.Complete() {
		_, _ = e.loader.Import(p.Path()) // packages that cannot be imported have at most methods
	}
	if n := p.Scope().Len(); e.created[p] <= n {
		e.created[p] = n + 1
		e.prog.CreatePackage(p, nil, nil, false).Build()
	}
}
