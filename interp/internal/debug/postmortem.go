package debug

import (
	"go/token"
	"slices"
	"sync"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// PostMortem holds the calls that were active at the first panic of a cell, innermost first.
type PostMortem struct {
	mu    sync.Mutex
	Text  string // the panic's message
	Calls []DeadCall
}

// DeadCall is a call that a panic ended, with its variables as they were.
type DeadCall struct {
	Stop
	Vars []eval.Variable
}

// Examine begins or, with nil, ends the recording of panics.
func (d *Debugger) Examine(p *PostMortem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.postMortem = p
	d.watch()
}

// Examining reports whether panics are recorded.
func (d *Debugger) Examining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.postMortem != nil
}

// record keeps the variables of calls, outermost first, that a panic is about to end.
func (d *Debugger) record(post *PostMortem, calls []activeCall, p *engine.Panic) {
	post.mu.Lock()
	defer post.mu.Unlock()
	if post.Text != "" {
		return // an earlier panic, in another goroutine
	}
	post.Text = d.session.Message(p)
	for _, c := range slices.Backward(calls) {
		d.mu.Lock()
		at := d.stops[c.stop]
		d.mu.Unlock()
		vars := d.locals(at, c.vars)
		if at.Outer {
			vars = append(d.mentioned(at.Code), vars...)
		}
		post.Calls = append(post.Calls, DeadCall{at, vars})
	}
}

// mentioned returns the variables of the session that a cell mentions.
func (d *Debugger) mentioned(code string) []eval.Variable {
	names := map[string]bool{}
	syntax.Scan(code, func(tok token.Token, lit string) { names[lit] = tok == token.IDENT || names[lit] }, func(string) {})
	return slices.DeleteFunc(d.session.Variables(), func(v eval.Variable) bool { return !names[v.Name] })
}
