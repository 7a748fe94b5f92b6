package interp

import (
	"fmt"
	"go/types"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Complete implements eval.Completer. It lists completions of the identifier that ends at cursor:
// members after a dot, keys in a composite literal, labels after break, otherwise the names in
// scope, importable packages, and keywords. In strings it lists import paths, the keys of an existing
// map, and files for a function that expects a file name; in the line of a magic, magics and their
// arguments. It offers nothing in comments, other strings and numbers.
func (s *Session) Complete(code string, cursor int) eval.Completion {
	snap, done := s.look()
	defer done()
	return assist.Complete(snap, code, cursor)
}

// Inspect implements eval.Evaluator. It describes the name at cursor with its declaration, its value
// and its comment, as plain text and as markdown. It also describes keywords, literals and magics.
// Between the parentheses of a call it describes the called function, or names it if the cursor is on
// an argument. detail 1 adds the source of declarations in cells.
func (s *Session) Inspect(code string, cursor, detail int) (display.Bundle, bool) {
	snap, done := s.look()
	defer done()
	return assist.Inspect(snap, code, cursor, detail)
}

// IsComplete implements eval.Evaluator.
func (s *Session) IsComplete(code string) eval.Completeness {
	return assist.IsComplete(code, s.isValue)
}

// isValue reports whether an expression can begin with a name: that of a variable,
// constant or function or, before a dot, of a package.
func (s *Session) isValue(name string, member bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.env.IsValue(name, member)
}

// Variables implements eval.VariableLister. While a cell runs, the variables have no
// values and no parts: values that are being changed cannot be read safely.
func (s *Session) Variables() []eval.Variable {
	var list []eval.Variable
	if !s.looking(func() { list = s.variables() }) {
		for _, b := range s.declared() {
			list = append(list, eval.Variable{Name: b.Name, Type: b.Typ, Value: assist.Busy})
		}
	}
	return list
}

// declared returns the variables of the session by name.
func (s *Session) declared() []*front.Binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var vars []*front.Binding
	for _, b := range s.env.Names() {
		if b.Kind == front.KindVar {
			vars = append(vars, b)
		}
	}
	slices.SortFunc(vars, func(a, b *front.Binding) int { return strings.Compare(a.Name, b.Name) })
	return vars
}

// variables describes the variables. Only the calling cell may be running.
func (s *Session) variables() (list []eval.Variable) {
	for _, b := range s.declared() {
		list = append(list, eval.Variable{Name: b.Name, Type: b.Typ})
	}
	return assist.Variables(s.seen(), list)
}

// snapshot returns the context of the session's next cell.
func (s *Session) snapshot() assist.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snap == nil {
		s.snap = s.takeSnapshot()
	}
	return *s.snap
}

func (s *Session) takeSnapshot() *assist.Snapshot {
	snap := &assist.Snapshot{
		Importer: s.front.Importer,
		Loader:   s.front.Packages.Loader,
		Checking: s.checking,
		Imports:  maps.Clone(exports.Preloaded),
		Dots:     s.env.Dots,
		Earlier:  earlier{s, s.env},
		Magics:   magic.Forms(),
		Sources:  s.opts.Sources,
		Busy:     s.live.Busy,
	}
	for name, path := range s.env.Imports {
		snap.Imports[name] = path
	}
	snap.Shown = shownValues(s.env)
	return snap
}

// earlier implements assist.Earlier with an environment that the session has taken.
type earlier struct {
	s   *Session
	env *front.Env
}

func (e earlier) Declares(name string) bool { return e.env.Named(name) != nil }

func (e earlier) Names() iter.Seq[string] { return e.env.Candidates() }

func (e earlier) Methods(typ string) []string { return e.env.MethodsOf(typ) }

func (e earlier) Written(name string) (w assist.Written, ok bool) {
	e.s.mu.Lock() // a cell that runs again moves the source
	defer e.s.mu.Unlock()
	src, ok := e.env.Source(name)
	if src == nil {
		return w, ok
	}
	code, _ := e.s.history.Source(src.Cell)
	return assist.Written{Text: src.Item.Text, Doc: syntax.CommentAbove(code, src.Item.Line), Cell: src.Cell}, true
}

func (e earlier) File(names map[string]bool, known func(string) bool) string {
	return e.env.Declarations(names, known)
}

// shownValues returns the names of the values that cells have shown, as completion and help use them.
func shownValues(e *front.Env) (list []assist.Shown) {
	for _, v := range e.Kept {
		x := assist.Shown{Check: v.Name, Type: v.Typ}
		for i, n := range e.Last {
			if n == v.Made {
				x.Names = append(x.Names, strings.Repeat("_", i+1))
			}
		}
		x.Names = append(x.Names, fmt.Sprintf("Out[%d]", v.Made), fmt.Sprintf("_%d", v.Made))
		list = append(list, x)
	}
	return append(list, assist.Shown{Names: []string{"In"}, Check: front.InName, Type: "[]string"})
}

// look returns the context of the next cell, in which the values of the session can be read until
// done is called, unless a cell is running: reading values that are being changed can end the process.
func (s *Session) look() (snap assist.Snapshot, done func()) {
	snap = s.snapshot()
	if !s.running.TryLock() {
		return snap, func() {}
	}
	snap.Values = liveValues{s}
	return snap, s.running.Unlock
}

// seen returns the context of the next cell with the values of the session, for the running cell.
func (s *Session) seen() assist.Snapshot {
	snap := s.snapshot()
	snap.Values = liveValues{s}
	return snap
}

// liveValues implements assist.Values.
type liveValues struct{ s *Session }

func (l liveValues) Variable(path, name string) reflect.Value {
	if path == "" {
		return l.s.variable(name)
	}
	if v := symbols.Table(path)[name]; v.CanAddr() {
		return v
	}
	return reflect.Value{}
}

func (l liveValues) Idle() bool { return l.s.live.Others() == 0 }

func (l liveValues) Inside(pkg assist.Package, v reflect.Value) (reflect.Value, types.Type, bool) {
	x, name, ok := l.s.inside(v)
	if !ok {
		return x, nil, false
	}
	return x, l.s.typeNamed(l.s.unbound(pkg), name), true
}

func (l liveValues) Show(pkg assist.Package, v reflect.Value, t types.Type) (b display.Bundle) {
	l.s.live.Lend(func() { b = l.s.show(l.s.unbound(pkg), v, t) })
	return b
}

func (l liveValues) While(f func()) (ok bool) { return l.s.looking(f) }

// variable returns a variable of the session.
func (s *Session) variable(name string) reflect.Value {
	if b := s.env.Named(name); b != nil && b.Kind == front.KindVar {
		v, _ := s.engine.Slot(b.Slot)
		return v
	}
	for _, kept := range s.env.Kept {
		if kept.Name == name {
			v, _ := s.engine.Slot(kept.Slot)
			return v
		}
	}
	if name == front.InName {
		return reflect.ValueOf(s.history.Inputs())
	}
	return reflect.Value{}
}

// looking calls f, unless a cell is running and not stopped.
func (s *Session) looking(f func()) (ok bool) {
	if !s.running.TryLock() {
		return s.debugger.Look(f)
	}
	defer s.running.Unlock()
	f()
	return true
}
