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

// bind gives everything that the cell declares a name that is unique in the
// session, and renames every use, by object and not by name, so that shadowing is
// exact. A variable whose name and type are those of an existing one keeps its
// slot, so that earlier functions see the new value.
func (s *Session) bind(c *cell) error {
	c.names = map[types.Object]*binding{}
	c.before = c.env.clone()
	for _, f := range c.decls {
		if f.dependant { // the session's stays as it is until the cell is accepted
			f.src = &source{cell: f.src.cell, item: f.src.item, norm: f.src.norm}
		}
		for _, name := range f.names() {
			s.bindDecl(c, f, name)
		}
	}
	for _, f := range c.decls {
		s.bindMethods(c, f)
	}
	for _, v := range c.newVars {
		s.bindVar(c, v)
	}
	s.bindLocalTypes(c)
	for _, f := range c.decls {
		c.noteUses(f)
	}
	if err := c.describe(); err != nil {
		return err
	}
	c.noteCaptures()
	for _, f := range append(c.decls, c.stmts) {
		c.renameUses(f)
	}
	c.lateBinding()
	return nil
}

// lateBinding makes function literals of the statements, which may outlive the
// cell, call functions through variables, so that they reach a later version.
// Declared functions need none: they are compiled again.
func (c *cell) lateBinding() {
	ast.Inspect(c.stmts.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if !ok {
			return true
		}
		ast.Inspect(lit.Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			b := c.bindingOf(c.info.Uses[id])
			if b == nil || b.kind != kindFunc || b.generic {
				return true
			}
			if b.hook == "" && c.newFuncHooks[b] == "" {
				c.newFuncHooks[b] = fmt.Sprintf("%s__hook%d", b.slot, c.seq)
				c.hooked = append(c.hooked, hooked{b, c.info.Uses[id].(*types.Func)})
			}
			id.Name = cmp.Or(b.hook, c.newFuncHooks[b])
			return true
		})
		return false
	})
}

// hooked is a function that gets a variable through which literals call it.
type hooked struct {
	*binding
	fn *types.Func
}

// bindDecl makes the new binding of a type, constant or function.
func (s *Session) bindDecl(c *cell, f *declFile, name string) {
	o := c.pkg.Scope().Lookup(name)
	if o == nil || strings.Contains(name, ".") || name == "_" {
		return
	}
	b := &binding{name: name, check: name, cell: f.src.cell, seq: c.seq, src: f.src, typ: typeString(o.Type(), c.pkg)}
	switch o := o.(type) {
	case *types.TypeName:
		b.kind = kindType
		b.methods = map[string]*method{}
		if n, ok := o.Type().(*types.Named); ok {
			b.generic = n.TypeParams().Len() > 0
		}
		b.typ = typeString(o.Type().Underlying(), c.pkg)
	case *types.Const:
		b.kind = kindConst
	case *types.Func:
		b.kind = kindFunc
		b.generic = o.Signature().TypeParams().Len() > 0
		if old := c.env.cur[name]; old != nil && old.kind == kindFunc && old.typ == b.typ {
			b.hook = old.hook
		}
	default:
		return
	}
	b.slot = s.slotName(name, c.seq)
	c.names[o] = b
	if old := c.env.cur[name]; old != nil && old.kind == kindType {
		c.env.old = append(c.env.old, old)
	}
	c.env.cur[name] = b
	f.src.binds = append(f.src.binds, b)
}

// bindMethods adds the file's methods to their types.
func (s *Session) bindMethods(c *cell, f *declFile) {
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		b := c.env.cur[lower.Receiver(fd)]
		fn, _ := c.info.Defs[fd.Name].(*types.Func)
		if b == nil || fn == nil {
			continue
		}
		m := &method{name: fn.Name(), typ: b, sig: signature(fn), cell: f.src.cell, src: f.src}
		if old := b.methods[m.name]; old != nil {
			m.hook = old.hook
		} else if !b.generic && !(c.complete && callsRecover(fd)) {
			m.hook = fmt.Sprintf("%s_%s__hook%d", b.slot, m.name, c.seq)
			c.newHooks[m] = true
		}
		if c.names[c.pkg.Scope().Lookup(b.name)] != b {
			c.touched[b] = true
		}
		// the binding may be shared with the environment before the cell
		c.newMethods = append(c.newMethods, newMethod{m, fd, fn})
		f.src.methods = append(f.src.methods, m)
	}
}

// newMethod is a method that the cell adds to a type when it is accepted.
type newMethod struct {
	*method
	decl *ast.FuncDecl
	fn   *types.Func
}

