// Package support gives an engine the functions that the code of cells calls without naming them. Rewritten code calls some, for
// example to convert a value to an interface, to poll, or to receive from a channel. Others stand in for functions of compiled packages
// that must know the calling cell, show values of types that cells declare, or would end the process.
package support

import (
	"reflect"
	"unicode/utf8"

	"halfnote/display"
	"halfnote/display/widget"
	"halfnote/interp/internal/debug"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/loggers"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/stdio"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/words"
)

// Parts are the parts of a session that the functions act on.
type Parts struct {
	Live     *live.Registry
	Types    *dynamic.Space
	Debugger *debug.Debugger
	History  *history.History
	Streams  *stdio.Streams
	Screen   *display.Screen
	Widgets  *widget.Manager
}

// Symbols are the functions as one engine has them. Units may ask for more of them.
type Symbols struct {
	Parts
	engine engine.Engine
	bound  map[string]bool // those that units have asked for
}

// Bind gives the functions to an engine.
func Bind(e engine.Engine, of Parts) *Symbols {
	s := &Symbols{Parts: of, engine: e, bound: map[string]bool{}}
	s.Add(s.called())
	s.Add(s.conversions())
	s.Add(s.methods())
	e.Bind(lower.SupportPath, lower.MinMax())
	e.Bind(lower.SupportPath, symbols.Lifetimes())
	for name, f := range dynamic.Settling() {
		s.Add(map[string]any{name: f})
	}
	defaults := loggers.New(s.Live.Stderr(), func(code int) { panic(symbols.Exit{Code: code}) })
	for _, tables := range []map[string]map[string]any{
		symbols.OnScreen(s.Screen), // output of package display goes to the cell
		{"fmt": formatting(s.Streams.Printing()), "log": defaults.Log(), "log/slog": defaults.Slog(), "halfnote/display/widget": s.Widgets.Symbols()},
		s.replaced(),
	} {
		for path, functions := range tables {
			e.Bind(path, values(functions))
		}
	}
	return s
}

// Add gives the engine functions that units call by name.
func (s *Symbols) Add(functions map[string]any) { s.engine.Bind(lower.SupportPath, values(functions)) }

// values returns the reflected functions.
func values(functions map[string]any) map[string]reflect.Value {
	m := map[string]reflect.Value{}
	for name, f := range functions {
		m[name] = reflect.ValueOf(f)
	}
	return m
}

// called returns the functions that rewritten code calls, apart from conversions to interfaces.
func (s *Symbols) called() map[string]any {
	return map[string]any{
		"Flag":     s.Live.Flag(),
		"Calls":    s.Live.Calls(),
		"Counters": s.Live.Counters(),
		"Turns":    s.Live.Turns(),
		"At":       s.Live.At,
		"Watched":  s.Live.Watched(),
		"Watching": s.Live.Watching,
		"Debug":    s.Debugger.Flag(),
		"Descend":  s.Live.Descend,
		"Poll":     s.Live.PollOften,
		"Call":     s.Live.Call,
		"Barrier":  live.Barrier,
		"Go":       s.Live.Go,
		"RLock":    s.Live.RLock,
		"WaitGo":   s.Live.WaitGo,
		"Recv":     s.Live.Recv,
		"Send":     s.Live.Send,
		"Stop":     s.Debugger.Pass,
		"Select":   s.Live.Select,
		"Wait":     s.Live.Wait,
		"Lock":     s.Live.Lock,
		"Defers":   s.Live.Defers,
		"Called":   s.Live.Called,
		"Forward":  s.Live.Forward,
		"Keep":     s.keep,
		"Zero":     func(slot string) { engine.Clear(s.engine, slot) },
		"In":       s.History.Inputs,
		"Print":    func(a ...any) { words.Print(s.Live.Stdout(), "", a) },
		"Println":  func(a ...any) { words.Print(s.Live.Stdout(), " ", a) },
		"Iface":    words.Interface,
		"Rune":     func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) },
		"Clear":    clearAny,
		"Nil":      func() { panic(words.RuntimeError("invalid memory address or nil pointer dereference")) },
		"Resumed":  func(state int) { panic(words.RuntimeError("range function " + resumed[state])) },
		"Key":      dynamic.Key,
		"Divide":   func() { panic(words.RuntimeError("integer divide by zero")) },
		"Stdin":    s.Streams.Standard(0),
		"Stdout":   s.Streams.Standard(1),
		"Stderr":   s.Streams.Standard(2),
		"Stream":   s.Streams.Stream,
		"File":     stdio.Bare,
	}
}

// keep filters the result of recover() in cells: interrupts and os.Exit cannot be
// recovered from, and run-time errors get Go's texts.
func (s *Symbols) keep(v any) any {
	if v == nil {
		return nil
	}
	if r, ok := v.(reflect.Value); ok && r.IsValid() && r.CanInterface() {
		v = r.Interface()
	}
	if _, ok := v.(interface{ StopsCell() }); ok {
		panic(v)
	}
	if e, ok := s.engine.(engine.Recorder); ok {
		e.Forget()
	}
	return dynamic.Worded(words.Of(v))
}

// clearAny is the built-in clear.
func clearAny(v any) {
	switch x := reflect.ValueOf(v); x.Kind() {
	case reflect.Map, reflect.Slice:
		a, err := mapaccess.Begin(x, mapaccess.Write)
		if err != nil {
			panic(err)
		}
		defer a.End()
		x.Clear()
	}
}

// resumed says what a function that runs the body of a loop has done wrong, by the state of the
// loop in package lower.
var resumed = []string{
	1: "continued iteration after function for loop body returned false",
	2: "continued iteration after loop body panic",
	3: "continued iteration after whole loop exit",
	4: "recovered a loop body panic and did not resume panicking",
}
