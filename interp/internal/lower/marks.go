package lower

import (
	"go/ast"
	"go/token"

	"halfnote/interp/internal/engine"
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
	return append(m.keep(at), assign(ident(m.name), m.u.mark(at)))
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
	} else {
		at.Kept = m.kept(pos, nodes)
	}
	return m.place(at)
}
