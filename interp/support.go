package interp

import (
	"fmt"
	"go/ast"
	"go/types"
	"log"
	"reflect"
	"strings"
	"unicode/utf8"

	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/stdio"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/words"
)

// bindSupport provides the engine with the functions that rewritten code calls, and
// replaces functions of the standard library and of package display that must know the
// calling cell.
func (s *Session) bindSupport() {
	s.live.Attach(s.engine)
	s.live.Words = func(v any) any { return dynamic.Worded(words.Of(v)) }
	s.live.Report = s.reportGoroutine
	s.bindSupportSymbols(map[string]reflect.Value{
		"Flag":     reflect.ValueOf(s.live.Flag()),
		"Calls":    reflect.ValueOf(s.live.Calls()),
		"Counters": reflect.ValueOf(s.live.Counters()),
		"At":       reflect.ValueOf(s.live.At),
		"Watched":  reflect.ValueOf(s.live.Watched()),
		"Watching": reflect.ValueOf(s.live.Watching),
		"Debug":    reflect.ValueOf(s.debugger.Flag()),
		"Descend":  reflect.ValueOf(s.live.Descend),
		"Poll":     reflect.ValueOf(s.live.PollOften),
		"Call":     reflect.ValueOf(s.live.Call),
		"Barrier":  reflect.ValueOf(live.Barrier),
		"Go":       reflect.ValueOf(s.live.Go),
		"RLock":    reflect.ValueOf(s.live.RLock),
		"WaitGo":   reflect.ValueOf(s.live.WaitGo),
		"Recv":     reflect.ValueOf(s.live.Recv),
		"Send":     reflect.ValueOf(s.live.Send),
		"Stop":     reflect.ValueOf(s.debugger.Pass),
		"Select":   reflect.ValueOf(s.live.Select),
		"Wait":     reflect.ValueOf(s.live.Wait),
		"Lock":     reflect.ValueOf(s.live.Lock),
		"Defers":   reflect.ValueOf(s.live.Defers),
		"Called":   reflect.ValueOf(s.live.Called),
		"Keep":     reflect.ValueOf(s.keep),
		"Zero":     reflect.ValueOf(func(slot string) { engine.Clear(s.engine, slot) }),
		"In":       reflect.ValueOf(s.history.Inputs),
		"Print":    reflect.ValueOf(func(a ...any) { words.Print(s.live.Stdout(), "", a) }),
		"Println":  reflect.ValueOf(func(a ...any) { words.Print(s.live.Stdout(), " ", a) }),
		"Iface":    reflect.ValueOf(words.Interface),
		"Rune":     reflect.ValueOf(func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) }),
		"Clear":    reflect.ValueOf(clearAny),
		"Nil":      reflect.ValueOf(func() { panic(words.RuntimeError("invalid memory address or nil pointer dereference")) }),
		"Resumed":  reflect.ValueOf(func(state int) { panic(words.RuntimeError("range function " + resumed[state])) }),
		"Key":      reflect.ValueOf(dynamic.Key),
		"Divide":   reflect.ValueOf(func() { panic(words.RuntimeError("integer divide by zero")) }),
	})
	if s.stdio == nil {
		s.stdio = stdio.New(s.live)
		s.live.Before = s.stdio.Flush
	}
	s.bindSupportSymbols(map[string]reflect.Value{
		"Stdin":  reflect.ValueOf(s.stdio.Standard(0)),
		"Stdout": reflect.ValueOf(s.stdio.Standard(1)),
		"Stderr": reflect.ValueOf(s.stdio.Standard(2)),
	})
	s.bindSupportSymbols(lower.MinMax())
	s.bindSupportSymbols(symbols.Lifetimes())
	interfaces := map[string]reflect.Value{}
	for name, f := range dynamic.Settling() {
		interfaces[name] = reflect.ValueOf(f)
	}
	for name, f := range s.interfaceSupport() {
		interfaces[name] = reflect.ValueOf(f)
	}
	s.bindSupportSymbols(interfaces)
	tables := symbols.OnScreen(s.screen) // output of package display goes to the cell
	tables["fmt"] = formatting(s.stdio.Printing())
	tables["log"] = s.logger()
	tables["halfnote/display/widget"] = s.comms.widgets.Symbols() // widgets go to its front ends
	for path, functions := range tables {
		m := map[string]reflect.Value{}
		for name, f := range functions {
			m[name] = reflect.ValueOf(f)
		}
		s.engine.Bind(path, m)
	}
	s.bindSurvival()
}

