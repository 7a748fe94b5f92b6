package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"maps"
	"slices"

	"halfnote/interp/internal/clone"
)

// make adds the declarations of an instance.
func (g *Generics) make(o types.Object, name string, args *types.TypeList) {
	found := false
	for _, file := range []*ast.File{g.Prelude, g.File} {
		for _, d := range slices.Clone(file.Decls) {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && g.Info.Defs[d.Name] == o {
					g.unshadow(d, args)
					f := clone.Tree(d, g.substitute(o.Type().(*types.Signature).TypeParams(), args))
					f.Name.Name, f.Type.TypeParams = name, nil
					g.add(f)
					found = true
				}
				if d.Recv == nil {
					continue
				}
				fn, _ := g.Info.Defs[d.Name].(*types.Func)
				if fn == nil || receiverIndex(d) == nil || receiverName(fn) != o {
					continue
				}
				g.unshadow(d, args)
				f := clone.Tree(d, g.substitute(fn.Signature().RecvTypeParams(), args))
				var recv ast.Expr = ast.NewIdent(name)
				if isPointer(fn.Signature().Recv().Type()) {
					recv = &ast.StarExpr{Star: d.Recv.Pos(), X: recv}
				}
				f.Recv.List[0].Type = recv
				g.add(f)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					spec, ok := s.(*ast.TypeSpec)
					if !ok || g.Info.Defs[spec.Name] != o {
						continue
					}
					var params *types.TypeParamList
					switch t := o.Type().(type) {
					case *types.Named:
						params = t.TypeParams()
					case *types.Alias:
						params = t.TypeParams()
					}
					n := clone.Tree(spec, g.substitute(params, args))
					n.Name.Name, n.TypeParams = name, nil
					g.add(&ast.GenDecl{TokPos: spec.Pos(), Tok: token.TYPE, Specs: []ast.Spec{n}})
					found = true
				}
			}
		}
	}
	if !found && g.failed == nil {
		g.failed = fmt.Errorf("no declaration of %s", o.Name())
	}
}

func (g *Generics) add(d ast.Decl) {
	g.File.Decls = append(g.File.Decls, d)
	g.Made = append(g.Made, d)
}

// receiverName returns the name of a method's type.
func receiverName(fn *types.Func) types.Object {
	t := fn.Signature().Recv().Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := t.(*types.Named); ok {
		return n.Origin().Obj()
	}
	return nil
}

// substitute returns the function that replaces type parameters by arguments.
func (g *Generics) substitute(params *types.TypeParamList, args *types.TypeList) func(*ast.Ident) ast.Expr {
	m := map[types.Object]types.Type{}
	for i := range params.Len() {
		m[params.At(i).Obj()] = args.At(i)
	}
	return func(id *ast.Ident) ast.Expr {
		t := m[g.Info.Uses[id]]
		if t == nil {
			return nil
		}
		e := g.write(id, t)
		place(e, id.Pos())
		switch e.(type) {
		case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.MapType, *ast.StructType, *ast.InterfaceType:
			return e
		}
		return &ast.ParenExpr{Lparen: id.Pos(), X: e, Rparen: id.Pos()}
	}
}

// unshadow gives the variables and types of a function that have the name of a type argument other names.
func (g *Generics) unshadow(d *ast.FuncDecl, args *types.TypeList) {
	names := map[string]bool{}
	for t := range args.Types() {
		ast.Inspect(g.write(d, t), func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				names[id.Name] = true
			}
			return true
		})
	}
	other := func(id *ast.Ident) {
		if names[id.Name] {
			id.Name += "__00"
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			o := g.Info.Uses[n]
			if o == nil {
				o = g.Info.Defs[n]
			}
			if _, isPackage := o.(*types.PkgName); o != nil && !isPackage && o.Parent() != nil && o.Pkg() == g.Pkg && o.Parent() != g.Pkg.Scope() {
				other(n)
			}
		case *ast.TypeSwitchStmt: // each clause has its own variable
			if a, ok := n.Assign.(*ast.AssignStmt); ok {
				other(a.Lhs[0].(*ast.Ident))
			}
		}
		return true
	})
}

// place sets the positions of a tree's identifiers to pos.
func place(n ast.Node, pos token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			id.NamePos = pos
		}
		return true
	})
}

