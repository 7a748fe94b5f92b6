package native

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/clone"
	"halfnote/interp/internal/engine"
)

// literals returns the function literals that variables of the session hold for the rest of the
// unit's entry function, once the statement that assigns them has run: the function assigns them once, in
// its own list of statements, and nothing else of this or an earlier unit can assign them.
func (e *Engine) literals(u *engine.Unit) map[string]*ast.FuncLit {
	times, found := map[string]int{}, map[string]*ast.FuncLit{}
	for _, d := range u.File.Decls {
		f, ok := d.(*ast.FuncDecl)
		isEntry := ok && f.Name.Name == u.Entry
		depth := 0 // of function literals
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			var targets []ast.Expr
			switch n := n.(type) {
			case *ast.FuncLit:
				depth++
				ast.Inspect(n.Body, visit)
				depth--
				return false
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					targets = n.Lhs
				}
			case *ast.RangeStmt:
				if n.Tok != token.DEFINE {
					targets = []ast.Expr{n.Key, n.Value}
				}
			case *ast.UnaryExpr:
				if id, ok := ast.Unparen(n.X).(*ast.Ident); ok && n.Op == token.AND {
					e.shared[id.Name] = true
				}
			}
			for _, x := range targets {
				if id, ok := x.(*ast.Ident); ok {
					times[id.Name]++
					if depth > 0 || !isEntry {
						e.shared[id.Name] = true
					}
				}
			}
			return true
		}
		ast.Inspect(d, visit)
		if isEntry {
			for _, s := range f.Body.List {
				if name, lit := assigned(s); lit != nil && isSmall(lit) {
					found[name] = lit
				}
			}
		}
	}
	maps.DeleteFunc(found, func(name string, _ *ast.FuncLit) bool { return times[name] > 1 || e.shared[name] })
	return found
}

// assigned returns the variable and the literal of an assignment of one literal to a variable.
func assigned(s ast.Stmt) (name string, lit *ast.FuncLit) {
	if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN && len(a.Lhs) == 1 && len(a.Rhs) == 1 {
		if id, ok := a.Lhs[0].(*ast.Ident); ok {
			lit, _ = ast.Unparen(a.Rhs[0]).(*ast.FuncLit)
			return id.Name, lit
		}
	}
	return "", nil
}

// isSmall reports whether the compiler probably inlines calls of a literal.
func isSmall(lit *ast.FuncLit) bool {
	const most = 80
	n := 0
	ast.Inspect(lit.Body, func(ast.Node) bool { n++; return n < 2*most }) // each node is followed by nil
	return n < 2*most
}

// assign notes that a statement of the function has assigned a literal.
func (h *holder) assign(s *ast.AssignStmt) {
	if name, lit := assigned(s); lit != nil && h.literals[name] == lit && h.isPortable(lit) {
		h.assigned[name] = true
	}
}

// isPortable reports whether a literal means the same anywhere in the function: what it names is
// not also the name of a variable of the function, unless it is its own.
func (h *holder) isPortable(lit *ast.FuncLit) bool {
	own := h.declaredIn(lit)
	portable := true
	ast.Inspect(lit, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && h.local[id.Name] {
			if o := h.info.ObjectOf(id); o != nil {
				portable = portable && lit.Pos() <= o.Pos() && o.Pos() < lit.End()
			} else {
				portable = portable && own[id.Name]
			}
		}
		return portable
	})
	return portable
}

// declaredIn returns the names that a literal declares.
func (h *holder) declaredIn(lit *ast.FuncLit) map[string]bool {
	own := &holder{local: map[string]bool{}}
	ast.Inspect(lit.Type, own.declared)
	ast.Inspect(lit.Body, own.declared)
	return own.local
}

// literal returns the variable that a call names and the literal that it holds; the literal is nil
// if that is not known.
func (h *holder) literal(fun ast.Expr) (*ast.Ident, *ast.FuncLit) {
	if id, ok := ast.Unparen(fun).(*ast.Ident); ok && h.assigned[id.Name] && !h.local[id.Name] {
		return id, h.literals[id.Name]
	}
	return nil, nil
}

// copied returns a copy of a literal without its poll: the loop that calls it polls.
func (h *holder) copied(name string) *ast.FuncLit {
	of := h.literals[name]
	lit := clone.Tree(of, nil)
	nodes := nodesOf(lit)
	for i, n := range nodesOf(of) {
		if x, ok := n.(ast.Expr); ok {
			if tv, ok := h.info.Types[x]; ok {
				h.info.Types[nodes[i].(ast.Expr)] = tv
			}
		}
		switch n := n.(type) {
		case *ast.Ident:
			id := nodes[i].(*ast.Ident)
			if o := h.info.Uses[n]; o != nil {
				h.info.Uses[id] = o
			} else if o := h.info.Defs[n]; o != nil {
				h.info.Defs[id] = o
			}
		case *ast.SelectorExpr:
			if s := h.info.Selections[n]; s != nil {
				h.info.Selections[nodes[i].(*ast.SelectorExpr)] = s
			}
		}
	}
	if len(lit.Body.List) > 0 && isPoll(lit.Body.List[0]) {
		lit.Body.List = lit.Body.List[1:]
	}
	return lit
}

// nodesOf returns the nodes of a tree in depth-first order.
func nodesOf(n ast.Node) (list []ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if n != nil {
			list = append(list, n)
		}
		return true
	})
	return list
}

// isPoll reports whether a statement is a test for an interrupt.
func isPoll(s ast.Stmt) bool {
	i, ok := s.(*ast.IfStmt)
	if !ok {
		return false
	}
	b, ok := i.Cond.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	id, ok := b.X.(*ast.Ident)
	return ok && id.Name == "v__kernel____Flag"
}

// callLocal makes calls in a loop call the local copies of literals.
func callLocal(loop ast.Stmt, called []string) {
	astutil.Apply(loop, func(c *astutil.Cursor) bool {
		x, ok := c.Node().(*ast.CallExpr)
		if ok {
			if id, ok := ast.Unparen(x.Fun).(*ast.Ident); ok && slices.Contains(called, id.Name) {
				x.Fun = &ast.Ident{NamePos: id.NamePos, Name: prefix + id.Name}
			}
		}
		return true
	}, nil)
}
