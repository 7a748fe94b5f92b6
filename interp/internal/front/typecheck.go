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

	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// attempt runs the checker. If functions of the cell use variables that the cell itself
// declares, it runs twice: the first time without function bodies, to find the types of
// the variables.
func (c *checker) attempt(decls []*DeclFile) *attempt {
	hidden := map[string]bool{}
	for _, f := range decls {
		for _, name := range f.names() {
			hidden[name] = true
		}
	}
	used := c.mentioned(decls)
	hide := func(name string) bool { return hidden[name] || used[name] || c.Env.Named(name) != nil }
	for _, f := range decls {
		if f.Dependant {
			c.pin(f)
		} else {
			c.addImports(f, hide)
		}
	}
	c.addImports(c.Stmts, func(name string) bool { return hidden[name] || c.Env.Named(name) != nil })
	a := &attempt{decls: decls, vars: map[string][]ast.Decl{}, missing: map[string]bool{}, env: c.Env.retired(c.replaced(decls))}
	if len(used) == 0 {
		c.typecheck(a)
		return a
	}
	restore := stripBodies(decls)
	c.typecheck(a)
	restore()
	first := a.errs
	before := a.env
	c.renameReplaced(a, used)
	for _, v := range c.hoisted(a) {
		if !used[v.Name()] {
			continue
		}
		d, err := headerOf(v, func(o *types.TypeName) (ast.Expr, error) {
			if e, err := Foreign(a.pkg, o, c.paths); e != nil || err != nil {
				return e, err
			}
			if b := before.byCheck(o.Name()); b != nil && o.Parent() == a.pkg.Scope() {
				return ast.NewIdent(a.env.Of(b).Check), nil
			}
			return ast.NewIdent(o.Name()), nil
		})
		if err != nil || !Valid(v.Type()) {
			a.missing[v.Name()] = true
			continue
		}
		a.vars[v.Name()] = d
	}
	a.errs, a.depErrs = nil, nil
	c.typecheck(a)
	for _, p := range first {
		name, unknown := strings.CutPrefix(p.Msg, "undefined: ")
		again := func(q syntax.Problem) bool { return q.Cell == p.Cell && q.Line == p.Line && q.Col == p.Col }
		if !slices.ContainsFunc(a.errs, again) && !(unknown && a.vars[name] != nil) {
			a.errs = append(a.errs, p)
		}
	}
	slices.SortStableFunc(a.errs, func(p, q syntax.Problem) int {
		if p.Line != q.Line {
			return p.Line - q.Line
		}
		return p.Col - q.Col
	})
	return a
}