// bindVar gives a variable of the cell its slot.
func (s *Session) bindVar(c *cell, v *types.Var) {
	if b := c.before.cur[v.Name()]; b != nil && !c.superseded[b] && b.kind == kindVar {
		c.names[v] = b
		c.reused[b] = true
		if o := c.pkg.Scope().Lookup(b.check); o != nil {
			c.names[o] = b
		}
		return
	}
	b := &binding{name: v.Name(), kind: kindVar, check: v.Name(), cell: c.n, seq: c.seq, typ: typeString(v.Type(), c.pkg)}
	b.slot = s.slotName(v.Name(), c.seq)
	c.names[v] = b
	if o := c.pkg.Scope().Lookup(v.Name()); o != nil && c.standIns[v.Name()] {
		c.names[o] = b
	}
	if old := c.env.cur[v.Name()]; old != nil && old.kind == kindType {
		c.env.old = append(c.env.old, old)
		s.mu.Lock() // completion reads the names
		old.rename(fmt.Sprintf("%s__%d", old.name, old.seq))
		s.mu.Unlock()
		c.retired[old] = true
	}
	c.env.cur[v.Name()] = b
	c.fresh = append(c.fresh, b)
	c.vars[b] = v
}

// bindLocalTypes gives types that stand in functions names of their own in the
// session: an engine may take two types of one name for one. Those of generic
// functions get theirs with the instances.
func (s *Session) bindLocalTypes(c *cell) {
	c.localTypes = map[types.Object]string{}
	for _, f := range append(c.decls, c.stmts) {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || lower.IsGeneric(d) {
				continue
			}
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				if t, ok := n.(*ast.TypeSpec); ok && t.Name.Name != "_" {
					if o := c.info.Defs[t.Name]; o != nil && c.bindingOf(o) == nil {
						c.localTypes[o] = s.slotName(t.Name.Name, c.seq)
					}
				}
				return true
			})
		}
	}
}

// bindingOf returns what an object of the checker stands for: one that the cell
// declares, or an earlier one.
func (c *cell) bindingOf(o types.Object) *binding {
	if o == nil {
		return nil
	}
	if b := c.names[o]; b != nil {
		return b
	}
	if o.Pkg() != c.pkg || o.Parent() != c.pkg.Scope() {
		return nil
	}
	if b := c.outs[o.Name()]; b != nil {
		return b
	}
	if b := c.before.byCheck(o.Name()); b != nil {
		return b
	}
	for b := range c.retired {
		if b.check == o.Name() {
			return b
		}
	}
	return c.env.byCheck(o.Name())
}

// noteUses records what a declaration uses, by which it is found when that is
// redeclared.
func (c *cell) noteUses(f *declFile) {
	f.src.uses = map[*binding]bool{}
	f.src.pkgs, f.src.names = map[int]string{}, map[string]string{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := c.info.Uses[id].(type) {
		case nil:
		case *types.PkgName:
			f.src.pkgs[f.offset(id)] = o.Imported().Path()
			f.src.names[f.src.item.text[f.offset(id):][:identLen(f.src.item.text[f.offset(id):])]] = o.Imported().Path()
		default:
			if b := c.bindingOf(o); b != nil {
				f.src.uses[b] = true
			}
		}
		return true
	})
	for _, b := range f.src.binds {
		delete(f.src.uses, b) // recursion is no reason to compile again
	}
}

func identLen(s string) int {
	for i, r := range s {
		if !isIdent(r) {
			return i
		}
	}
	return len(s)
}

func isIdent(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
}

// noteCaptures marks the variables that code of the statements may hold when the
// cell has ended: those that function literals use and those whose address is
// taken.
func (c *cell) noteCaptures() {
	mark := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if b := c.bindingOf(c.info.Uses[id]); b != nil {
					b.captured = true
				}
			}
			return true
		})
	}
	for _, f := range append(c.decls, c.stmts) {
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				mark(n.Body)
			case *ast.UnaryExpr:
				if n.Op == token.AND {
					mark(n.X)
				}
			case *ast.SelectorExpr: // a method with a pointer receiver, or a slice of an array
				if sel := c.info.Selections[n]; sel != nil && sel.Kind() != types.FieldVal {
					mark(n.X)
				}
			}
			return true
		})
	}
}

