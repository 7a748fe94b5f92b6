package export

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// translation rewrites the text of one cell with resolved names and its variable
// declarations as assignments.
type translation struct {
	x      *exporter
	k      *front.Checked
	c      *front.Lowering           // nil until the cell is bound
	text   string                    // file of the statements
	items  []syntax.Item             // top-level statements
	starts []int                     // start of each item in text
	ends   []int                     // end of each item, without the comments that follow
	uses   map[*front.DeclFile][]use // identifiers as they were before bind
	inits  []ast.Expr
}

// use is an identifier of a cell.
type use struct {
	off, len int
	object   types.Object
	selected bool // follows a dot
	literal  bool // inside a function literal of the statements
	out      string
}

func (x *exporter) translation(k *front.Checked) *translation {
	t := &translation{x: x, k: k, uses: map[*front.DeclFile][]use{}}
	t.text, t.starts = k.StatementFile()
	for _, it := range k.Pieces.Items {
		if it.Kind == syntax.Statement {
			t.items = append(t.items, it)
			t.ends = append(t.ends, t.starts[len(t.ends)]+syntax.CodeLen(it.Text))
		}
	}
	for _, f := range append(slices.Clone(k.Decls), k.Stmts) {
		t.note(f)
	}
	return t
}

// note records the identifiers of a file.
func (t *translation) note(f *front.DeclFile) {
	text, skip := t.text, 0
	if f != t.k.Stmts {
		text, skip = f.Src.Item.Text, f.Skip
	}
	selected := map[*ast.Ident]bool{}
	var literals []*ast.FuncLit
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			selected[n.Sel] = true
		case *ast.FuncLit:
			literals = append(literals, n)
		case *ast.Ident:
			if f.Tok != t.k.Session.Fset.File(n.Pos()) {
				return true // made by the session
			}
			u := use{off: f.Tok.Offset(n.Pos()) - skip, object: t.k.Info.Uses[n], selected: selected[n]}
			if u.off < 0 || u.off >= len(text) {
				return true
			}
			if u.object == nil {
				u.object = t.k.Info.Defs[n]
			}
			u.len = front.IdentLen(text[u.off:])
			if t.k.Outs[n.Name] != nil && f == t.k.Stmts {
				u.out = n.Name
				if strings.HasPrefix(text[u.off:], "Out") {
					u.len = strings.IndexByte(text[u.off:], ']') + 1
				}
			}
			u.literal = f == t.k.Stmts && slices.ContainsFunc(literals, func(l *ast.FuncLit) bool { return l.Pos() <= n.Pos() && n.Pos() < l.End() })
			t.uses[f] = append(t.uses[f], u)
		}
		return true
	})
}

// renames returns the edits of a file's identifiers.
func (t *translation) renames(f *front.DeclFile) []edit {
	var list []edit
	for _, u := range t.uses[f] {
		if name := t.name(u); name != "" {
			list = append(list, edit{u.off, u.off + u.len, name})
		}
	}
	return list
}

// name returns the replacement of an identifier, or "" if it stays.
func (t *translation) name(u use) string {
	if u.out != "" {
		return u.out
	}
	o := u.object
	switch v := o.(type) {
	case nil:
		return ""
	case *types.PkgName:
		return t.x.alias(v.Imported().Path())
	case *types.Var:
		if v.Embedded() { // named after its type
			if b := t.c.BindingOf(lower.TypeName(v.Type())); b != nil {
				return b.Slot
			}
			return ""
		}
		if v.IsField() {
			return ""
		}
	}
	b := t.c.BindingOf(o)
	if fn, ok := o.(*types.Func); ok && b != nil && lower.IsGenericMethod(fn) {
		if !b.Again {
			return ""
		}
		return fmt.Sprintf("%s__%d", fn.Name(), b.Seq)
	}
	switch {
	case b == nil:
		if !u.selected && o.Pkg() != nil && o.Pkg() != t.c.Pkg && o.Parent() == o.Pkg().Scope() { // from a dot import
			return t.x.alias(o.Pkg().Path()) + "." + o.Name()
		}
		return ""
	case u.literal && b.Kind == front.KindFunc && !b.Generic:
		return cmp.Or(t.c.Env.Of(b).Hook, b.Slot)
	}
	return b.Slot
}

