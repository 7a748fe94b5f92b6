package magic

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"halfnote/internal/near"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Magics runs the magics of one session.
type Magics struct {
	Host
	folder  string   // working folder before the last %cd
	pdb     bool     // whether a panic shows the variables of its calls
	running []string // files that %run is running, outermost first
}

// New returns the magics of a session.
func New(h Host) *Magics { return &Magics{Host: h} }

// Eval runs a cell, with or without magics, or shows the page of help that it asks for.
func (m *Magics) Eval(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	if name, marks, ok := syntax.Question(in.Code); ok {
		return paged(assist.Help(m.Seen(), name, marks))
	}
	if m.leaves(in.Code) {
		fmt.Fprintln(out.Stdout(), "A console ends here. In JupyterLab, Kernel > Shut Down Kernel ends the kernel.")
		return eval.Result{Payload: []eval.Payload{{Source: "ask_exit"}}}
	}
	list := syntax.Segments(in.Code, m.IsValue)
	if len(list) == 1 && list[0].Magic == "" {
		return m.run(ctx, in, out)
	}
	for _, g := range list { // reports errors before any segment runs
		if g.Magic != "" && (Find(g.Magic) == nil || g.Late()) {
			return eval.Result{Err: m.unknown(in.Count, g)}
		}
		if g.Magic == "" && assist.Completeness(g).Status != "complete" { // neither a magic nor Go: reports the error
			if r := m.segment(ctx, in, out, g); r.Err != nil {
				return r
			}
		}
	}
	var r eval.Result
	var pages []eval.Payload
	for i, g := range list {
		if r = m.segment(ctx, in, out, g); r.Err != nil {
			return r
		}
		pages = append(pages, r.Payload...)
		if i < len(list)-1 && g.Magic != "" && r.Value != nil {
			out.Display(*r.Value)
		}
	}
	r.Payload = pages
	return r
}

// run runs Go code.
func (m *Magics) run(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	if m.pdb && !m.Debugger.Examining() {
		return m.examined(ctx, in, out)
	}
	return m.Run(ctx, in, out)
}

// leaves reports whether a cell is IPython's exit or quit, which names nothing here.
func (m *Magics) leaves(code string) bool {
	word := strings.TrimSuffix(strings.TrimSpace(code), "()")
	return (word == "exit" || word == "quit") && !m.IsValue(word, false)
}

func (m *Magics) segment(ctx context.Context, in eval.Cell, out eval.Output, g syntax.Segment) eval.Result {
	in.Code = g.Code
	if g.Magic == "" {
		return m.run(ctx, in, out)
	}
	return Find(g.Magic).Run(&Call{
		Magics: m, Ctx: ctx, Cell: in, Out: out, Args: g.Args, Body: g.Body, Line: g.Line, Variable: g.Variable, Assign: g.Assign, Col: g.Col,
	})
}

// unknown suggests the magics with similar names.
func (m *Magics) unknown(cell int, g syntax.Segment) *eval.Error {
	p := syntax.Problem{Cell: cell, Line: g.Line, Col: g.Col, At: syntax.Span{Line: g.Line, Col: g.Col, End: g.Col + len(g.Magic)},
		Msg: "unknown magic " + g.Magic, Hint: "%lsmagic lists the magics"}
	var bare, full []string
	for _, m := range table {
		bare = append(bare, strings.TrimLeft(m.Name, "%"))
	}
	for _, name := range near.Names(strings.TrimLeft(g.Magic, "%"), bare, 2) {
		for i, m := range table {
			if bare[i] == name {
				full = append(full, m.Name)
			}
		}
	}
	if len(full) > 0 {
		p.Hint = fmt.Sprintf("did you mean %s?", strings.Join(full, " or "))
	}
	if h := hints.Magics[g.Magic]; h != "" {
		p.Hint = h
	}
	if Find(g.Magic) != nil {
		p.Msg, p.Hint = g.Magic+" applies to the cell below it", "make it the first line of the cell"
	}
	return m.Report(&syntax.Rejected{Name: "UnknownMagic", Problems: []syntax.Problem{p}})
}

// assign assigns a value to a variable as the statement "name op zero" in the line of the
// magic would; zero is an expression of the value's type.
func (c *Call) assign(name, op, zero string, col int, v reflect.Value) *eval.Error {
	in := c.Cell
	in.Code = strings.Repeat("\n", c.Line-1) + strings.Repeat(" ", col) + name + " " + op + " " + zero
	r := c.Run(context.WithoutCancel(c.Ctx), in, c.Out)
	if r.Err == nil {
		c.Set(name, v)
	}
	return r.Err
}