// describe writes the new bindings' declarations for the checker of later cells.
func (c *cell) describe() error {
	for o, b := range c.names {
		if c.reused[b] || b.kind == kindVar && c.vars[b] != o {
			continue
		}
		b.paths = map[string]bool{}
		decls, err := header(o, checkNames(c.pkg, c.bindingOf, b.paths))
		if err == nil {
			err = c.importable(b.paths)
		}
		if err != nil {
			at := c.fset.Position(o.Pos())
			return &rejected{"CompileError", []problem{{cell: c.n, line: at.Line, col: at.Column, msg: fmt.Sprintf(
				"%s %s cannot be kept for later cells: %v; assign it to a variable of an interface type instead", b.kind, b.name, err)}}}
		}
		b.decls = decls
		for _, d := range decls {
			locate(d, c.ground)
		}
		b.idents = append(b.idents, declared(decls)...)
	}
	for _, m := range c.newMethods {
		m.paths = map[string]bool{}
		name := checkNames(c.pkg, c.bindingOf, m.paths)
		var err error
		if m.header, err = funcHeader(m.fn, c.receiverFor(m.method, m.decl), name); err != nil {
			at := c.fset.Position(m.fn.Pos())
			return &rejected{"CompileError", []problem{{cell: c.n, line: at.Line, col: at.Column, msg: err.Error()}}}
		}
		locate(m.header, c.ground)
	}
	return nil
}

// locate gives the names and pointer types of a tree a position, because the checker
// asks for the file of some.
func locate(n ast.Node, pos token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !n.NamePos.IsValid() {
				n.NamePos = pos
			}
		case *ast.StarExpr:
			n.Star = pos
		}
		return true
	})
}

// receiverFor writes a method's receiver type for the checker, with the type
// parameters' names of the declaration.
func (c *cell) receiverFor(m *method, d *ast.FuncDecl) ast.Expr {
	id := ast.NewIdent(m.typ.check)
	m.typ.idents = append(m.typ.idents, id)
	var e ast.Expr = id
	t, pointer := d.Recv.List[0].Type, false
	for t != nil {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, pointer = x.X, true
			continue
		case *ast.ParenExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			e = &ast.IndexExpr{X: id, Index: ast.NewIdent(x.Index.(*ast.Ident).Name)}
		case *ast.IndexListExpr:
			var list []ast.Expr
			for _, p := range x.Indices {
				list = append(list, ast.NewIdent(p.(*ast.Ident).Name))
			}
			e = &ast.IndexListExpr{X: id, Indices: list}
		}
		break
	}
	if pointer {
		e = &ast.StarExpr{X: e}
	}
	return e
}

// declared returns the identifiers that header declarations declare.
func declared(decls []ast.Decl) []*ast.Ident {
	var list []*ast.Ident
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			list = append(list, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					list = append(list, spec.Name)
				case *ast.ValueSpec:
					list = append(list, spec.Names...)
				}
			}
		}
	}
	return list
}

func (c *cell) importable(paths map[string]bool) error {
	for path := range paths {
		if _, err := c.importer.Import(path); err != nil {
			return fmt.Errorf("its type is of package %q, which cells cannot import", path)
		}
	}
	return nil
}

// checkNames names types for the checker: those of packages by the packages'
// aliases, those of the session by their names, which are noted as identifiers of
// their bindings.
func checkNames(pkg *types.Package, bindingOf func(types.Object) *binding, paths map[string]bool) lower.Namer {
	return func(o *types.TypeName) (ast.Expr, error) {
		if e, err := foreign(pkg, o, paths); e != nil || err != nil {
			return e, err
		}
		id := ast.NewIdent(o.Name())
		if bindingOf != nil {
			b := bindingOf(o)
			if b == nil {
				return nil, fmt.Errorf("type %s is declared inside a function", o.Name())
			}
			id.Name = b.check
			b.idents = append(b.idents, id)
		}
		return id, nil
	}
}

// engineNames names types for the engine.
func (c *cell) engineNames(o *types.TypeName) (ast.Expr, error) {
	if name := c.flatName(o); name != "" {
		return ast.NewIdent(name), nil
	}
	return compiled(o, c.pkg, c.unitPaths)
}

