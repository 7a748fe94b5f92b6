package interp

import (
	"fmt"
	"go/types"
	"iter"
	"maps"
	"reflect"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/syntax"
)

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

func (l liveValues) Show(pkg assist.Package, v reflect.Value, t types.Type) display.Bundle {
	return l.s.show(l.s.unbound(pkg), v, t)
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
