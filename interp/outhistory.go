package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"halfnote/interp/lower"
)

// The values that cells have shown are stored in variables, which later cells name as
// in IPython: Out[7] or _7 is that of In[7], _ the last one, __ and ___ the two before.
// Each has the type of its expression. maxOuts of them are kept, so that a notebook
// does not retain every tensor it has shown; a value of more than bigOut bytes is kept
// only while it is the last.
const (
	maxOuts = 100
	bigOut  = 1 << 20
)

// outputs holds the values of cells that the session still keeps.
type outputs struct {
	kept []keptValue // oldest first
	last []int       // cells of _, __ and ___
}

// keptValue is a value that a cell has shown.
type keptValue struct {
	*binding
	big bool
}

func (o *outputs) of(cell int) *binding {
	for _, v := range o.kept {
		if v.cell == cell {
			return v.binding
		}
	}
	return nil
}

// keepOutput keeps the value that the cell has shown, unless there are several or its
// type has no name.
func (s *Session) keepOutput(c *cell) {
	if c.value == nil || len(c.results) != 1 || c.n < 0 {
		return
	}
	r := c.results[0]
	v, ok := s.engine.Slot(r.slot)
	if !ok {
		return
	}
	name := fmt.Sprintf("Out__%d", c.n)
	b := &binding{
		name: name, check: name, kind: kindVar, cell: c.n, seq: c.seq, slot: r.slot,
		typ: typeString(r.typ, c.pkg), paths: map[string]bool{},
	}
	decls, err := header(types.NewVar(token.NoPos, c.pkg, name, r.typ), checkNames(c.pkg, c.bindingOf, b.paths))
	if err != nil || c.importable(b.paths) != nil {
		return
	}
	for _, d := range decls {
		locate(d, c.ground)
	}
	b.decls = decls
	c.results = nil // the value outlives the cell
	s.dropOutputs(func(o keptValue) bool { return o.big || o.cell == c.n })
	o := &s.outs
	o.kept = append(o.kept, keptValue{b, sizeOf(v) > bigOut})
	o.last = append([]int{c.n}, o.last[:min(2, len(o.last))]...)
	if len(o.kept) > maxOuts {
		oldest := o.kept[0].binding
		s.dropOutputs(func(v keptValue) bool { return v.binding == oldest })
	}
}

// makeRoom drops a value that is too big to keep, if the cell will show another and
// does not use it.
func (s *Session) makeRoom(c *cell) {
	if len(c.results) == 1 {
		s.dropOutputs(func(v keptValue) bool { return v.big && c.outs[v.check] == nil })
	}
}

// dropOutputs forgets values. A value that a function literal or pointer may hold lives
// as long as its holder.
func (s *Session) dropOutputs(which func(keptValue) bool) {
	s.outs.kept = slices.DeleteFunc(s.outs.kept, func(v keptValue) bool {
		if !which(v) {
			return false
		}
		if !v.captured {
			s.engine.Remove(v.slot)
		}
		own := map[*ast.Ident]bool{}
		for _, d := range v.decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					own[id] = true
				}
				return true
			})
		}
		for _, b := range append(s.current(), s.env.old...) {
			if b.kind == kindType {
				b.idents = slices.DeleteFunc(b.idents, func(id *ast.Ident) bool { return own[id] })
			}
		}
		return true
	})
}

// inputs returns the sources of the cells so far, by number, as IPython's In does.
func (s *Session) inputs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for n, code := range s.code {
		if n < 0 {
			continue
		}
		if n >= len(list) {
			list = append(list, make([]string, n+1-len(list))...)
		}
		list[n] = code
	}
	return list
}

// inName is the variable of a cell that holds the result of inputs.
const inName = "In__0"

