package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/lower"
)

// attempt is one run of the type checker over the session's declarations and the
// cell.
type attempt struct {
	decls []*declFile // of the cell and of dependants
	// vars overrides what variables of the session are: those that the cell
	// declares and its functions use.
	vars    map[string][]ast.Decl
	pkg     *types.Package
	info    *types.Info
	errs    []problem            // of the cell
	depErrs map[*source][]string // of dependants
	missing map[string]bool      // names that the checker does not know because their declaration is wrong
}

// check type-checks what exists and the cell. Nothing has reached the engine
// yet, so a rejected cell leaves no trace. It runs the checker again as long as
// it turns out that more depends on what the cell changes: functions that use a
// type that is new, methods that no longer fit.
func (s *Session) check(c *cell) error {
	c.superseded, c.force = map[*binding]bool{}, map[*source]bool{}
	c.pinned = map[*source]string{}
	for range 20 { // each round adds or removes a declaration; far fewer are seen
		own, err := c.ownDecls()
		if err != nil {
			return err
		}
		c.redeclare(own)
		deps, err := c.dependants(own)
		if err != nil {
			return err
		}
		a := s.attempt(c, slices.Concat(own, deps))
		switch {
		case len(a.depErrs) > 0:
			for src, msgs := range a.depErrs {
				c.pinned[src] = msgs[0]
			}
		case len(a.errs) > 0:
			return &rejected{"CompileError", a.errs}
		case !c.more(a):
			c.pkg, c.info, c.decls = a.pkg, a.info, a.decls
			c.newVars = c.hoisted(a)
			c.standIns = map[string]bool{}
			for name := range a.vars {
				c.standIns[name] = true
			}
			return nil
		}
	}
	return &rejected{"CompileError", []problem{{cell: c.n, line: 1, col: 1, msg: "the declarations that depend on this cell cannot be brought into agreement"}}}
}

// ownDecls parses the cell's declarations and leaves out those that say again
// what is in force already.
func (c *cell) ownDecls() ([]*declFile, error) {
	if err := c.parseStatements(); err != nil {
		return nil, &rejected{"CompileError", c.diagnose()}
	}
	var own []*declFile
	for _, it := range c.items {
		if it.kind != itemDecl {
			continue
		}
		src := &source{cell: c.n, item: it}
		f, err := c.parse(src)
		if err != nil {
			return nil, &rejected{"CompileError", c.diagnose()}
		}
		src.norm = normal(f)
		own = append(own, f)
	}
	c.repeated = c.unchanged(own)
	return slices.DeleteFunc(own, func(f *declFile) bool { return c.repeated[f.src] != nil }), nil
}

// unchanged finds declarations of the cell that are in force word for word, with
// everything that they use: running a cell again keeps its types and functions.
func (c *cell) unchanged(own []*declFile) map[*source]*source {
	same := map[*source]*source{}
	for _, f := range own {
		for _, old := range c.env.sources() {
			if old.norm == f.src.norm && old.inForce(c.env) && c.sameImports(f, old) && !c.force[old] {
				same[f.src] = old
			}
		}
	}
	for again := true; again; {
		again = false
		changed := map[string]bool{}
		for _, f := range own {
			if same[f.src] == nil {
				for _, name := range f.names() {
					changed[name] = true
				}
			}
		}
		for src, old := range same {
			for b := range old.uses {
				if c.env.cur[b.name] != b || changed[b.name] || c.superseded[b] {
					delete(same, src)
					again = true
					break
				}
			}
		}
	}
	return same
}

// inForce tells whether all that the source declares still is what it declared.
func (src *source) inForce(e *env) bool {
	for _, b := range src.binds {
		if e.cur[b.name] != b {
			return false
		}
	}
	for _, m := range src.methods {
		if e.cur[m.typ.name] != m.typ || m.typ.methods[m.name] != m {
			return false
		}
	}
	return len(src.binds)+len(src.methods) > 0
}

func (c *cell) sameImports(f *declFile, old *source) bool {
	for name, path := range old.names {
		if c.importPath(name) != path || c.env.cur[name] != nil {
			return false
		}
	}
	return true
}