func Valid(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// mentioned returns the variables of the cell's statements that its declarations, or
// dependants, mention.
func (c *checker) mentioned(decls []*DeclFile) map[string]bool {
	defined := map[string]bool{}
	for _, st := range c.Body.Body.List {
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
func stripBodies(decls []*DeclFile) (restore func()) {
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

// replaced lists the types that declarations replace: only values of earlier cells still have them.
func (c *checker) replaced(decls []*DeclFile) (list []*Binding) {
	for _, f := range decls {
		for _, name := range f.names() {
			if b := c.Env.Named(name); b != nil && b.Kind == KindType {
				list = append(list, b)
			}
		}
	}
	return list
}

// renameReplaced gives what the cell replaces by variables that its functions use another name, also in the statements, where the
// old meaning is visible until the variable is defined: x := len(x).
func (c *checker) renameReplaced(a *attempt, used map[string]bool) {
	var list []*Binding
	for _, v := range c.hoisted(a) {
		if b := a.env.Named(v.Name()); b != nil && used[v.Name()] && !c.sameVar(a, b, v) {
			list = append(list, b)
		}
	}
	before := a.env
	a.env = before.retired(list)
	for _, id := range identsOf(c.Stmts.File) {
		if o := a.info.Uses[id]; o != nil && o.Parent() == a.pkg.Scope() {
			if b := before.byCheck(o.Name()); slices.Contains(list, b) {
				id.Name = a.env.Of(b).Check
			}
		}
	}
}

// retired returns the environment in which declarations are retired.
func (e *Env) retired(list []*Binding) *Env {
	if len(list) == 0 {
		return e
	}
	e = e.Clone()
	for _, b := range list {
		e.retire(b)
	}
	return e
}

// prelude declares to the checker the session's declarations that the attempt mentions and does not
// replace, so that the cost of a cell does not grow with the session.
func (c *checker) prelude(a *attempt) *ast.File {
	taken := map[string]bool{}
	for _, d := range a.decls {
		for _, name := range d.names() {
			taken[name] = true
		}
	}
	e := newEarlier(a.env, taken)
	mention := func(n ast.Node) {
		for _, id := range identsOf(n) {
			if a.vars[id.Name] == nil && !a.missing[id.Name] {
				e.need(a.env.byCheck(id.Name))
			}
		}
	}
	mention(c.Stmts.File)
	for _, d := range a.decls {
		mention(d.File)
	}
	for _, decls := range a.vars {
		for _, d := range decls {
			mention(d)
		}
	}
	for _, b := range c.Outs {
		e.need(b)
	}
	maps.Copy(e.paths, c.paths)
	f := e.file(c.Stmts.Package, c.Session.Ground)
	for _, name := range slices.Sorted(maps.Keys(a.vars)) {
		f.Decls = append(f.Decls, a.vars[name]...)
	}
	return f
}

// finder returns a function that has the checker of an attempt declare a name of the session that the cell does
// not mention, and what its declaration mentions.
func (c *checker) finder(a *attempt) func(check string) types.Object {
	return func(check string) types.Object {
		b := a.env.byCheck(check)
		if b == nil {
			return nil
		}
		e := newEarlier(a.env, nil)
		e.known = func(check string) bool { return a.pkg.Scope().Lookup(check) != nil }
		e.need(b)
		_ = a.checker.Files([]*ast.File{e.file(c.Session.Ground, c.Session.Ground)})
		return a.pkg.Scope().Lookup(check)
	}
}

// earlier collects the declarations of earlier cells that the checker is to know, with those that they mention.
type earlier struct {
	env   *Env
	taken map[string]bool         // names that the cell declares, T.M for methods
	known func(check string) bool // reports whether the checker knows a name already
	has   map[*Binding]bool
	paths map[string]bool // packages that they mention
}

func newEarlier(e *Env, taken map[string]bool) *earlier {
	return &earlier{env: e, taken: taken, known: func(string) bool { return false }, has: map[*Binding]bool{}, paths: map[string]bool{}}
}

// need adds a binding, which may be nil.
func (e *earlier) need(b *Binding) {
	if b == nil || e.has[b] {
		return
	}
	f := e.env.Of(b)
	if f.Check == "" || e.taken[f.Check] || e.known(f.Check) {
		return
	}
	e.has[b] = true
	add := func(h Header) {
		maps.Copy(e.paths, h.Paths)
		for _, r := range h.refs {
			e.need(r.b)
		}
	}
	add(f.Header)
	for _, m := range f.Methods {
		if !e.taken[f.Check+"."+m.Name] {
			add(m.Header)
		}
	}
}

// Declarations writes a file that declares names of the checker, and what their declarations mention, but nothing that is known.
func (e *Env) Declarations(names map[string]bool, known func(check string) bool) string {
	x := newEarlier(e, nil)
	x.known = known
	for name := range names {
		x.need(e.byCheck(name))
	}
	for _, v := range e.Kept {
		if names[v.Name] {
			x.need(v.Binding)
		}
	}
	text := "package main\n"
	for _, d := range x.file(token.NoPos, token.NoPos).Decls {
		text += lower.Print(d) + "\n"
	}
	if names[InName] && !known(InName) {
		text += "var " + InName + " []string\n"
	}
	return text
}

// MethodsOf returns the names T.M of the methods of a type that the checker knows by a name.
func (e *Env) MethodsOf(check string) (list []string) {
	if b := e.byCheck(check); b != nil {
		for _, m := range e.Of(b).Methods {
			list = append(list, check+"."+m.Name)
		}
	}
	return list
}

// file returns a file at a position, with the declarations at ground, in the order of their names.
func (e *earlier) file(pos, ground token.Pos) *ast.File {
	list := slices.SortedFunc(maps.Keys(e.has), func(a, b *Binding) int { return strings.Compare(e.env.Of(a).Check, e.env.Of(b).Check) })
	f := &ast.File{Package: pos, Name: ast.NewIdent("main"), Decls: []ast.Decl{ImportDecl(e.paths)}}
	for _, b := range list {
		of := e.env.Of(b)
		f.Decls = append(f.Decls, of.Header.Decls(ground)...)
		for _, m := range of.Methods {
			if !e.taken[of.Check+"."+m.Name] {
				f.Decls = append(f.Decls, m.Header.Decls(ground)...)
			}
		}
	}
	return f
}

// typecheck runs go/types over the attempt's files.
func (c *checker) typecheck(a *attempt) {
	a.info = library.NewInfo()
	if a.fixes == nil {
		a.fixes = hints.Fixes{}
	}
	a.depErrs = map[*Source][]string{}
	byFile := map[*token.File]*DeclFile{c.Stmts.Tok: c.Stmts}
	files := []*ast.File{c.prelude(a)}
	for _, f := range a.decls {
		files = append(files, f.File)
		byFile[f.Tok] = f
	}
	files = append(files, c.Stmts.File)
	a.files = files
	cfg := types.Config{
		Importer: c.Session.Importer,
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok || tolerated(e.Msg) {
				return
			}
			if other, ok := strings.CutPrefix(e.Msg, "\t"); ok { // continues the previous message
				a.more(other, c.Session.Fset.Position(e.Pos))
				return
			}
			if strings.HasSuffix(e.Msg, " is not used") && c.standsAlone(e.Pos) {
				return
			}
			if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && a.missing[name] || len(a.errs) > maxProblems {
				return
			}
			f := byFile[c.Session.Fset.File(e.Pos)]
			switch {
			case f == nil || !f.Dependant:
				a.errs = append(a.errs, c.problemOf(e, a))
			default:
				a.depErrs[f.Src] = append(a.depErrs[f.Src], a.readable(e.Msg))
			}
		},
	}
	a.pkg = types.NewPackage("main", "main")
	c.dotImports(a)
	defer func() {
		if r := recover(); r != nil { // go/types panics on some invalid code
			a.errs = append(a.errs, syntax.Problem{Cell: c.N, Line: 1, Col: 1, Msg: fmt.Sprintf("internal error: Go's type checker failed on this cell: %v", r)})
		}
	}()
	a.checker = types.NewChecker(&cfg, c.Session.Fset, a.pkg, a.info)
	_ = a.checker.Files(files)
	sortLabels(a.errs)
}

// sortLabels puts neighbouring errors about labels in the order of the cell: the checker reports unused labels in the
// order of a map.
func sortLabels(errs []syntax.Problem) {
	for i := 0; i < len(errs); i++ {
		end := i
		for end < len(errs) && strings.HasPrefix(errs[end].Msg, "label ") {
			end++
		}
		slices.SortStableFunc(errs[i:end], func(a, b syntax.Problem) int {
			return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
		})
		i = max(i, end)
	}
}

// dotImports adds the names of dot imports to the package's scope, where the session
// and the cell do not declare them. A type that is defined by such a name gets parentheses: go/types looks for cycles
// through plain names, and fails for one that no file of the package declares.
func (c *checker) dotImports(a *attempt) {
	if len(c.Env.Dots) == 0 {
		return
	}
	taken := map[string]bool{}
	for _, f := range a.decls {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	for _, path := range c.Env.Dots {
		pkg, err := c.Session.Importer.Import(path)
		if err != nil {
			continue
		}
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() && !taken[name] && c.Env.Named(name) == nil && a.vars[name] == nil {
				a.pkg.Scope().Insert(o)
			}
		}
	}
	for _, f := range a.decls {
		ast.Inspect(f.File, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if id, ok := spec.Type.(*ast.Ident); ok {
				if o := a.pkg.Scope().Lookup(id.Name); o != nil && o.Pkg() != a.pkg {
					spec.Type = &ast.ParenExpr{Lparen: id.Pos(), X: id, Rparen: id.End()}
				}
			}
			return true
		})
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
func (c *checker) standsAlone(pos token.Pos) bool {
	list := c.Body.Body.List
	i, _ := slices.BinarySearchFunc(list, pos, func(st ast.Stmt, pos token.Pos) int { return cmp.Compare(st.End(), pos) })
	for ; i < len(list) && list[i].Pos() <= pos; i++ {
		if _, ok := list[i].(*ast.ExprStmt); ok {
			return true
		}
	}
	return false
}

// hoisted returns the variables of the cell's outermost scope, which become variables
// of the session.
func (c *checker) hoisted(a *attempt) []*types.Var {
	var list []*types.Var
	seen := map[string]bool{}
	for _, st := range c.Body.Body.List {
		for _, id := range definedBy(st) {
			if v, ok := a.info.Defs[id].(*types.Var); ok && !seen[id.Name] {
				seen[id.Name] = true
				list = append(list, v)
			}
		}
	}
	return list
}
