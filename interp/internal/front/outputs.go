package front

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// The values that cells have shown are stored in variables, which later cells name as
// in IPython: Out[7] or _7 is that of In[7], _ the last one, __ and ___ the two before.
// Each has the type of its expression. maxOuts of them are kept, so that a notebook
// does not retain every tensor it has shown; a value of more than bigOut bytes is kept
// only while it is the last.
const (
	MaxOuts = 100
	BigOut  = 1 << 20
)

// outputs are the values of cells that the session still keeps. Their facts are in the environment.
type outputs struct {
	Kept []KeptValue // oldest first
	Last []int       // cells of _, __ and ___
}

// KeptValue is a value that a cell has shown.
type KeptValue struct {
	*Binding
	Big bool
}

// value returns the variable that holds the value of a cell, or nil.
func (o *outputs) value(cell int) *Binding {
	for _, v := range o.Kept {
		if v.Made == cell {
			return v.Binding
		}
	}
	return nil
}

// Keep adds a value that a cell has shown.
func (e *Env) Keep(b *Binding, h Header, big bool) {
	e.facts.set(b, &fact{Check: b.Name, Header: h})
	e.Kept = append(e.Kept, KeptValue{b, big})
	e.Last = append([]int{b.Made}, e.Last[:min(2, len(e.Last))]...)
}

// Drop forgets kept values and returns their variables.
func (e *Env) Drop(which func(KeptValue) bool) (gone []*Binding) {
	e.Kept = slices.DeleteFunc(e.Kept, func(v KeptValue) bool {
		if !which(v) {
			return false
		}
		gone = append(gone, v.Binding)
		for _, r := range e.Of(v.Binding).Header.refs {
			e.moved = append(e.moved, r.b)
		}
		e.facts.set(v.Binding, nil)
		return true
	})
	return gone
}

// InName is the variable of a cell that holds the result of inputs.
const InName = "In__0"

// useOutputs finds the references of the cell's statements to values of earlier cells,
// and replaces them with the names of their variables.
func (c *checker) useOutputs(own []*DeclFile) []syntax.Problem {
	c.Outs = map[string]*Binding{}
	if !strings.Contains(c.Code, "_") && !strings.Contains(c.Code, "Out") && !strings.Contains(c.Code, "In") {
		return nil
	}
	taken := map[string]bool{}
	for _, f := range own {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	u := outputUses{c: c, defining: syntax.Definitions(c.Stmts.File)}
	for id := range u.defining {
		taken[id.Name] = id.Name != "_"
	}
	u.taken = func(name string) bool { return taken[name] || c.Env.Named(name) != nil || c.importPath(name) != "" }
	lower.Replace(c.Stmts.File, u.use)
	return u.problems
}

type outputUses struct {
	c        *checker
	defining map[*ast.Ident]bool // identifiers that do not denote a value
	taken    func(name string) bool
	problems []syntax.Problem
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
		u.fail(lit, "cell "+lit.Value+" does not exist")
		return x
	}
	return u.variable(x, cell)
}

// name resolves _, __, ___, _7 and In.
func (u *outputUses) name(id *ast.Ident) ast.Expr {
	last := u.c.Env.Last
	switch name := id.Name; {
	case name != "_" && u.taken(name):
	case name == "_", name == "__", name == "___":
		i := len(name) - 1
		if i < len(last) {
			return u.variable(id, last[i])
		}
		u.fail(id, name+" is the value of an earlier cell, and "+[...]string{"no cell has", "fewer than two cells have", "fewer than three cells have"}[i]+" shown one yet")
	case name == "In":
		b := &Binding{Name: InName, Kind: KindVar, Slot: fmt.Sprintf("in__%d", u.c.Seq)}
		u.c.Outs[InName] = b
		u.c.Env.facts.set(b, &fact{Check: InName, Header: newHeading().header(varDecl(InName, &ast.ArrayType{Elt: ast.NewIdent("string")}))})
		u.c.Env.moved = append(u.c.Env.moved, b)
		return &ast.Ident{Name: InName, NamePos: id.Pos()}
	case strings.HasPrefix(name, "_"):
		if cell, err := strconv.Atoi(name[1:]); err == nil {
			return u.variable(id, cell)
		}
	}
	return nil
}

// variable returns the variable that holds a cell's value.
func (u *outputUses) variable(at ast.Expr, cell int) ast.Expr {
	b := u.c.Env.value(cell)
	if b == nil {
		u.fail(at, u.c.Env.missing(cell))
		return at
	}
	u.c.Outs[b.Name] = b
	return &ast.Ident{Name: b.Name, NamePos: at.Pos()}
}

// missing explains why a cell has no value.
func (o *outputs) missing(cell int) string {
	var list []string
	for _, v := range o.Kept[max(0, len(o.Kept)-5):] {
		list = append(list, fmt.Sprintf("Out[%d]", v.Made))
	}
	why := fmt.Sprintf("cell %d showed no value, or one that is not kept", cell)
	if slices.Contains(o.Last, cell) {
		why = fmt.Sprintf("the value of In[%d] has been dropped: a value of more than %d MB is kept only until the next value is shown", cell, BigOut>>20)
	}
	if len(list) == 0 {
		return why
	}
	return why + "; available: " + strings.Join(list, ", ")
}

func (u *outputUses) fail(at ast.Node, msg string) {
	p := u.c.Session.Fset.Position(at.Pos())
	u.problems = append(u.problems, syntax.Problem{
		Cell: u.c.N, Line: p.Line, Col: p.Column, Msg: msg, At: syntax.Between(u.c.Session.Fset, at.Pos(), at.End()),
	})
}