// names lists what the file declares; methods as "T.M".
func (f *declFile) names() []string {
	var list []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				list = append(list, d.Name.Name)
			} else {
				list = append(list, receiver(d)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					list = append(list, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						list = append(list, id.Name)
					}
				}
			}
		}
	}
	return list
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// redeclare supersedes the bindings whose names the cell's declarations take.
func (c *cell) redeclare(own []*declFile) {
	for _, f := range own {
		for _, name := range f.names() {
			if b := c.env.cur[name]; b != nil {
				c.superseded[b] = true
			}
		}
	}
}

// dependants parses again the declarations of earlier cells that use, directly
// or not, something that the cell declares anew.
func (c *cell) dependants(own []*declFile) ([]*declFile, error) {
	taken := map[string]bool{}
	for _, f := range own {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	stale := maps.Clone(c.superseded)
	chosen := map[*source]bool{}
	for again := true; again; {
		again = false
		for _, src := range c.env.sources() {
			if chosen[src] || c.pinned[src] != "" || !c.live(src, taken) || !src.usesAny(stale) && !c.force[src] {
				continue
			}
			chosen[src] = true
			again = true
			for _, b := range src.binds {
				if c.env.cur[b.name] == b && !taken[b.name] {
					stale[b] = true
				}
			}
		}
	}
	var deps []*declFile
	for _, src := range c.env.sources() {
		if !chosen[src] {
			continue
		}
		f, err := c.parse(src)
		if err != nil {
			return nil, fmt.Errorf("In[%d] cannot be read again: %w", src.cell, err)
		}
		f.dependant = true
		f.keep(func(name string) bool { return !taken[name] && c.holds(src, name) })
		deps = append(deps, f)
	}
	return deps, nil
}

// live tells whether something that src declares is in force and not about to be
// redeclared by the cell itself.
func (c *cell) live(src *source, taken map[string]bool) bool {
	for _, b := range src.binds {
		if c.env.cur[b.name] == b && !taken[b.name] {
			return true
		}
	}
	for _, m := range src.methods {
		if c.env.cur[m.typ.name] == m.typ && m.typ.methods[m.name] == m && !taken[m.typ.name+"."+m.name] {
			return true
		}
	}
	return false
}

// holds tells whether name, T.M for methods, is in force as src declared it.
func (c *cell) holds(src *source, name string) bool {
	for _, b := range src.binds {
		if b.name == name {
			return c.env.cur[name] == b
		}
	}
	for _, m := range src.methods {
		if m.typ.name+"."+m.name == name {
			return m.typ.methods[m.name] == m
		}
	}
	return false
}

func (src *source) usesAny(set map[*binding]bool) bool {
	for b := range src.uses {
		if set[b] {
			return true
		}
	}
	return false
}

// keep drops the names of the file that are no longer its own: the types of a
// group one by one, constants by giving them no name, for iota's sake.
func (f *declFile) keep(own func(name string) bool) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(spec ast.Spec) bool {
			t, ok := spec.(*ast.TypeSpec)
			return ok && !own(t.Name.Name)
		})
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					if !own(id.Name) {
						id.Name = "_"
					}
				}
			}
		}
	}
}

// attempt runs the checker. If functions of the cell use variables that the cell
// itself declares, it runs twice: the first time without function bodies, to
// learn the variables' types.
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

// mentioned returns the variables of the cell's statements whose names its
// declarations, or dependants, mention.
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

// definedBy lists the names that a statement adds to the scope around it.
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

// stripBodies takes the bodies of functions away, which leaves their types, and
// returns what puts them back. Generic functions must keep theirs.
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

// retire gives types that the attempt declares anew another name for the checker,
// for the sake of values that keep the old type.
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

// prelude declares to the checker what the session has, except what the attempt
// declares itself.
func (c *cell) prelude(a *attempt) *ast.File {
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
		default:
			add(b)
		}
	}
	for _, b := range c.env.old {
		add(b)
	}
	for _, name := range slices.Sorted(maps.Keys(a.vars)) {
		decls = append(decls, a.vars[name]...)
	}
	maps.Copy(paths, c.paths)
	f.Decls = append([]ast.Decl{importDecl(paths)}, decls...)
	return f
}

