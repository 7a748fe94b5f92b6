package interp

import (
	"context"
	"fmt"
	"go/token"
	"slices"
	"sync"

	"halfnote/display"
	"halfnote/interp/engine"
	"halfnote/kernel"
)

// postMortem holds the calls that were active at the first panic of a cell, innermost first.
type postMortem struct {
	mu    sync.Mutex
	text  string // the panic's message
	calls []deadCall
}

// deadCall is a call that a panic ended, with its variables as they were.
type deadCall struct {
	stop
	vars []kernel.Variable
}

// magicDebugCell runs the cell. If it panics, the variables of its calls are shown.
func (s *Session) magicDebugCell(c call) kernel.Result {
	r, post := s.examine(c)
	if post.text != "" {
		c.out.Display(display.Of(post.table()))
	}
	return r
}

// magicDebug runs the last cell that panicked again and shows the variables of its calls.
func (s *Session) magicDebug(c call) kernel.Result {
	if c.args != "" {
		return s.wrong(c, "%%debug %s: want nothing after the magic; %%%%debug applies to the cell below it", c.args)
	}
	for _, e := range slices.Backward(s.ran) {
		if e.Failed != "Panic" {
			continue
		}
		fmt.Fprintf(c.out.Stdout(), "running %s again\n", inLabel(e.Count))
		c.in = kernel.Cell{Code: e.Code, Count: e.Count}
		r, post := s.examine(c)
		if post.text == "" && r.Err == nil {
			fmt.Fprintln(c.out.Stdout(), "it did not panic")
			return r
		}
		if post.text == "" {
			return r
		}
		fmt.Fprintln(c.out.Stdout(), "panic: "+post.text)
		c.out.Display(display.Of(post.table()))
		return kernel.Result{}
	}
	return s.wrong(c, "%%debug: want a cell that has panicked; %%%%debug above a cell shows its variables when it does")
}

// examine runs a cell with stops, which know its variables, and returns what a panic left.
func (s *Session) examine(c call) (kernel.Result, *postMortem) {
	post := &postMortem{}
	s.debugger.examine(post)
	r := s.eval(c.ctx, c.in, c.out)
	s.debugger.examine(nil)
	s.unstop(c)
	return r, post
}

// examine begins or, with nil, ends the recording of panics.
func (d *debugger) examine(p *postMortem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.postMortem = p
	d.watch()
}

// unstop compiles the functions that have stops for a profile or for %debug without them, unless a
// front end debugs.
func (s *Session) unstop(c call) {
	if s.debugger.on() {
		return
	}
	s.debugger.leaving = true
	defer func() { s.debugger.leaving = false }()
	in := c.in
	in.Code = ""
	x, err := s.steps(context.WithoutCancel(c.ctx), in, nowhere{}, "")
	s.drop(x, err == errLeft)
}

// record keeps the variables of calls, outermost first, that a panic is about to end.
func (s *Session) record(post *postMortem, calls []activeCall, p *engine.Panic) {
	post.mu.Lock()
	defer post.mu.Unlock()
	if post.text != "" {
		return // an earlier panic, in another goroutine
	}
	post.text = s.describe(p).Value
	for _, c := range slices.Backward(calls) {
		s.debugger.mu.Lock()
		at := s.debugger.stops[c.stop]
		s.debugger.mu.Unlock()
		vars := s.locals(at, c.vars)
		if at.outer {
			vars = append(s.mentionedVariables(at.code), vars...)
		}
		post.calls = append(post.calls, deadCall{at, vars})
	}
}

// mentionedVariables returns the variables of the session that a cell mentions.
func (s *Session) mentionedVariables(code string) []kernel.Variable {
	names := map[string]bool{}
	scan(code, func(tok token.Token, lit string) { names[lit] = tok == token.IDENT || names[lit] }, func(string) {})
	return slices.DeleteFunc(s.variables(), func(v kernel.Variable) bool { return !names[v.Name] })
}

func (p *postMortem) table() display.Bundle {
	var rows [][]any
	for _, c := range p.calls {
		where := fmt.Sprintf("%s, line %d", inLabel(c.cell), c.line)
		switch {
		case c.literal:
			where += ", in a function literal"
		case !c.outer:
			where += ", in " + c.function
		}
		if len(c.vars) == 0 {
			rows = append(rows, []any{where})
		}
		for _, v := range c.vars {
			rows = append(rows, []any{where, v.Name, v.Type, short(v.Value)})
			where = ""
		}
	}
	return display.Table([]string{"call", "variable", "type", "value"}, rows)
}
