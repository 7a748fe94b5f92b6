package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"halfnote/interp/internal/engine"
)

// recursion records which functions of a unit may call themselves, directly or through
// others of the unit. A call of an interface's method counts as a call of all methods
// of that name.
type recursion struct {
	u       *Unit
	decls   map[types.Object]*ast.FuncDecl
	methods map[string][]*ast.FuncDecl
	group   map[*ast.FuncDecl]int  // the same for functions that may call each other
	selves  map[*ast.FuncDecl]bool // those that may call themselves
}

func (u *Unit) recursion() *recursion {
	if u.recurses != nil {
		return u.recurses
	}
	r := &recursion{u, map[types.Object]*ast.FuncDecl{}, map[string][]*ast.FuncDecl{}, map[*ast.FuncDecl]int{}, map[*ast.FuncDecl]bool{}}
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
	r.groups()
	return r
}

// groups finds the groups of functions that may call each other, by Tarjan's algorithm ("Depth-first search and linear graph
// algorithms", 1972).
func (r *recursion) groups() {
	index, low := map[*ast.FuncDecl]int{}, map[*ast.FuncDecl]int{}
	var open []*ast.FuncDecl
	var visit func(fd *ast.FuncDecl)
	visit = func(fd *ast.FuncDecl) {
		index[fd] = len(index) + 1
		low[fd] = index[fd]
		open = append(open, fd)
		for _, to := range r.called(fd.Body) {
			if to == fd {
				r.selves[fd] = true
			}
			if index[to] == 0 {
				visit(to)
				low[fd] = min(low[fd], low[to])
			} else if r.group[to] == 0 {
				low[fd] = min(low[fd], index[to])
			}
		}
		if low[fd] < index[fd] {
			return
		}
		i := len(open) - 1
		for open[i] != fd {
			i--
		}
		for _, member := range open[i:] {
			r.group[member] = index[fd]
			r.selves[member] = r.selves[member] || len(open[i:]) > 1
		}
		open = open[:i]
	}
	for _, fd := range r.decls {
		if index[fd] == 0 {
			visit(fd)
		}
	}
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

// of reports whether fd may call itself.
func (r *recursion) of(fd *ast.FuncDecl) bool { return r.selves[fd] }

// from reports whether a call of fd may be active below a call of a function that nodes, which are parts of fd,
// name.
func (r *recursion) from(fd *ast.FuncDecl, nodes []ast.Node) bool {
	if !r.of(fd) {
		return false
	}
	for _, n := range nodes {
		if isNilNode(n) {
			continue
		}
		for _, to := range r.called(n) {
			if r.group[to] == r.group[fd] {
				return true
			}
		}
	}
	return false
}

// again declares a function that calls fd again from behind a barrier, and returns the
// statements that leave fd for it. A panic crosses a barrier in one step. Without barriers
// Yaegi raises it again in every function on the way, which takes time quadratic in their
// number.
func (u *Unit) again(fd *ast.FuncDecl) []ast.Stmt {
	name := fd.Name.Name
	r := u.repeat(fd.Type.Func)
	if fd.Recv != nil {
		name = plainName(Print(fd.Recv.List[0].Type) + "_" + name)
		recv := r.pass(fd.Recv)
		return r.leave(name, &ast.SelectorExpr{X: recv.Args[0], Sel: ident(fd.Name.Name)}, fd.Type)
	}
	return r.leave(name, ident(name), fd.Type)
}

// againLiteral is again for a literal that the variable self holds.
func (u *Unit) againLiteral(lit *ast.FuncLit, self *ast.Ident) []ast.Stmt {
	r := u.repeat(lit.Type.Func)
	there := u.temp("self")
	r.here.Args = []ast.Expr{ident(self.Name)}
	r.params.List = []*ast.Field{{Names: []*ast.Ident{there}, Type: signatureOf(lit)}}
	return r.leave(there.Name, ident(there.Name), lit.Type)
}

// repeat is a repeated call: here is the call that replaces the body of the function, and
// params are the parameters that it passes on.
type repeat struct {
	u      *Unit
	pos    token.Pos
	here   *ast.CallExpr
	params *ast.FieldList
}

func (u *Unit) repeat(pos token.Pos) *repeat {
	return &repeat{u, pos, &ast.CallExpr{}, &ast.FieldList{}}
}

// pass passes on the parameters of list, and returns a call with them.
func (r *repeat) pass(list *ast.FieldList) *ast.CallExpr {
	there := &ast.CallExpr{}
	for _, f := range list.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{ident("_")}
		}
		for i, id := range f.Names {
			if id.Name == "_" {
				f.Names[i] = r.u.temp("arg")
			}
			x := f.Names[i].Name
			r.here.Args = append(r.here.Args, ident(x))
			there.Args = append(there.Args, ident(x))
			r.params.List = append(r.params.List, &ast.Field{Names: []*ast.Ident{ident(x)}, Type: f.Type})
			if _, ok := f.Type.(*ast.Ellipsis); ok {
				r.here.Ellipsis, there.Ellipsis = 1, 1
			}
		}
	}
	return there
}

// leave declares the function, which calls fun, and returns the statements that call it.
func (r *repeat) leave(name string, fun ast.Expr, t *ast.FuncType) []ast.Stmt {
	u, here := r.u, r.here
	here.Fun = ident(name + engine.AgainSuffix)
	there := r.pass(t.Params)
	there.Fun = fun
	results := &ast.FieldList{}
	st := &ast.AssignStmt{Tok: token.ASSIGN, Rhs: []ast.Expr{there}}
	if t.Results != nil {
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				result := u.temp("result")
				results.List = append(results.List, &ast.Field{Names: []*ast.Ident{result}, Type: f.Type})
				st.Lhs = append(st.Lhs, ident(result.Name))
			}
		}
	}
	var body ast.Stmt = st
	leave := []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{here}}}
	if len(st.Lhs) == 0 {
		body = expr(there)
		leave = []ast.Stmt{expr(here), &ast.ReturnStmt{}}
	}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: r.pos, Params: &ast.FieldList{}}, Body: block(body)}
	u.more = append(u.more, &ast.FuncDecl{
		Name: ident(here.Fun.(*ast.Ident).Name), Type: &ast.FuncType{Func: r.pos, Params: r.params, Results: results},
		Body: block(expr(Support("Barrier", lit)), &ast.ReturnStmt{}),
	})
	return leave
}

// callsUnknown reports whether a body calls functions that are not known by name:
// variables and methods of interfaces.
func (u *Unit) callsUnknown(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok || u.Info.Types[x.Fun].IsType() || u.makers[x] {
			return !found
		}
		switch f := ast.Unparen(x.Fun).(type) {
		case *ast.Ident:
			_, known := u.Info.Uses[f].(*types.Func)
			_, builtin := u.Info.Uses[f].(*types.Builtin)
			_, conversion := u.Info.Uses[f].(*types.TypeName)
			found = found || !known && !builtin && !conversion && types.Universe.Lookup(f.Name) == nil
		case *ast.SelectorExpr:
			_, variable := u.Info.Uses[f.Sel].(*types.Var)
			found = found || variable
		case *ast.IndexExpr, *ast.CallExpr, *ast.TypeAssertExpr:
			found = true
		}
		return !found
	})
	return found
}

// plainName turns text into part of a name.
func plainName(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b[i] = '_'
		}
	}
	return string(b)
}
