package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"halfnote/display"
	"halfnote/interp/engine"
	"halfnote/interp/internal/live"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// steps lists the steps that a cell passes through, in order. A failed step ends the cell.
// A cell leaves nothing behind until declare has accepted it.
var steps = []struct {
	name string
	run  func(*Session, *cell) error
	// checks is set for steps that read packages or run the type checker.
	checks bool
}{
	{"split", (*Session).split, true},
	{"check", (*Session).check, true},
	{"fit", (*Session).fits, true},
	{"bind", (*Session).bind, true},
	{"lower", (*Session).lower, true},
	{"declare", (*Session).declare, false},
	{"run", (*Session).execute, false},
	{"render", (*Session).render, false},
}

// cell is the state of one cell as it passes through the steps.
type cell struct {
	n, seq int
	code   string
	out    kernel.Output
	debug  bool // compiled with stops
	ctx    context.Context
	ran    []ExecutedCell // the cells before it

	imported []string // import paths loaded from source
	importer types.Importer
	std      *std
	packages *packages
	fset     *token.FileSet
	ground   token.Pos // position for declarations of earlier cells, whose files may have been released
	files    int
	parsed   []*declFile
	pieces
	env *env // the environment once the cell is accepted

	// check
	whole      bool // the checker must see all declarations of the session
	stmts      *declFile
	body       *ast.FuncDecl
	decls      []*declFile
	repeated   map[*source]*source // declarations already in force
	superseded map[*binding]bool
	force      map[*source]bool // sources to compile again although nothing they use changed
	pinned     map[*source]string
	retired    map[*binding]bool
	paths      map[string]bool // packages mentioned by the stand-ins for the cell's variables
	standIns   map[string]bool
	pkg        *types.Package
	info       *types.Info
	newVars    []*types.Var
	outs       map[string]*binding // values of earlier cells that the cell uses, by checker name

	// bind
	before     *env
	names      map[types.Object]*binding
	vars       map[*binding]types.Object
	localTypes map[types.Object]string // engine names of types declared in functions
	fresh      []*binding              // variables with a new slot
	reused     map[*binding]bool       // variables that keep their slot
	newMethods []newMethod
	newHooks   map[*method]bool
	touched    map[*binding]bool // types of earlier cells that gain methods
	complete   bool              // types cannot gain methods later

	newFuncHooks map[*binding]string
	hooked       []hooked
	typesBySlot  map[string]*binding

	// lower
	unitPaths  map[string]bool
	flat       bool            // the cell uses packages run from source
	generics   *generics       // nil if the cell uses no generics
	included   map[string]bool // standard library source, or nil if the cell uses none
	labels     map[string]string
	generated  map[*ast.FuncDecl]bool
	inits      int
	suspicions []string // notes on valid code that may mean something else
	results    []outValue
	marks      []lower.Mark
	markBase   int // number of marks in the session before these
	unit       *engine.Unit

	starts  []*sourceUnit // packages to initialize before the cell runs
	program engine.Program
	run     *live.Cell
	value   *display.Bundle
}

// outValue is a slot for a value of the last expression.
type outValue struct {
	slot string
	typ  types.Type
	note string // what the user may have meant, usually ""
}

// newCell returns a cell that works on a copy of the environment.
func (s *Session) newCell(ctx context.Context, in kernel.Cell, out kernel.Output) *cell {
	s.seq++
	return &cell{
		n: in.Count, seq: s.seq, code: in.Code, out: out, ctx: ctx, ran: s.ran,
		importer: s.importer, std: s.std, packages: s.packages, fset: s.engine.Files(), ground: s.ground, env: s.env.clone(),
		complete: s.engine.Needs().Complete,
		retired:  map[*binding]bool{}, paths: map[string]bool{},
		vars: map[*binding]types.Object{}, reused: map[*binding]bool{}, newHooks: map[*method]bool{},
		touched: map[*binding]bool{}, newFuncHooks: map[*binding]string{},
		unitPaths: map[string]bool{}, labels: map[string]string{}, generated: map[*ast.FuncDecl]bool{},
	}
}

// run takes a cell through the steps.
func (s *Session) run(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	defer trim(allocated())
	c, err := s.steps(ctx, in, out, "")
	var no *rejected
	if c.debug && errors.As(err, &no) && no.name == "Unsupported" { // possibly because of the stops
		s.debugger.refused = true
		c, err = s.steps(ctx, in, out, "")
		s.debugger.refused = false
	}
	if err == nil {
		s.keepOutput(c)
		s.noteOutputs()
	}
	s.screen.Settle()
	r := s.finish(c, err)
	s.drop(c, errors.Is(err, errLeft))
	return r
}