// useOutputs finds the references of the cell's statements to values of earlier cells,
// and replaces them with the names of their variables.
func (s *Session) useOutputs(c *cell, own []*declFile) []problem {
	c.outs = map[string]*binding{}
	if !strings.Contains(c.code, "_") && !strings.Contains(c.code, "Out") && !strings.Contains(c.code, "In") {
		return nil
	}
	taken := map[string]bool{}
	for _, f := range own {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	u := outputUses{s: s, c: c, defining: map[*ast.Ident]bool{}}
	ast.Inspect(c.stmts.File, u.definitions)
	for id := range u.defining {
		taken[id.Name] = id.Name != "_"
	}
	u.taken = func(name string) bool { return taken[name] || c.env.cur[name] != nil || c.importPath(name) != "" }
	lower.Replace(c.stmts.File, u.use)
	return u.problems
}

type outputUses struct {
	s        *Session
	c        *cell
	defining map[*ast.Ident]bool // identifiers that do not denote a value
	taken    func(name string) bool
	problems []problem
}

// definitions records the identifiers that are being defined, and blank identifiers
// that are assigned to.
func (u *outputUses) definitions(n ast.Node) bool {
	note := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				u.defining[id] = true
			}
		}
	}
	notes := func(list []*ast.Ident) {
		for _, id := range list {
			u.defining[id] = true
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if id, ok := e.(*ast.Ident); ok && (n.Tok == token.DEFINE || id.Name == "_") {
				note(id)
			}
		}
	case *ast.IncDecStmt:
		if id, ok := n.X.(*ast.Ident); ok && id.Name == "_" {
			note(id)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			note(n.Key, n.Value)
		}
		for _, e := range []ast.Expr{n.Key, n.Value} {
			if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
				note(id)
			}
		}
	case *ast.ValueSpec:
		notes(n.Names)
	case *ast.TypeSpec:
		note(n.Name)
	case *ast.Field:
		notes(n.Names)
	case *ast.LabeledStmt:
		note(n.Label)
	case *ast.BranchStmt:
		if n.Label != nil {
			note(n.Label)
		}
	case *ast.SelectorExpr:
		note(n.Sel)
	case *ast.FuncDecl:
		note(n.Name)
	}
	return true
}

// use returns the variable that an expression denotes, or nil.
func (u *outputUses) use(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.IndexExpr:
		if id, ok := e.X.(*ast.Ident); ok && id.Name == "Out" && !u.taken("Out") {
			return u.index(e)
		}
	case *ast.Ident:
		if !u.defining[e] {
			return u.name(e)
		}
	}
	return nil
}

// index resolves Out[n].
func (u *outputUses) index(x *ast.IndexExpr) ast.Expr {
	lit, ok := x.Index.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		u.fail(x, "the index of Out must be a literal cell number, such as Out[3]: the values of cells have different types")
		return x
	}
	cell, err := strconv.Atoi(lit.Value)
	if err != nil {
		u.fail(lit, "there is no cell "+lit.Value)
		return x
	}
	return u.variable(x, cell)
}

// name resolves _, __, ___, _7 and In.
func (u *outputUses) name(id *ast.Ident) ast.Expr {
	last := u.s.outs.last
	switch name := id.Name; {
	case name != "_" && u.taken(name):
	case name == "_", name == "__", name == "___":
		i := len(name) - 1
		if i < len(last) {
			return u.variable(id, last[i])
		}
		u.fail(id, name+" is the value of an earlier cell, and "+[...]string{"no cell has", "fewer than two cells have", "fewer than three cells have"}[i]+" shown one yet")
	case name == "In":
		u.c.outs[inName] = &binding{
			name: name, check: inName, kind: kindVar, slot: fmt.Sprintf("in__%d", u.c.seq), decls: inputDecl(id.Pos()),
		}
		return &ast.Ident{Name: inName, NamePos: id.Pos()}
	case strings.HasPrefix(name, "_"):
		if cell, err := strconv.Atoi(name[1:]); err == nil {
			return u.variable(id, cell)
		}
	}
	return nil
}

// variable returns the variable that holds a cell's value.
func (u *outputUses) variable(at ast.Expr, cell int) ast.Expr {
	b := u.s.outs.of(cell)
	if b == nil {
		u.fail(at, u.s.outs.missing(cell))
		return at
	}
	u.c.outs[b.check] = b
	return &ast.Ident{Name: b.check, NamePos: at.Pos()}
}

// missing explains why a cell has no value.
func (o *outputs) missing(cell int) string {
	var list []string
	for _, v := range o.kept[max(0, len(o.kept)-5):] {
		list = append(list, fmt.Sprintf("Out[%d]", v.cell))
	}
	why := fmt.Sprintf("cell %d showed no value, or one that is not kept", cell)
	if slices.Contains(o.last, cell) {
		why = fmt.Sprintf("the value of In[%d] is no longer kept: values of more than %d MB are kept only until the next one", cell, bigOut>>20)
	}
	if len(list) == 0 {
		return why
	}
	return why + "; available: " + strings.Join(list, ", ")
}

func (u *outputUses) fail(at ast.Node, msg string) {
	p := u.c.fset.Position(at.Pos())
	u.problems = append(u.problems, problem{
		cell: u.c.n, line: p.Line, col: p.Column, msg: msg, at: between(u.c.fset, at.Pos(), at.End()),
	})
}

func inputDecl(pos token.Pos) []ast.Decl {
	d := varDecl(inName, &ast.ArrayType{Elt: ast.NewIdent("string")})
	locate(d, pos)
	return []ast.Decl{d}
}
