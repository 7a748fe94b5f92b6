package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"halfnote/interp/engine"
)

// statementMarks adds a store to a variable of the function before each statement that may
// fail. The variable gives the line of every frame of a panic. A store takes about 15 ns in
// Yaegi.
func (u *Unit) statementMarks() { u.markAll(marker{}) }

func (u *Unit) markAll(m marker) {
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil || u.Generated[fd] || u.Unmarked != nil && u.Unmarked(fd.Name.Name) {
			continue
		}
		m.u, m.fd, m.name, m.used = u, fd, engine.MarkPrefix+fd.Name.Name, false
		m.function(fd.Body)
	}
}

// marker walks one function. Literals in it have a variable for each depth.
type marker struct {
	u       *Unit
	fd      *ast.FuncDecl // nil in a literal
	name    string
	used    bool
	watches bool // whether to mark only statements that call the libraries, for observers
}

func (m *marker) function(body *ast.BlockStmt) {
	first := token.NoPos
	if len(body.List) > 0 && hasLiteral(body.List[0]) {
		first = start(body.List[0])
	}
	m.list(&body.List)
	if first.IsValid() && !m.watches {
		// Yaegi takes the function's name from the scope of its first node.
		body.List = append(m.mark(first), body.List...)
	}
	if m.used {
		m.u.vars = append(m.u.vars, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{
			&ast.ValueSpec{Names: []*ast.Ident{ident(m.name)}, Type: ident("int")},
		}})
		m.u.markVars[m.name] = true
	}
}

func (m *marker) list(list *[]ast.Stmt) {
	var out []ast.Stmt
	for _, st := range *list {
		out = append(out, m.stmt(st)...)
		out = append(out, st)
	}
	*list = out
}

func (m *marker) mark(pos token.Pos) []ast.Stmt { return m.place(Mark{Pos: pos, Whole: true}) }

// place returns the statement that records a mark.
func (m *marker) place(at Mark) []ast.Stmt {
	if !at.Pos.IsValid() || m.watches {
		return nil
	}
	if !m.used {
		m.used = !m.u.markVars[m.name]
	}
	return []ast.Stmt{assign(ident(m.name), m.u.mark(at))}
}

// mark returns the number of a new mark.
func (u *Unit) mark(at Mark) ast.Expr {
	u.Marks = append(u.Marks, at)
	return Int(int64(u.FirstMark + len(u.Marks) - 1))
}

// stmt returns the mark to put before st, and marks nested statements.
func (m *marker) stmt(st ast.Stmt) []ast.Stmt {
	m.literals(st)
	switch s := st.(type) {
	case *ast.LabeledStmt:
		switch s.Stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.IfStmt, *ast.BlockStmt:
			return m.stmt(s.Stmt)
		}
		return nil
	case *ast.BlockStmt:
		m.list(&s.List)
		return nil
	case *ast.IfStmt:
		if isCheck(s) { // an index test has the place of the index
			mark := m.place(Mark{Pos: s.If})
			var risks []token.Pos
			if m.u.risks(s.Cond, &risks); len(risks) == 0 {
				s.Body.List = append(mark, s.Body.List...)
				return nil
			}
			return mark
		}
		m.list(&s.Body.List)
		if s.Else != nil {
			m.stmt(s.Else)
		}
		return m.before(s.If, s.Init, s.Cond)
	case *ast.SwitchStmt:
		m.list(&s.Body.List)
		nodes := []ast.Node{s.Init, s.Tag}
		for _, cc := range s.Body.List {
			for _, e := range cc.(*ast.CaseClause).List {
				nodes = append(nodes, e)
			}
		}
		return m.before(s.Switch, nodes...)
	case *ast.TypeSwitchStmt:
		m.list(&s.Body.List)
		return m.before(s.Switch, s.Init)
	case *ast.SelectStmt:
		m.list(&s.Body.List)
		return m.mark(s.Select) // the select waits here
	case *ast.CaseClause:
		m.list(&s.Body)
		return nil
	case *ast.CommClause:
		m.list(&s.Body)
		return nil
	case *ast.ForStmt:
		m.list(&s.Body.List)
		if list := m.before(s.For, s.Cond, s.Post); list != nil {
			s.Body.List = append(s.Body.List, m.before(s.For, s.Cond, s.Post)...)
			return list
		}
		if list := m.before(s.For, s.Init); list != nil {
			return list
		}
		return m.mark(s.For) // an interrupt of an empty loop is shown here
	case *ast.RangeStmt:
		m.list(&s.Body.List)
		if m.u.isMap(s.X) { // the next step reads it
			s.Body.List = append(s.Body.List, m.mark(s.For)...)
		}
		if list := m.before(s.For, s.X); list != nil {
			return list
		}
		return m.mark(s.For)
	}
	return m.before(start(st), st)
}

// literals marks the bodies of function literals in the expressions of st.
func (m *marker) literals(st ast.Stmt) {
	ast.Inspect(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			inner := &marker{u: m.u, name: m.name + "_func", watches: m.watches}
			if m.u.made[n] {
				inner.list(&n.Body.List)
			} else {
				inner.function(n.Body)
			}
			return false
		case ast.Stmt:
			return n == st || !nests(n)
		}
		return true
	})
}

func hasLiteral(st ast.Stmt) bool {
	found := false
	ast.Inspect(st, func(n ast.Node) bool {
		_, lit := n.(*ast.FuncLit)
		found = found || lit
		return !found
	})
	return found
}

// nests reports whether a statement is walked separately.
func nests(st ast.Stmt) bool {
	switch st.(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause, *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.LabeledStmt:
		return true
	}
	return false
}