// steps takes a cell through the steps before the named one, or through all if until is
// empty.
func (s *Session) steps(ctx context.Context, in kernel.Cell, out kernel.Output, until string) (*cell, error) {
	c := s.newCell(ctx, in, out)
	c.debug = until == "" && !s.debugger.refused && s.debugger.on()
	var err error
	for _, step := range steps {
		if step.name == until {
			break
		}
		if err = s.step(c, step.run, step.checks); err != nil {
			break
		}
	}
	if s.env != c.env { // the cell was not accepted
		s.mu.Lock()
		c.restore()
		s.snap = nil
		s.mu.Unlock()
		s.packages.forget()
	}
	return c, err
}

func (s *Session) step(c *cell, run func(*Session, *cell) error, checks bool) error {
	if checks {
		s.checking.Lock()
		defer s.checking.Unlock()
	}
	return run(s, c)
}

// finish returns the result of a cell.
func (s *Session) finish(c *cell, err error) kernel.Result {
	var r *rejected
	var p *engine.Panic
	switch {
	case err == nil:
		return kernel.Result{Value: c.value}
	case errors.As(err, &r):
		return kernel.Result{Err: s.report(r)}
	case errors.As(err, &p):
		return kernel.Result{Err: s.traceback(c, p)}
	case errors.Is(err, errLeft):
		return kernel.Result{Err: s.interrupted(c, nil)}
	}
	return kernel.Result{Err: &kernel.Error{Name: "InternalError", Value: err.Error(), Traceback: []string{bold(err.Error())}}}
}

// drop releases the resources that only this cell used. A cell that was left behind is
// still running.
func (s *Session) drop(c *cell, left bool) {
	for _, v := range c.results {
		s.engine.Remove(v.slot)
	}
	if left {
		return
	}
	gone := c.program != nil && c.program.Free()
	if in := c.outs[inName]; in != nil && !in.captured {
		s.engine.Drop(in.slot)
	}
	for _, f := range c.parsed {
		if !s.marking() && c.program != nil && !gone {
			break // frames of panics hold positions in the files
		}
		if !slices.ContainsFunc(f.Decls, lower.IsGeneric) { // later instances are made from its text
			c.fset.RemoveFile(f.tok)
		}
	}
	if !gone {
		return
	}
	delete(s.labels, c.entry())
	if len(s.marks) == c.markBase+len(c.marks) {
		s.unmark(c.markBase)
	}
}

// split cuts the cell into items and processes its imports.
func (s *Session) split(c *cell) error {
	s.reload(c)
	c.pieces = split(c.code)
	if len(c.errs) > 0 {
		return &rejected{"CompileError", c.asPython(in(c.n, c.errs))}
	}
	var problems []problem
	for _, it := range c.items {
		if it.kind == itemImport {
			problems = append(problems, s.parseImport(c, it)...)
		}
	}
	if len(problems) > 0 {
		return &rejected{"CompileError", c.asPython(problems)}
	}
	s.program(c)
	return nil
}

// declare passes the unit to the engine and, if the engine accepts it, commits the
// cell's names.
func (s *Session) declare(c *cell) error {
	c.markBase = s.noteMarks(c, c.marks)
	if !s.marking() {
		s.notePlaces(c)
	}
	for name, label := range c.labels {
		s.labels[name] = label
	}
	p, err := s.engine.Declare(c.unit)
	if err != nil {
		s.unmark(c.markBase)
		for b := range c.touched {
			b.tainted = true
		}
		return unsupported(c, err)
	}
	c.program = p
	s.mu.Lock()
	s.commit(c)
	s.snap = nil
	s.mu.Unlock()
	s.notices(c)
	return nil
}

// notices prints a note for each declaration that the cell did not change although it may
// appear to.
func (s *Session) notices(c *cell) {
	var list []string
	for src, why := range c.pinned {
		for _, b := range src.binds {
			if s.env.cur[b.name] == b {
				list = append(list, fmt.Sprintf("note: %s %s of %s still uses the old declarations: %s", b.kind, b.name, inLabel(b.cell), why))
			}
		}
		for _, m := range src.methods {
			if t := s.env.cur[m.typ.name]; t != nil && t != m.typ && t.methods[m.name] == nil {
				list = append(list, fmt.Sprintf("note: the new %s has no method %s of %s: %s", m.typ.name, m.name, inLabel(m.cell), why))
			}
		}
	}
	for _, b := range s.env.old {
		if !slices.Contains(c.before.old, b) && !b.onlyShown {
			list = append(list, fmt.Sprintf("note: type %s is new: existing values keep the %s of %s", b.name, b.name, inLabel(b.cell)))
		}
	}
	slices.Sort(list)
	for _, line := range append(list, c.suspicions...) {
		fmt.Fprintln(c.out.Stderr(), line)
	}
}