// compiled names types for the engine that are compiled, or that a function
// declares and uses inside it.
func compiled(o *types.TypeName, pkg *types.Package, paths map[string]bool) (ast.Expr, error) {
	if n, ok := o.Type().(*types.Named); ok && n.TypeParams().Len() > 0 && o.Pkg() != pkg {
		if _, ok := n.Underlying().(*types.Signature); ok {
			return nil, nil // iter.Seq[int] is written as the function that it is
		}
		return nil, fmt.Errorf("the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
	}
	if e, err := foreign(pkg, o, paths); e != nil || err != nil {
		return e, err
	}
	return ast.NewIdent(o.Name()), nil
}

// flatName is the engine's name of what the session declares or what is run from
// source, "" for everything else.
func (c *cell) flatName(o types.Object) string {
	if b := c.bindingOf(o); b != nil {
		return b.slot
	}
	if name := cmp.Or(c.std.name(o), c.packages.name(o)); name != "" {
		c.flat = true
		return name
	}
	return c.localTypes[o]
}

// foreign names types that are not the session's; it returns nil, nil for those.
func foreign(pkg *types.Package, o *types.TypeName, paths map[string]bool) (ast.Expr, error) {
	switch {
	case o.Pkg() == nil:
		return ast.NewIdent(o.Name()), nil
	case o.Pkg() == pkg:
		return nil, nil
	case !o.Exported() && library.Hidden(o) != "":
		paths[o.Pkg().Path()] = true
		return &ast.SelectorExpr{X: ast.NewIdent(alias(o.Pkg().Path())), Sel: ast.NewIdent(library.Hidden(o))}, nil
	case !o.Exported():
		return nil, fmt.Errorf("its type %s.%s has no name outside its package", o.Pkg().Name(), o.Name())
	}
	paths[o.Pkg().Path()] = true
	return &ast.SelectorExpr{X: ast.NewIdent(alias(o.Pkg().Path())), Sel: ast.NewIdent(o.Name())}, nil
}

// renameUses writes the engine's names into a tree.
func (c *cell) renameUses(f *declFile) {
	flat := &lower.Flat{Info: c.info, Name: c.flatName, Alias: func(path string) string {
		c.unitPaths[path] = true
		return alias(path)
	}}
	flat.Apply(f.File)
}

// slotName returns a name that the engine has not seen. A name's first meaning
// keeps it, which makes the engine's own messages readable.
func (s *Session) slotName(name string, seq int) string {
	slot := name
	if s.slots[slot] || types.Universe.Lookup(name) != nil || strings.Contains(name, "__") || name == "main" || name == "init" {
		slot = fmt.Sprintf("%s__%d", name, seq)
		for i := 2; s.slots[slot]; i++ {
			slot = fmt.Sprintf("%s__%d_%d", name, seq, i)
		}
	}
	s.slots[slot] = true
	return slot
}

func typeString(t types.Type, pkg *types.Package) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}

// commit makes the cell's environment the session's.
func (s *Session) commit(c *cell) {
	for _, m := range c.newMethods {
		m.typ.methods[m.name] = m.method
	}
	for b, hook := range c.newFuncHooks {
		b.hook = hook
	}
	for again, src := range c.repeated { // it is now where it was last run
		src.cell, src.item = again.cell, again.item
		for _, b := range src.binds {
			b.cell = src.cell
		}
		for _, m := range src.methods {
			m.cell = src.cell
		}
	}
	s.env = c.env
	if c.generics != nil {
		s.generics = c.generics
	}
	if c.included != nil {
		s.included = c.included
	}
	c.retired = map[*binding]bool{} // they stay retired
	for b := range c.superseded {
		if s.env.cur[b.name] != b && !s.used(b) && (b.kind == kindFunc || b.kind == kindVar && !b.captured) {
			s.engine.Remove(b.slot)
		}
	}
	s.sweep()
}

func (s *Session) used(b *binding) bool {
	for _, src := range s.env.sources() {
		if src.uses[b] {
			return true
		}
	}
	return false
}

// sweep forgets versions of types that nothing mentions any more.
func (s *Session) sweep() {
	if len(s.env.old) == 0 {
		return
	}
	used := map[string]bool{}
	note := func(owner *binding, d ast.Node) {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (owner == nil || id.Name != owner.check) {
				used[id.Name] = true
			}
			return true
		})
	}
	for _, b := range append(slices.Collect(maps.Values(s.env.cur)), s.env.old...) {
		for _, d := range b.decls {
			note(b, d)
		}
		for _, m := range b.methods {
			note(b, m.header)
		}
	}
	for _, b := range s.env.old {
		b.onlyShown = !used[b.check]
	}
	for _, o := range s.outs.kept {
		for _, d := range o.decls {
			note(nil, d)
		}
	}
	s.env.old = slices.DeleteFunc(s.env.old, func(b *binding) bool { return !used[b.check] })
}

// callsRecover tells whether a method may call recover, which has an effect only in
// the very function that is deferred: it cannot do so through a variable then.
func callsRecover(d *ast.FuncDecl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "recover"
		return !found
	})
	return found
}