// declare writes the declarations and variables of the cell, and the declarations that
// depend on it.
func (t *translation) declare(p *part) error {
	c := t.c
	inits := 0
	for _, f := range c.Decls {
		d := exportedDecl{}
		if !f.Dependant {
			d.comment = leading(c.Code, f.Src.Item.Line, false)
		}
		edits := t.renames(f)
		for _, decl := range f.Decls {
			fd, ok := decl.(*ast.FuncDecl)
			switch {
			case !ok:
			case fd.Recv != nil:
				if err := t.method(&d, fd); err != nil {
					return err
				}
			case fd.Name.Name == "init":
				inits++
				off := f.Tok.Offset(fd.Name.Pos()) - f.Skip
				name := fmt.Sprintf("init__%d_%d", c.Seq, inits)
				edits = append(edits, edit{off, off + len("init"), name})
				t.inits = append(t.inits, &ast.CallExpr{Fun: ast.NewIdent(name)})
			}
		}
		d.text = apply(f.Src.Item.Text, 0, len(f.Src.Item.Text), edits) + trailing(c.Code, f.Src.Item, f.Dependant)
		p.decls = append(p.decls, d)
	}
	for _, b := range c.Fresh {
		typ, err := t.x.typeText(c.Bound, c.Vars[b].Type())
		if err != nil {
			return err
		}
		p.vars = append(p.vars, fmt.Sprintf("var %s %s", b.Slot, typ))
	}
	for _, h := range c.Hooked {
		if err := t.hook(p, h.Hook, h.Slot, h.Fn); err != nil {
			return err
		}
	}
	for o, b := range c.Names {
		hook := c.Env.Of(b).Hook
		if fn, ok := o.(*types.Func); ok && b.Kind == front.KindFunc && hook != "" && !c.Hooks(b) {
			if err := t.hook(p, hook, b.Slot, fn); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(p.start, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return nil
}

// hook records that function literals call a function through a variable.
func (t *translation) hook(p *part, hook, slot string, fn *types.Func) error {
	var err error
	t.x.hooks[hook] = append(t.x.hooks[hook], slot)
	t.x.hookType[hook], err = t.x.typeText(t.c.Bound, fn.Signature())
	p.start = append(p.start, [2]string{hook, slot})
	return err
}

// method prepares a method for replacement of its body by a later cell.
func (t *translation) method(d *exportedDecl, fd *ast.FuncDecl) error {
	for _, m := range t.c.NewMethods {
		if m.Decl != fd || m.Hook == "" {
			continue
		}
		var e front.Emission
		if err := t.c.EmitMethod(&e, fd); err != nil {
			return err
		}
		d.hook = m.Hook
		d.through = slices.Concat(e.Vars, e.Funcs)
		set := e.Start[0].(*ast.AssignStmt)
		d.set = [2]string{lower.Print(set.Lhs[0]), lower.Print(set.Rhs[0])}
		t.x.bodies[m.Hook]++
		for path := range t.c.UnitPaths {
			t.x.alias(path)
		}
	}
	return nil
}

// statements writes the statements of the cell.
func (t *translation) statements(p *part, shown bool) error {
	c := t.c
	edits := t.renames(c.Stmts)
	list := c.Body.Body.List
	if len(list) != len(t.items) {
		return fmt.Errorf("interp: export: In[%d] has %d statements in %d parts", c.N, len(list), len(t.items))
	}
	for i, st := range list {
		if _, ok := st.(*ast.DeclStmt); !ok {
			t.callInits(p)
		}
		s := exportedStmt{}
		var err error
		if e, ok := st.(*ast.ExprStmt); ok {
			s, err = t.expression(e, i, i == len(list)-1 && !c.Pieces.Suppressed, shown, edits)
		} else {
			s.text = t.statement(st, t.starts[i], t.ends[i], edits)
		}
		if err != nil {
			return err
		}
		p.body = append(p.body, exportedStmt{text: leading(c.Code, t.items[i].Line, i > 0)}, s)
		if s.show == "" {
			p.body[len(p.body)-1].text += t.items[i].Text[syntax.CodeLen(t.items[i].Text):] + trailing(c.Code, t.items[i], false)
		}
	}
	t.callInits(p)
	return nil
}

func (t *translation) callInits(p *part) {
	for _, e := range t.inits {
		p.body = append(p.body, exportedStmt{text: lower.Print(e)})
	}
	t.inits = nil
}

// statement writes a statement; declarations of session variables become assignments.
func (t *translation) statement(st ast.Stmt, start, end int, edits []edit) string {
	off := t.c.Stmts.Tok.Offset
	switch x := st.(type) {
	case *ast.LabeledStmt:
		inner := off(x.Stmt.Pos())
		return apply(t.text, start, inner, edits) + t.statement(x.Stmt, inner, end, edits)
	case *ast.AssignStmt:
		if x.Tok == token.DEFINE {
			edits = append(slices.Clone(edits), edit{off(x.TokPos), off(x.TokPos) + 2, "="})
		}
	case *ast.DeclStmt:
		if g, ok := x.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			var lines []string
			for _, spec := range g.Specs {
				if line := t.variables(spec.(*ast.ValueSpec), edits); line != "" {
					lines = append(lines, line)
				}
			}
			return strings.Join(lines, "\n")
		}
	}
	return apply(t.text, start, end, edits)
}

// variables writes a variable specification as an assignment.
func (t *translation) variables(v *ast.ValueSpec, edits []edit) string {
	off := t.c.Stmts.Tok.Offset
	part := func(from, to token.Pos) string { return apply(t.text, off(from), off(to), edits) }
	if !slices.ContainsFunc(v.Names, func(id *ast.Ident) bool { return id.Name != "_" }) {
		return "var " + part(v.Pos(), v.End())
	}
	if len(v.Values) > 0 {
		return part(v.Names[0].Pos(), v.Names[len(v.Names)-1].End()) + " = " + part(v.Values[0].Pos(), v.Values[len(v.Values)-1].End())
	}
	var lines []string
	for _, id := range v.Names {
		if b := t.c.BindingOf(t.c.Info.Defs[id]); b != nil && t.c.Reused[b] {
			lines = append(lines, fmt.Sprintf("%s = *new(%s)", b.Slot, part(v.Type.Pos(), v.Type.End())))
		}
	}
	return strings.Join(lines, "\n")
}

// expression writes an expression statement: the last one of a cell is shown, others
// are evaluated.
func (t *translation) expression(e *ast.ExprStmt, i int, last, shown bool, edits []edit) (exportedStmt, error) {
	c := t.c
	s := exportedStmt{text: apply(t.text, t.starts[i], t.ends[i], edits)}
	tv := c.Info.Types[e.X]
	value := tv.IsValue() && !front.IsTuple(tv.Type)
	if tv.IsNil() {
		return exportedStmt{}, nil
	}
	if !last || !value && !front.IsTuple(tv.Type) || c.Prints(e.X) {
		if call, ok := ast.Unparen(e.X).(*ast.CallExpr); value && (!ok || c.Info.Types[call.Fun].IsBuiltin() || c.Info.Types[call.Fun].IsType()) && !front.IsReceive(e.X) {
			s.text = "_ = " + s.text
		}
		return s, nil
	}
	switch typ := types.Default(tv.Type); {
	case front.IsTuple(typ), types.IsInterface(typ):
		s.show = showName
	case isSignature(typ):
		s.text, s.show = fmt.Sprintf("%q", exports.TypeString(typ, c.Pkg)), t.x.alias("fmt")+".Println"
	default:
		s.show = t.x.alias("halfnote/display") + ".Show"
	}
	if front.IsTuple(tv.Type) || isSignature(tv.Type) {
		return s, nil
	}
	var err error
	if shown {
		s.out, err = t.x.keep(c.Bound, types.Default(tv.Type))
	}
	return s, err
}

func isSignature(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}
