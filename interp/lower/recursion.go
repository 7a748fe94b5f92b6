package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"halfnote/interp/engine"
)

// recursion knows which functions of a unit may call themselves, at once or by
// others of the unit. A call of an interface's method counts as one of all methods
// of that name.
type recursion struct {
	u       *Unit
	decls   map[types.Object]*ast.FuncDecl
	methods map[string][]*ast.FuncDecl
	reaches map[*ast.FuncDecl]map[*ast.FuncDecl]bool
}

func (u *Unit) recursion() *recursion {
	if u.recurses != nil {
		return u.recurses
	}
	r := &recursion{u, map[types.Object]*ast.FuncDecl{}, map[string][]*ast.FuncDecl{}, map[*ast.FuncDecl]map[*ast.FuncDecl]bool{}}
	u.recurses = r
	for _, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil && !u.Generated[fd] {
			if f, ok := u.Info.Defs[fd.Name].(*types.Func); ok {
				r.decls[f] = fd
				if f.Signature().Recv() != nil {
					r.methods[f.Name()] = append(r.methods[f.Name()], fd)
				}
			}
		}
	}
	calls := map[*ast.FuncDecl][]*ast.FuncDecl{}
	for _, fd := range r.decls {
		calls[fd] = r.called(fd.Body)
	}
	for _, fd := range r.decls {
		seen := map[*ast.FuncDecl]bool{}
		list := slices.Clone(calls[fd])
		for len(list) > 0 {
			next := list[len(list)-1]
			list = list[:len(list)-1]
			if !seen[next] {
				seen[next] = true
				list = append(list, calls[next]...)
			}
		}
		r.reaches[fd] = seen
	}
	return r
}

// called lists the functions of the unit that n names.
func (r *recursion) called(n ast.Node) (list []*ast.FuncDecl) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		f, ok := r.u.Info.Uses[id].(*types.Func)
		if !ok {
			return true
		}
		if to := r.decls[f]; to != nil {
			list = append(list, to)
		} else if recv := f.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			list = append(list, r.methods[f.Name()]...)
		}
		return true
	})
	return list
}

// of tells whether fd may call itself.
func (r *recursion) of(fd *ast.FuncDecl) bool { return r.reaches[fd][fd] }

// from tells whether a call of fd may be under way below one of what nodes name.
func (r *recursion) from(fd *ast.FuncDecl, nodes []ast.Node) bool {
	if !r.of(fd) {
		return false
	}
	for _, n := range nodes {
		if n == nil || reflect.ValueOf(n).IsNil() {
			continue
		}
		for _, to := range r.called(n) {
			if to == fd || r.reaches[to][fd] {
				return true
			}
		}
	}
	return false
}

// again declares a function that calls fd once more from behind a barrier, and
// returns the statements that leave fd for that. A panic crosses a barrier alone:
// Yaegi raises it anew in every function on the way, which takes time in proportion
// to the square of how many they are.
func (u *Unit) again(fd *ast.FuncDecl) []ast.Stmt {
	name := fd.Name.Name + engine.AgainSuffix
	params := &ast.FieldList{}
	results := &ast.FieldList{}
	here := &ast.CallExpr{Fun: ident(name)}
	there := &ast.CallExpr{Fun: ident(fd.Name.Name)}
	pass := func(list *ast.FieldList, receiver bool) {
		for _, f := range list.List {
			if len(f.Names) == 0 {
				f.Names = []*ast.Ident{ident("_")}
			}
			for i, id := range f.Names {
				if id.Name == "_" {
					f.Names[i] = u.temp("arg")
				}
				x, t := f.Names[i].Name, f.Type
				here.Args = append(here.Args, ident(x))
				params.List = append(params.List, &ast.Field{Names: []*ast.Ident{ident(x)}, Type: t})
				if receiver {
					there.Fun = &ast.SelectorExpr{X: ident(x), Sel: ident(fd.Name.Name)}
					continue
				}
				there.Args = append(there.Args, ident(x))
				if _, ok := t.(*ast.Ellipsis); ok {
					here.Ellipsis, there.Ellipsis = 1, 1
				}
			}
		}
	}
	if fd.Recv != nil {
		name = Print(fd.Recv.List[0].Type) + "_" + name
		here.Fun = ident(plainName(name))
		pass(fd.Recv, true)
	}
	pass(fd.Type.Params, false)
	st := &ast.AssignStmt{Tok: token.ASSIGN, Rhs: []ast.Expr{there}}
	if fd.Type.Results != nil {
		for _, f := range fd.Type.Results.List {
			for range max(1, len(f.Names)) {
				r := u.temp("result")
				results.List = append(results.List, &ast.Field{Names: []*ast.Ident{r}, Type: f.Type})
				st.Lhs = append(st.Lhs, ident(r.Name))
			}
		}
	}
	var body ast.Stmt = st
	leave := []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{here}}}
	if len(st.Lhs) == 0 {
		body = expr(there)
		leave = []ast.Stmt{expr(here), &ast.ReturnStmt{}}
	}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: fd.Pos(), Params: &ast.FieldList{}}, Body: block(body)}
	u.more = append(u.more, &ast.FuncDecl{
		Name: ident(here.Fun.(*ast.Ident).Name), Type: &ast.FuncType{Func: fd.Pos(), Params: params, Results: results},
		Body: block(expr(Support("Barrier", lit)), &ast.ReturnStmt{}),
	})
	return leave
}

// plainName makes text part of a name.
func plainName(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	return string(b)
}