func (s *Session) bindSupportSymbols(m map[string]reflect.Value) {
	s.engine.Bind(lower.SupportPath, m)
}

// logger is package log's standard logger, one for each session: it writes to the
// standard error of the cell.
func (s *Session) logger() map[string]any {
	l := log.New(s.live.Stderr(), "", log.LstdFlags)
	exit := func(print func()) { print(); panic(symbols.Exit{Code: 1}) }
	return map[string]any{
		"Default": func() *log.Logger { return l },
		"Fatal":   func(v ...any) { exit(func() { l.Output(2, dynamic.Sprint(v...)) }) },
		"Fatalf":  func(format string, v ...any) { exit(func() { l.Output(2, dynamic.Sprintf(format, v...)) }) },
		"Fatalln": func(v ...any) { exit(func() { l.Output(2, dynamic.Sprintln(v...)) }) },
		"Flags":   l.Flags, "Output": l.Output, "Prefix": l.Prefix, "Writer": l.Writer,
		"Panic":    func(v ...any) { l.Panic(dynamic.Sprint(v...)) },
		"Panicf":   func(format string, v ...any) { l.Panic(dynamic.Sprintf(format, v...)) },
		"Panicln":  func(v ...any) { l.Panic(dynamic.Sprintln(v...)) },
		"Print":    func(v ...any) { l.Output(2, dynamic.Sprint(v...)) },
		"Printf":   func(format string, v ...any) { l.Output(2, dynamic.Sprintf(format, v...)) },
		"Println":  func(v ...any) { l.Output(2, dynamic.Sprintln(v...)) },
		"SetFlags": l.SetFlags, "SetOutput": l.SetOutput, "SetPrefix": l.SetPrefix,
	}
}

// keep filters the result of recover() in cells: interrupts and os.Exit cannot be
// recovered from, and run-time errors get Go's texts.
func (s *Session) keep(v any) any {
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

// errorTree lists an error and all errors that it wraps, in the order of errors.As.
func errorTree(err error) (list []error) {
	if err == nil {
		return nil
	}
	list = append(list, err)
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		list = append(list, errorTree(x.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			list = append(list, errorTree(e)...)
		}
	}
	return list
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

// reportGoroutine prints the panic of a cell's goroutine to the cell.
func (s *Session) reportGoroutine(c *live.Cell, p *engine.Panic) {
	var cause any // cause for ending the cell, where a program would end
	switch v := p.Value.(type) {
	case symbols.Exit:
		cause = v
	case mapaccess.Conflict:
		cause = p
	}
	if cause != nil {
		running := s.live.Running(c)
		s.live.StopFor(c, cause)
		if running {
			return // the cell's error reports it
		}
	}
	s.debugger.Panicked(p)
	e := s.describer().Panic(p)
	fmt.Fprintln(c.Stderr(), strings.Join(append(e.Traceback, ansi.Dim("in a goroutine, which has ended")), "\n"))
}

// compiled makes a compiled instance of a generic function available to units.
func (s *Session) compiled(instance string, t types.Type) ast.Expr {
	name, f, ok := library.Compiled(instance)
	if !ok {
		return nil
	}
	if s.front.Std.Instances[name] == nil {
		s.bindSupportSymbols(map[string]reflect.Value{name: f})
		s.front.Std.Instances[name] = t
	}
	return lower.SupportName(name)
}

// resumed says what a function that runs the body of a loop has done wrong, by the state of the
// loop in package lower.
var resumed = []string{
	1: "continued iteration after function for loop body returned false",
	2: "continued iteration after loop body panic",
	3: "continued iteration after whole loop exit",
	4: "recovered a loop body panic and did not resume panicking",
}
