package interp

import (
	"fmt"
	"io"
	"log"
	"reflect"
	"strings"
	"unicode/utf8"

	"halfnote/interp/engine"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/lower"
)

// bindSupport provides the engine with the functions that rewritten code calls, and
// replaces functions of the standard library and of package display that must know the
// calling cell.
func (s *Session) bindSupport() {
	s.live.Deeper = s.engine.Deeper
	s.live.Halt = s.engine.Halt
	s.live.Words = goWords
	if e, ok := s.engine.(interface {
		Raise(*engine.Panic)
		Depth() int
		RunsCells(function string) bool
	}); ok {
		s.live.Raise, s.live.Depth, s.runsCells = e.Raise, e.Depth, e.RunsCells
	}
	s.live.Report = s.reportGoroutine
	s.bindSupportSymbols(map[string]reflect.Value{
		"Flag":     reflect.ValueOf(s.live.Flag()),
		"Calls":    reflect.ValueOf(s.live.Calls()),
		"At":       reflect.ValueOf(s.live.At),
		"Watched":  reflect.ValueOf(s.live.Watched()),
		"Watching": reflect.ValueOf(s.live.Watching),
		"Debug":    reflect.ValueOf(&s.debugger.flag),
		"Descend":  reflect.ValueOf(s.live.Descend),
		"Poll":     reflect.ValueOf(s.live.Poll),
		"Call":     reflect.ValueOf(s.live.Call),
		"Barrier":  reflect.ValueOf(live.Barrier),
		"Go":       reflect.ValueOf(s.live.Go),
		"RLock":    reflect.ValueOf(s.live.RLock),
		"WaitGo":   reflect.ValueOf(s.live.WaitGo),
		"Recv":     reflect.ValueOf(s.live.Recv),
		"Send":     reflect.ValueOf(s.live.Send),
		"Stop":     reflect.ValueOf(s.debugger.stop),
		"Select":   reflect.ValueOf(s.live.Select),
		"Wait":     reflect.ValueOf(s.live.Wait),
		"Lock":     reflect.ValueOf(s.live.Lock),
		"Defers":   reflect.ValueOf(s.live.Defers),
		"Called":   reflect.ValueOf(s.live.Called),
		"Keep":     reflect.ValueOf(s.keep),
		"Zero":     reflect.ValueOf(func(slot string) { s.engine.Drop(slot) }),
		"In":       reflect.ValueOf(s.inputs),
		"Slice":    reflect.ValueOf(sliceOutOfRange),
		"Index":    reflect.ValueOf(outOfRange),
		"Print":    reflect.ValueOf(func(a ...any) { printBuiltin(s.live.Stdout(), "", a) }),
		"Println":  reflect.ValueOf(func(a ...any) { printBuiltin(s.live.Stdout(), " ", a) }),
		"Iface":    reflect.ValueOf(interfaceWords),
		"Rune":     reflect.ValueOf(func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) }),
		"Clear":    reflect.ValueOf(clearAny),
		"Nil":      reflect.ValueOf(func() { panic(runtimeError("invalid memory address or nil pointer dereference")) }),
		"Shift":    reflect.ValueOf(func() { panic(runtimeError("negative shift amount")) }),
		"Divide":   reflect.ValueOf(func() { panic(runtimeError("integer divide by zero")) }),
	})
	if s.stdio == nil {
		s.stdio = newStdio(s.live)
		s.live.Before = s.stdio.flush
	}
	s.bindSupportSymbols(map[string]reflect.Value{
		"Stdin":  reflect.ValueOf(s.stdio.standard(0)),
		"Stdout": reflect.ValueOf(s.stdio.standard(1)),
		"Stderr": reflect.ValueOf(s.stdio.standard(2)),
	})
	s.bindSupportSymbols(lower.MinMax())
	interfaces := map[string]reflect.Value{}
	for name, f := range s.interfaceSupport() {
		interfaces[name] = reflect.ValueOf(f)
	}
	s.bindSupportSymbols(interfaces)
	tables := symbols.OnScreen(s.screen) // output of package display goes to the cell
	tables["fmt"] = formatting(s.stdio.printing())
	tables["log"] = s.logger()
	tables["halfnote/display/widget"] = s.widgets.Symbols() // widgets go to its front ends
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

// printing returns the print and scan functions of package fmt.
func (s *stdio) printing() map[string]any {
	out := func() io.Writer {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.vars[1] != s.files[1] { // the cell has assigned another file
			return s.vars[1]
		}
		return s.live.Stdout()
	}
	in := func() io.Reader { return s.standard(0)() }
	return map[string]any{
		"Print":   func(a ...any) (int, error) { return dynamic.Print(out(), a...) },
		"Printf":  func(format string, a ...any) (int, error) { return dynamic.Printf(out(), format, a...) },
		"Println": func(a ...any) (int, error) { return dynamic.Println(out(), a...) },
		"Scan":    func(a ...any) (int, error) { return fmt.Fscan(in(), a...) },
		"Scanf":   func(format string, a ...any) (int, error) { return fmt.Fscanf(in(), format, a...) },
		"Scanln":  func(a ...any) (int, error) { return fmt.Fscanln(in(), a...) },
	}
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
	s.engine.Forget()
	return goWords(v)
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
	s.debugger.panicked(p)
	e := s.describe(p)
	fmt.Fprintln(c.Stderr(), strings.Join(append(e.Traceback, dim("in a goroutine, which has ended")), "\n"))
}