func newInfo() *types.Info {
	return &types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Instances:  map[*ast.Ident]types.Instance{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Implicits:  map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

// typecheck runs go/types over the attempt's files.
func (s *Session) typecheck(c *cell, a *attempt) {
	a.info = newInfo()
	a.depErrs = map[*source][]string{}
	byFile := map[*token.File]*declFile{c.stmts.tok: c.stmts}
	files := []*ast.File{c.prelude(a)}
	for _, f := range a.decls {
		files = append(files, f.File)
		byFile[f.tok] = f
	}
	files = append(files, c.stmts.File)
	cfg := types.Config{
		Importer: s.importer,
		Error: func(err error) {
			e, ok := err.(types.Error)
			if !ok || tolerated(e.Msg) || strings.HasPrefix(e.Msg, "\t") {
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
				a.errs = append(a.errs, c.problemOf(e))
			default:
				a.depErrs[f.src] = append(a.depErrs[f.src], c.problemOf(e).msg)
			}
		},
	}
	a.pkg = types.NewPackage("main", "main")
	s.dotImports(c, a)
	_ = types.NewChecker(&cfg, c.fset, a.pkg, a.info).Files(files)
}

// dotImports puts the names of dot imports into the package's scope, under those
// that the session and the cell declare.
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

// tolerated tells whether a cell may do what a program may not: declare something
// for a later cell to use.
func tolerated(msg string) bool {
	return strings.HasPrefix(msg, "declared and not used") || strings.HasSuffix(msg, "imported and not used") ||
		strings.Contains(msg, " imported and not used") || strings.Contains(msg, "imported as ") && strings.HasSuffix(msg, "and not used")
}

// standsAlone tells whether pos is in an expression that is a statement of the
// cell itself: its value is shown or dropped.
func (c *cell) standsAlone(pos token.Pos) bool {
	for _, st := range c.body.Body.List {
		if x, ok := st.(*ast.ExprStmt); ok && x.Pos() <= pos && pos <= x.End() {
			return true
		}
	}
	return false
}

// hoisted returns the variables of the cell's outermost scope, which become
// variables of the session.
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

// more extends what the cell supersedes by what the attempt has shown: variables
// of another type, methods of another signature. It reports whether there was
// anything to add.
func (c *cell) more(a *attempt) bool {
	grown := false
	mark := func(b *binding) {
		if b != nil && !c.superseded[b] {
			c.superseded[b] = true
			grown = grown || c.hasUsers(b)
		}
	}
	for _, v := range c.hoisted(a) {
		b := c.env.cur[v.Name()]
		if b == nil || c.sameVar(a, b, v) {
			continue
		}
		mark(b)
	}
	for _, f := range a.decls {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Recv == nil {
				continue
			}
			b := c.env.cur[receiver(fd)]
			if b == nil || b.kind != kindType || c.superseded[b] {
				continue
			}
			fn, _ := a.info.Defs[fd.Name].(*types.Func)
			m := b.methods[fd.Name.Name]
			if fn == nil || m == nil && !b.generic && !b.tainted {
				continue
			}
			if m != nil && m.sig == signature(fn) && !b.generic {
				continue
			}
			// the engine cannot change a method's type: a new version of the type
			c.superseded[b] = true
			c.force[b.src] = true
			grown = true
		}
	}
	return grown
}

// signature writes a method's type, its receiver's kind included, to compare.
func signature(fn *types.Func) string {
	kind := ""
	if _, ok := fn.Signature().Recv().Type().(*types.Pointer); ok {
		kind = "*"
	}
	return kind + types.TypeString(fn.Signature(), (*types.Package).Path)
}

// sameVar tells whether v can live in the slot of b.
func (c *cell) sameVar(a *attempt, b *binding, v *types.Var) bool {
	if b.kind != kindVar {
		return false
	}
	if was, ok := a.pkg.Scope().Lookup(b.check).(*types.Var); ok && a.vars[b.name] == nil {
		return types.Identical(was.Type(), v.Type())
	}
	return b.typ == typeString(v.Type(), a.pkg)
}

func (c *cell) hasUsers(b *binding) bool {
	for _, src := range c.env.sources() {
		if src.uses[b] && c.pinned[src] == "" {
			return true
		}
	}
	return false
}