// isCheck reports whether a statement is a test that indexChecks made.
func isCheck(s *ast.IfStmt) bool {
	if len(s.Body.List) != 1 {
		return false
	}
	e, ok := s.Body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || sel.Pos().IsValid() {
		return false
	}
	switch sel.Sel.Name {
	case "Index", "Slice", "Shift":
		return true
	}
	return false
}

// start returns the first valid position in a statement made of old and new nodes.
func start(st ast.Stmt) token.Pos {
	if p := st.Pos(); p.IsValid() {
		return p
	}
	pos := token.NoPos
	ast.Inspect(st, func(n ast.Node) bool {
		if n == nil || pos.IsValid() {
			return false
		}
		if p := n.Pos(); p.IsValid() {
			pos = p
		}
		return !pos.IsValid()
	})
	return pos
}

// before returns a mark if an operation in the nodes may fail: at the operation if
// there is only one, otherwise at the statement.
func (m *marker) before(pos token.Pos, nodes ...ast.Node) []ast.Stmt {
	var risks []token.Pos
	for _, n := range nodes {
		if n != nil {
			m.u.risks(n, &risks)
		}
	}
	if len(risks) == 0 && !m.watches {
		m.u.mapReads(nodes, &risks)
	}
	at := Mark{Pos: pos, Whole: true}
	switch len(risks) {
	case 0:
		return nil
	case 1:
		if risks[0].IsValid() {
			at = Mark{Pos: risks[0]}
		}
	}
	if m.watches {
		return m.u.watch(at, nodes)
	}
	if m.fd != nil && m.u.recursion().from(m.fd, nodes) {
		at.Again = m.fd.Name.Name
	}
	return m.place(at)
}

// risks collects the positions in n that may fail.
func (u *Unit) risks(n ast.Node, list *[]token.Pos) {
	add := func(p token.Pos) { *list = append(*list, p) }
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			switch {
			case u.Info.Types[x.Fun].IsType(), u.makers[x]:
			case u.safeBuiltin(x.Fun):
			default:
				add(calledAt(x))
			}
		case *ast.IndexExpr:
			if u.isGeneric(x.X) || u.safe[x] {
				break
			}
			switch orInvalid(u.typeOf(x.X)).Underlying().(type) {
			case *types.Map, *types.Signature:
			default:
				add(x.Lbrack)
			}
		case *ast.SliceExpr:
			if !u.safe[x] {
				add(x.Lbrack)
			}
		case *ast.StarExpr:
			if x.Star.IsValid() && !u.Info.Types[x].IsType() && u.Info.Types[x].Type != nil {
				if sel, ok := x.X.(*ast.SelectorExpr); ok && !sel.Sel.Pos().IsValid() {
					break // a variable of a package
				}
				add(x.Star)
			}
		case *ast.TypeAssertExpr:
			add(x.Lparen)
		case *ast.SelectorExpr:
			if s := u.Info.Selections[x]; s != nil && s.Kind() == types.FieldVal && (s.Indirect() || isPointer(s.Recv())) {
				add(x.Sel.Pos())
			}
		case *ast.BinaryExpr:
			if x.Op == token.QUO || x.Op == token.REM {
				u.division(x.X, x.Y, x.OpPos, add)
			}
		case *ast.AssignStmt:
			if x.Tok == token.QUO_ASSIGN || x.Tok == token.REM_ASSIGN {
				u.division(x.Lhs[0], x.Rhs[0], x.TokPos, add)
			}
			for _, e := range x.Lhs {
				u.mapEntry(e, add)
			}
		case *ast.IncDecStmt:
			u.mapEntry(x.X, add)
		}
		return true
	})
}

// mapReads collects the positions in nodes that read entries of maps, which fails while
// another goroutine writes.
func (u *Unit) mapReads(nodes []ast.Node, list *[]token.Pos) {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(*ast.IndexExpr); ok && u.isMap(x.X) {
				*list = append(*list, x.Lbrack)
			}
			_, literal := n.(*ast.FuncLit)
			return !literal
		})
	}
}

func (u *Unit) isMap(e ast.Expr) bool {
	_, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Map)
	return ok
}

// mapEntry adds the position of an assignment to an entry of a map, which may be nil.
func (u *Unit) mapEntry(e ast.Expr, add func(token.Pos)) {
	if i, ok := ast.Unparen(e).(*ast.IndexExpr); ok && u.isMap(i.X) {
		add(i.Lbrack)
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func (u *Unit) division(x, y ast.Expr, pos token.Pos, add func(token.Pos)) {
	b, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return
	}
	if v := u.Info.Types[y].Value; v != nil && constant.Sign(v) != 0 {
		return
	}
	add(pos)
}

// calledAt returns the position of the function name in a call.
func calledAt(x *ast.CallExpr) token.Pos {
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.SelectorExpr:
		if f.Sel.Pos().IsValid() {
			return f.Sel.Pos()
		}
		if !f.X.Pos().IsValid() { // a support function, whose statement has a place
			return token.NoPos
		}
	case *ast.FuncLit:
		return f.Pos()
	}
	if p := x.Fun.Pos(); p.IsValid() {
		return p
	}
	return x.Lparen
}

// safeBuiltin reports whether f is a built-in function that cannot fail.
func (u *Unit) safeBuiltin(f ast.Expr) bool {
	id, ok := ast.Unparen(f).(*ast.Ident)
	if !ok {
		return false
	}
	switch id.Name {
	case "len", "cap", "int":
		if u.Info.Uses[id] == nil {
			return true // operand of a test
		}
	}
	b, ok := u.Info.Uses[id].(*types.Builtin)
	if !ok {
		return false
	}
	switch b.Name() {
	case "panic", "close", "make", "delete":
		return false
	}
	return true
}
