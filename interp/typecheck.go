package interp

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
)

// attempt runs the checker. If functions of the cell use variables that the cell itself
// declares, it runs twice: the first time without function bodies, to find the types of
// the variables.
func (s *Session) attempt(c *cell, decls []*declFile) *attempt {
	s.mu.Lock() // completion may be reading the trees
	c.retire(decls)
	s.mu.Unlock()
	hidden := map[string]bool{}
	for _, f := range decls {
		for _, name := range f.names() {
			hidden[name] = true
		}
	}
	used := c.mentioned(decls)
	hide := func(name string) bool { return hidden[name] || used[name] || c.env.cur[name] != nil }
	for _, f := range decls {
		if f.dependant {
			c.pin(f)
		} else {
			c.addImports(f, hide)
		}
	}
	c.addImports(c.stmts, func(name string) bool { return hidden[name] || c.env.cur[name] != nil })
	a := &attempt{decls: decls, vars: map[string][]ast.Decl{}, missing: map[string]bool{}}
	if len(used) == 0 {
		s.typecheck(c, a)
		return a
	}
	restore := stripBodies(decls)
	s.typecheck(c, a)
	restore()
	first := a.errs
	for _, v := range c.hoisted(a) {
		if !used[v.Name()] {
			continue
		}
		d, err := header(v, checkNames(a.pkg, nil, c.paths))
		if err != nil || !valid(v.Type()) {
			a.missing[v.Name()] = true
			continue
		}
		a.vars[v.Name()] = d
	}
	a.errs, a.depErrs = nil, nil
	s.typecheck(c, a)
	for _, p := range first {
		if !slices.Contains(a.errs, p) {
			a.errs = append(a.errs, p)
		}
	}
	slices.SortStableFunc(a.errs, func(p, q problem) int {
		if p.line != q.line {
			return p.line - q.line
		}
		return p.col - q.col
	})
	return a
}

func valid(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// mentioned returns the variables of the cell's statements that its declarations, or
// dependants, mention.
func (c *cell) mentioned(decls []*declFile) map[string]bool {
	defined := map[string]bool{}
	for _, st := range c.body.Body.List {
		for _, id := range definedBy(st) {
			defined[id.Name] = true
		}
	}
	m := map[string]bool{}
	if len(defined) == 0 {
		return m
	}
	for _, f := range decls {
		ast.Inspect(f.File, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && defined[id.Name] {
				m[id.Name] = true
			}
			return true
		})
	}
	return m
}

// definedBy lists the names that a statement adds to the surrounding scope.
func definedBy(st ast.Stmt) []*ast.Ident {
	switch st := st.(type) {
	case *ast.LabeledStmt:
		return definedBy(st.Stmt)
	case *ast.AssignStmt:
		if st.Tok != token.DEFINE {
			return nil
		}
		var list []*ast.Ident
		for _, e := range st.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
				list = append(list, id)
			}
		}
		return list
	case *ast.DeclStmt:
		var list []*ast.Ident
		if g, ok := st.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, spec := range g.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					if id.Name != "_" {
						list = append(list, id)
					}
				}
			}
		}
		return list
	}
	return nil
}

// stripBodies removes the bodies of functions, which leaves their types, and returns a
// function that restores them. Generic functions must keep theirs.
func stripBodies(decls []*declFile) (restore func()) {
	bodies := map[*ast.FuncDecl]*ast.BlockStmt{}
	for _, f := range decls {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if ok && fd.Body != nil {
				bodies[fd] = fd.Body
				fd.Body = nil
				if fd.Type.TypeParams != nil || genericReceiver(fd) || fd.Name.Name == "init" || fd.Name.Name == "main" {
					fd.Body = &ast.BlockStmt{}
					if fd.Type.Results != nil {
						fd.Body.List = []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent("panic"), Args: []ast.Expr{lower.Int(0)}}}}
					}
				}
			}
		}
	}
	return func() {
		for fd, body := range bodies {
			fd.Body = body
		}
	}
}

func genericReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return false
	}
	generic := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.IndexExpr, *ast.IndexListExpr:
			generic = true
		}
		return true
	})
	return generic
}

// retire renames redeclared types for the checker, for values that keep the old type.
func (c *cell) retire(decls []*declFile) {
	c.restore()
	for _, f := range decls {
		for _, name := range f.names() {
			if b := c.env.cur[name]; b != nil && b.kind == kindType {
				b.rename(fmt.Sprintf("%s__%d", b.name, b.seq))
				c.retired[b] = true
			}
		}
	}
}

// restore undoes retire.
func (c *cell) restore() {
	for b := range c.retired {
		b.rename(b.name)
	}
	c.retired = map[*binding]bool{}
}

