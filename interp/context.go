package interp

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
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
		Written:  map[string]assist.Written{},
		Magics:   magic.Forms(),
		Sources:  s.opts.Sources,
	}
	for name, path := range s.env.Imports {
		snap.Imports[name] = path
	}
	paths := map[string]bool{}
	var text strings.Builder
	add := func(h front.Header) {
		for _, d := range h.Decls {
			text.WriteString(lower.Print(d) + "\n")
		}
		maps.Copy(paths, h.Paths)
	}
	for _, b := range append(slices.Collect(maps.Values(s.env.Cur)), s.env.Old...) {
		f := s.env.Of(b)
		add(f.Header)
		for _, m := range f.Methods {
			add(m.Header)
			snap.Written[f.Check+"."+m.Name] = s.written(m.Src)
		}
		snap.Written[f.Check] = s.written(b.Src)
	}
	text.WriteString("var " + front.InName + " []string\n")
	for _, v := range s.env.Kept {
		add(s.env.Of(v.Binding).Header)
	}
	snap.Shown = shownValues(s.env)
	snap.Prelude = assist.NewPrelude(lower.Print(front.ImportDecl(paths)) + "\n" + text.String())
	return snap
}

// written returns a declaration as written in its cell.
func (s *Session) written(src *front.Source) assist.Written {
	if src == nil {
		return assist.Written{}
	}
	code, _ := s.history.Source(src.Cell)
	return assist.Written{Text: src.Item.Text, Doc: syntax.CommentAbove(code, src.Item.Line), Cell: src.Cell}
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

func (l liveValues) Inside(pkg *types.Package, v reflect.Value) (reflect.Value, types.Type, bool) {
	x, name, ok := l.s.inside(v)
	if !ok {
		return x, nil, false
	}
	return x, l.s.typeNamed(pkg, name), true
}

func (l liveValues) Show(pkg *types.Package, v reflect.Value, t types.Type) display.Bundle {
	return l.s.show(l.s.unbound(pkg), v, t)
}

func (l liveValues) While(f func()) (ok bool) { return l.s.looking(f) }

// variable returns a variable of the session.
func (s *Session) variable(name string) reflect.Value {
	if b := s.env.Cur[name]; b != nil && b.Kind == front.KindVar {
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
