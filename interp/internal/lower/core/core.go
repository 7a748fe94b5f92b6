// Package core holds the subset of Go that units for the interpreter consist of, after they have been rewritten, and checks units
// against it. The subset is a table of forms of expressions and statements, with the kinds of types, the positions and the storages in
// which each is known to run as in compiled Go. What the table does not list is refused before the interpreter sees it: a rewrite that
// was forgotten ends in a refusal and never in a wrong value.
package core

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"halfnote/interp/internal/lower"
)

// Row lists where a form may stand. A form with several rows may stand where one of them allows it.
type Row struct {
	Form      string
	Name      string // noun phrase for messages
	Kinds     Kind   // of the form's type, of the operand of ++ and --, of the values of a loop
	Positions Position
	Storages  Storage // where an assignment may put it; 0 means that this does not matter
	Proof     string  // script of package interp that covers the row
}

// Refusal is a node that is not in the core.
type Refusal struct {
	Pos  token.Pos
	Form string
	What string
	Node ast.Node
}

// Check returns an error, of type *lower.Unsupported, for the first node of a unit that is not in the core.
func Check(u *lower.Unit) error {
	var first *lower.Unsupported
	Report(u, func(r Refusal) {
		if first == nil {
			first = &lower.Unsupported{Pos: r.Pos, What: r.What}
		}
	})
	if first == nil {
		return nil
	}
	return first
}

// Report calls f for every node of a unit that is not in the core.
func Report(u *lower.Unit, f func(Refusal)) {
	c := &checker{refuse: f, reader: reader{u: u, info: u.Info, made: map[string]types.Type{}, seen: map[ast.Expr]types.Type{}, funcs: map[string]bool{}}}
	for _, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && fd.Recv == nil {
			c.funcs[fd.Name.Name] = true
			if c.object(fd.Name) == nil {
				c.made[fd.Name.Name] = c.signature(fd.Type)
			}
		}
	}
	for _, d := range u.File.Decls {
		c.declaration(d)
	}
}

var (
	rows   = map[string][]*Row{}
	narrow = map[string]bool{} // forms whose rows look at storages
)

func init() {
	for i := range Table {
		r := &Table[i]
		rows[r.Form] = append(rows[r.Form], r)
		narrow[r.Form] = narrow[r.Form] || r.Storages != 0
	}
}

// permit refuses a node that no row allows.
func (c *checker) permit(form string, n ast.Node, t types.Type, at Position, in Storage) {
	list := rows[form]
	if len(list) == 0 {
		c.refuseAt(n, form, fmt.Sprintf("a form of Go that the interpreter has not been shown to run right (%s)", form))
		return
	}
	kind := Unknown
	for _, r := range list {
		if r.Kinds != AnyKind && kind == Unknown {
			kind = kindOf(t)
		}
		if r.Positions&at == at && (r.Kinds == AnyKind || r.Kinds&kind != 0) && (r.Storages == 0 || r.Storages&in == in) {
			return
		}
	}
	r := list[0]
	what := r.Name
	switch {
	case r.Positions&at != at:
		what += ", " + (at &^ r.Positions).name()
	case r.Kinds != AnyKind && r.Kinds&kind == 0:
		what += " of kind " + kind.String()
	default:
		what += " assigned to " + (in &^ r.Storages).String()
	}
	c.refuseAt(n, form, what)
}

func (c *checker) refuseAt(n ast.Node, form, what string) {
	pos := c.at
	if p := n.Pos(); p.IsValid() {
		pos = p
	}
	c.refuse(Refusal{pos, form, what + advice, n})
}

const advice = "; compiled cells run it (--engine native, on Linux)"