// prelude declares to the checker the session's declarations that the attempt does not
// replace: all types, because interfaces may hold values of any of them, but only the
// mentioned ones of the rest, so that the cost of a cell does not grow with the
// session.
func (c *cell) prelude(a *attempt) *ast.File {
	mentioned := map[string]bool{}
	note := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			mentioned[id.Name] = true
		}
		return true
	}
	ast.Inspect(c.stmts.File, note)
	for _, d := range a.decls {
		ast.Inspect(d.File, note)
	}
	f := &ast.File{Package: c.stmts.Package, Name: ast.NewIdent("main")}
	taken := map[string]bool{}
	for _, d := range a.decls {
		for _, name := range d.names() {
			taken[name] = true
		}
	}
	paths := map[string]bool{}
	var decls []ast.Decl
	add := func(b *binding) {
		decls = append(decls, b.decls...)
		maps.Copy(paths, b.paths)
		for _, name := range slices.Sorted(maps.Keys(b.methods)) {
			m := b.methods[name]
			if !taken[b.check+"."+name] {
				decls = append(decls, m.header)
				maps.Copy(paths, m.paths)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.env.cur)) {
		b := c.env.cur[name]
		switch {
		case a.vars[name] != nil, taken[name] && !c.retired[b], a.missing[name]:
		case b.kind != kindType && !mentioned[name] && !c.whole:
		default:
			add(b)
		}
	}
	for _, b := range c.env.old {
		add(b)
	}
	for _, name := range slices.Sorted(maps.Keys(c.outs)) {
		add(c.outs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(a.vars)) {
		decls = append(decls, a.vars[name]...)
	}
	maps.Copy(paths, c.paths)
	f.Decls = append([]ast.Decl{importDecl(paths)}, decls...)
	return f
}

// typecheck runs go/types over the attempt's files.
func (s *Session) typecheck(c *cell, a *attempt) {
	a.info = library.NewInfo()
	a.depErrs = map[*source][]string{}
	byFile := map[*token.File]*declFile{c.stmts.tok: c.stmts}
	files := []*ast.File{c.prelude(a)}
	for _, f := range a.decls {
		files = append(files, f.File)
		byFile[f.tok] = f
	}
	files = append(files, c.stmts.File)
	a.files = files
	cfg := types.Config{
		Importer: s.importer,
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok || tolerated(e.Msg) {
				return
			}
			if other, ok := strings.CutPrefix(e.Msg, "\t"); ok { // continues the previous message
				a.more(other, c.fset.Position(e.Pos))
				return
			}
			if strings.HasSuffix(e.Msg, " is not used") && c.standsAlone(e.Pos) {
				return
			}
			if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && a.missing[name] {
				return
			}
			f := byFile[c.fset.File(e.Pos)]
			switch {
			case f == nil || !f.dependant:
				a.errs = append(a.errs, c.problemOf(e, a))
			default:
				a.depErrs[f.src] = append(a.depErrs[f.src], c.readable(e.Msg))
			}
		},
	}
	a.pkg = types.NewPackage("main", "main")
	s.dotImports(c, a)
	defer func() {
		if r := recover(); r != nil { // go/types panics on some invalid code
			a.errs = append(a.errs, problem{cell: c.n, line: 1, col: 1, msg: fmt.Sprintf("internal error: Go's type checker failed on this cell: %v", r)})
		}
	}()
	_ = types.NewChecker(&cfg, c.fset, a.pkg, a.info).Files(files)
	sortLabels(a.errs)
}

// sortLabels puts neighbouring errors about labels in the order of the cell: the checker reports unused labels in the
// order of a map.
func sortLabels(errs []problem) {
	for i := 0; i < len(errs); i++ {
		end := i
		for end < len(errs) && strings.HasPrefix(errs[end].msg, "label ") {
			end++
		}
		slices.SortStableFunc(errs[i:end], func(a, b problem) int {
			return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
		})
		i = max(i, end)
	}
}

// dotImports adds the names of dot imports to the package's scope, where the session
// and the cell do not declare them.
func (s *Session) dotImports(c *cell, a *attempt) {
	if len(c.env.dots) == 0 {
		return
	}
	taken := map[string]bool{}
	for _, f := range a.decls {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	for _, path := range c.env.dots {
		pkg, err := s.importer.Import(path)
		if err != nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() && !taken[name] && c.env.cur[name] == nil && a.vars[name] == nil {
				a.pkg.Scope().Insert(o)
			}
		}
	}
}

// tolerated reports whether a cell may do what a program may not: leave a declaration
// unused, for later cells.
func tolerated(msg string) bool {
	return strings.Contains(msg, "declared and not used") && !strings.HasPrefix(msg, "label ") || strings.HasSuffix(msg, "imported and not used") ||
		strings.Contains(msg, " imported and not used") || strings.Contains(msg, "imported as ") && strings.HasSuffix(msg, "and not used")
}

// standsAlone reports whether pos is in an expression that is a statement of the cell
// itself: its value is shown or dropped.
func (c *cell) standsAlone(pos token.Pos) bool {
	for _, st := range c.body.Body.List {
		if x, ok := st.(*ast.ExprStmt); ok && x.Pos() <= pos && pos <= x.End() {
			return true
		}
	}
	return false
}

// hoisted returns the variables of the cell's outermost scope, which become variables
// of the session.
func (c *cell) hoisted(a *attempt) []*types.Var {
	var list []*types.Var
	seen := map[string]bool{}
	for _, st := range c.body.Body.List {
		for _, id := range definedBy(st) {
			if v, ok := a.info.Defs[id].(*types.Var); ok && !seen[id.Name] {
				seen[id.Name] = true
				list = append(list, v)
			}
		}
	}
	return list
}