// embedded gives fields that are instances their new names: an embedded field is named
// after its type.
func (g *Generics) embedded() {
	byOrigin := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(g.Origin)) {
		byOrigin[g.Origin[name]] = append(byOrigin[g.Origin[name]], name)
	}
	mend := func(id *ast.Ident, t types.Type) {
		if t == nil || g.Info.Uses[id] != nil {
			return
		}
		found, depth := "", 0 // other instances of the type may be embedded deeper
		for _, name := range byOrigin[id.Name] {
			o, index, _ := types.LookupFieldOrMethod(t, true, g.Pkg, name)
			if v, ok := o.(*types.Var); ok && v.Embedded() && (found == "" || len(index) < depth) {
				found, depth = name, len(index)
			}
		}
		if found != "" {
			id.Name, g.again = found, true
		}
	}
	// Generic declarations may mention such fields of types that are not generic.
	for _, file := range []*ast.File{g.Prelude, g.File} {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if tv, ok := g.Info.Types[n.X]; ok {
					mend(n.Sel, tv.Type)
				}
			case *ast.CompositeLit:
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						if id, ok := kv.Key.(*ast.Ident); ok {
							if t := g.Info.Types[n].Type; t != nil {
								if _, ok := t.Underlying().(*types.Struct); ok {
									mend(id, t)
								}
							}
						}
					}
				}
			}
			return true
		})
	}
}

// switches removes cases of type switches that an earlier case covers or that no value can match, and lets constants be keys and cases several
// times: instances of valid code may have all of these.
func (g *Generics) switches() {
	g.concrete(func(file *ast.File, i int) {
		ast.Inspect(file.Decls[i], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSwitchStmt:
				g.cases(n)
			case *ast.CompositeLit:
				if m, ok := orInvalid(g.Info.Types[n].Type).Underlying().(*types.Map); ok {
					g.repeated(slices.Collect(keysOf(n)), m.Key())
				}
			case *ast.SwitchStmt:
				if n.Tag != nil {
					g.repeated(slices.Collect(casesOf(n)), g.Info.Types[n.Tag].Type)
				}
			}
			return true
		})
	})
}

// repeated replaces constants that an earlier place has by calls with the same value.
func (g *Generics) repeated(places []*ast.Expr, t types.Type) {
	if types.IsInterface(orInvalid(t)) {
		return
	}
	seen := map[string]bool{}
	for _, e := range places {
		v := g.Info.Types[*e].Value
		if v == nil {
			continue
		}
		if key := v.ExactString(); seen[key] {
			result := &ast.FieldList{List: []*ast.Field{{Type: g.write(*e, t)}}}
			value := &ast.ReturnStmt{Return: (*e).Pos(), Results: []ast.Expr{*e}}
			*e = call(&ast.FuncLit{Type: &ast.FuncType{Func: (*e).Pos(), Params: &ast.FieldList{}, Results: result}, Body: block(value)})
			g.again = true
		} else {
			seen[key] = true
		}
	}
}

// keysOf yields the places of the keys of a map literal.
func keysOf(lit *ast.CompositeLit) iter.Seq[*ast.Expr] {
	return func(yield func(*ast.Expr) bool) {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && !yield(&kv.Key) {
				return
			}
		}
	}
}

// casesOf yields the places of the cases of a switch statement.
func casesOf(s *ast.SwitchStmt) iter.Seq[*ast.Expr] {
	return func(yield func(*ast.Expr) bool) {
		for _, st := range s.Body.List {
			list := st.(*ast.CaseClause).List
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

func (g *Generics) possible(x, t types.Type) bool {
	i, ok := orInvalid(x).Underlying().(*types.Interface)
	return !ok || t == nil || types.IsInterface(t) || types.Implements(t, i)
}

func (g *Generics) cases(s *ast.TypeSwitchStmt) {
	var guard ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		guard = a.X
	case *ast.AssignStmt:
		guard = a.Rhs[0]
	}
	x := g.Info.Types[ast.Unparen(guard).(*ast.TypeAssertExpr).X].Type
	var seen []types.Type
	s.Body.List = slices.DeleteFunc(s.Body.List, func(st ast.Stmt) bool {
		cc := st.(*ast.CaseClause)
		before := len(cc.List)
		cc.List = slices.DeleteFunc(cc.List, func(e ast.Expr) bool {
			tv := g.Info.Types[e]
			if tv.Type == nil || tv.IsNil() {
				return false
			}
			if !g.possible(x, tv.Type) || slices.ContainsFunc(seen, func(t types.Type) bool { return types.Identical(t, tv.Type) }) {
				return true
			}
			seen = append(seen, tv.Type)
			return false
		})
		g.again = g.again || len(cc.List) < before
		return before > 0 && len(cc.List) == 0
	})
}
