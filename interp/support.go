package interp

import (
	"fmt"
	"go/token"
	"io"
	"log"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"

	"halfnote/interp/engine"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/lower"
)

// bindSupport gives the engine the functions that rewritten code calls, and
// replaces those of the standard library and of package display that must know
// which cell calls them.
func (s *Session) bindSupport() {
	s.live.Deeper = s.engine.Deeper
	s.live.Halt = s.engine.Halt
	s.live.Words = goWords
	if e, ok := s.engine.(interface {
		Raise(*engine.Panic)
		Depth() int
	}); ok {
		s.live.Raise, s.live.Depth = e.Raise, e.Depth
	}
	s.live.Report = s.reportGoroutine
	s.bindSupportSymbols(map[string]reflect.Value{
		"Flag":    reflect.ValueOf(s.live.Flag()),
		"Calls":   reflect.ValueOf(s.live.Calls()),
		"Descend": reflect.ValueOf(s.live.Descend),
		"Poll":    reflect.ValueOf(s.live.Poll),
		"Call":    reflect.ValueOf(s.live.Call),
		"Barrier": reflect.ValueOf(live.Barrier),
		"Go":      reflect.ValueOf(s.live.Go),
		"RLock":   reflect.ValueOf(s.live.RLock),
		"WaitGo":  reflect.ValueOf(s.live.WaitGo),
		"Recv":    reflect.ValueOf(s.live.Recv),
		"Send":    reflect.ValueOf(s.live.Send),
		"Select":  reflect.ValueOf(s.live.Select),
		"Wait":    reflect.ValueOf(s.live.Wait),
		"Lock":    reflect.ValueOf(s.live.Lock),
		"Defers":  reflect.ValueOf(s.live.Defers),
		"Called":  reflect.ValueOf(s.live.Called),
		"Keep":    reflect.ValueOf(s.keep),
		"Zero":    reflect.ValueOf(func(slot string) { s.engine.Drop(slot) }),
		"In":      reflect.ValueOf(s.inputs),
		"Slice":   reflect.ValueOf(sliceOutOfRange),
		"Index":   reflect.ValueOf(outOfRange),
		"Print":   reflect.ValueOf(func(a ...any) { printBuiltin(s.live.Stdout(), "", a) }),
		"Println": reflect.ValueOf(func(a ...any) { printBuiltin(s.live.Stdout(), " ", a) }),
		"Iface":   reflect.ValueOf(interfaceWords),
		"Rune":    reflect.ValueOf(func(s string, i int) (rune, int) { return utf8.DecodeRuneInString(s[i:]) }),
		"Clear":   reflect.ValueOf(clearAny),
		"Nil":     reflect.ValueOf(func() { panic(runtimeError("invalid memory address or nil pointer dereference")) }),
		"Shift":   reflect.ValueOf(func() { panic(runtimeError("negative shift amount")) }),
		"Divide":  reflect.ValueOf(func() { panic(runtimeError("integer divide by zero")) }),
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
	for path, functions := range map[string]map[string]any{
		"fmt": formatting(s.stdio.printing()),
		"log": s.logger(),
		// what a cell shows goes to the cell
		"halfnote/display": s.screen.Symbols(),
	} {
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

// printing is what package fmt prints and asks with.
func (s *stdio) printing() map[string]any {
	out := func() io.Writer {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.vars[1] != s.files[1] { // the cell has put another file in its place
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

// keep is what recover() returns in cells: an interrupt and os.Exit cannot be
// recovered from,
// and run-time errors are errors with Go's words.
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

// runtimeError is a runtime.Error with Go's words.
type runtimeError string

func (e runtimeError) Error() string { return "runtime error: " + string(e) }

// RuntimeError implements runtime.Error.
func (runtimeError) RuntimeError() {}

// conversionError is a run-time error whose text stands alone, as that of a failed
// type assertion.
type conversionError string

func (e conversionError) Error() string { return string(e) }

// RuntimeError implements runtime.Error.
func (conversionError) RuntimeError() {}

// outOfRange panics as Go does for an index of a slice, array or string.
func outOfRange(i, n int) {
	if i < 0 {
		panic(runtimeError(fmt.Sprintf("index out of range [%d]", i)))
	}
	panic(runtimeError(fmt.Sprintf("index out of range [%d] with length %d", i, n)))
}

// sliceOutOfRange panics as Go does for a slice expression, whose bounds given are
// those of the bits of given.
func sliceOutOfRange(given, low, high, most, length, limit int, capacity bool) {
	what := "length"
	if capacity {
		what = "capacity"
	}
	fail := func(format string, args ...any) {
		panic(runtimeError("slice bounds out of range " + fmt.Sprintf(format, args...)))
	}
	above := func(format string, bound int) {
		switch {
		case bound < 0:
			fail(format, bound)
		case bound > limit:
			fail(format+" with %s %d", bound, what, limit)
		}
	}
	top := length
	switch {
	case given&4 != 0:
		above("[::%d]", most)
		if high < 0 {
			fail("[:%d:]", high)
		}
		if high > most {
			fail("[:%d:%d]", high, most)
		}
		if low < 0 {
			fail("[%d::]", low)
		}
		fail("[%d:%d:]", low, high)
	case given&2 != 0:
		above("[:%d]", high)
		top = high
	}
	if low < 0 {
		fail("[%d:]", low)
	}
	fail("[%d:%d]", low, top)
}

// errorTree lists an error and all that it wraps, in the order in which errors.As
// looks at them.
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
		x.Clear()
	}
}

// goWords turns the panics of package reflect, which interpreted code gives, into
// those of compiled code.
func goWords(v any) any {
	var text string
	switch v := v.(type) {
	case runtime.Error:
		text, ok := strings.CutPrefix(v.Error(), "runtime error: ")
		for _, whole := range []string{"interface conversion: ", "makechan: ", "runtime error: "} {
			if ok && strings.HasPrefix(text, whole) {
				return conversionError(text)
			}
		}
		return v
	case *reflect.ValueError:
		if v.Kind == reflect.Invalid {
			return runtimeError("invalid memory address or nil pointer dereference")
		}
		return v
	case string:
		text = v
	case error: // of the interpreter, which puts a position in front
		text = v.Error()
		if i := strings.Index(text, ": interface conversion: "); i >= 0 && reflect.TypeOf(v).String() == "*interp.cfgError" {
			return conversionError(text[i+2:])
		}
		return v
	default:
		return v
	}
	if i := strings.Index(text, "interface conversion: "); i >= 0 {
		return conversionError(text[i:])
	}
	if text == "reflect.MakeChan: negative buffer size" {
		return conversionError("makechan: size out of range")
	}
	if m := toArray.FindStringSubmatch(text); m != nil {
		return runtimeError(fmt.Sprintf("cannot convert slice with length %s to array or pointer to array with length %s", m[1], m[2]))
	}
	for _, w := range reflectWords {
		if strings.Contains(text, w.reflect) {
			return runtimeError(w.go_)
		}
	}
	return v
}

var toArray = regexp.MustCompile(`reflect: cannot convert slice with length (\d+) to (?:pointer to )?array with length (\d+)`)

var reflectWords = []struct{ reflect, go_ string }{
	{"reflect: slice index out of range", "index out of range"},
	{"reflect: array index out of range", "index out of range"},
	{"reflect: string index out of range", "index out of range"},
	{"reflect.Value.Slice: slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice: string slice index out of bounds", "slice bounds out of range"},
	{"reflect.Value.Slice3: slice index out of bounds", "slice bounds out of range"},
	{"reflect.MakeSlice: negative len", "makeslice: len out of range"},
	{"reflect.MakeSlice: negative cap", "makeslice: cap out of range"},
	{"reflect.MakeSlice: len > cap", "makeslice: cap out of range"},
	{"reflect.Append: slice overflow", "growslice: len out of range"},
	{"reflect.Value.Grow: slice overflow", "growslice: len out of range"},
	{"reflect.Value.Call: call of nil function", "invalid memory address or nil pointer dereference"},
	{"reflect: Method on nil interface value", "invalid memory address or nil pointer dereference"},
	{"reflect: Call using zero Value argument", "invalid memory address or nil pointer dereference"},
	{"on zero Value", "invalid memory address or nil pointer dereference"},
}

// mark is a place of a cell where it may fail. In a declaration it counts from
// where that starts, because the cell may be run again under another number.
type mark struct {
	src       *source     // nil in statements
	file      *sourceFile // of a package that is run from source, else nil
	cell      int
	line, col int
	fn        string // the engine's name of the function, where it was noted
	whole     bool   // a statement, not one operation
	again     string // the engine's name of the function, if it may call that again
}

func (m mark) place() (cell, line, col int) {
	if m.src == nil {
		return m.cell, m.line, m.col
	}
	if m.line == 0 {
		return m.src.cell, m.src.item.line, m.src.item.col + m.col
	}
	return m.src.cell, m.src.item.line + m.line, m.col
}

func (s *Session) markAt(c *cell, m lower.Mark) mark {
	at := c.fset.Position(m.Pos)
	if f := s.packages.file(at.Filename); f != nil {
		return mark{file: f, line: at.Line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
	}
	for _, f := range c.decls {
		if f.tok == c.fset.File(m.Pos) {
			r := mark{src: f.src, line: at.Line - f.src.item.line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
			if r.line == 0 {
				r.col -= f.src.item.col
			}
			return r
		}
	}
	return mark{cell: cellOf(at.Filename), line: at.Line, col: at.Column, fn: m.Func, whole: m.Whole, again: m.Again}
}

// unsupported is the error of a cell that is valid Go and that the engine cannot
// run.
func unsupported(c *cell, err error) error {
	p := problem{cell: c.n, line: 1, col: 1}
	what := err.Error()
	if u, ok := err.(*lower.Unsupported); ok {
		p = c.placed(u.Pos, p)
	} else if pos, rest, ok := position(what); ok {
		what = rest
		if pos.Line > 0 {
			p.line, p.col = pos.Line, pos.Column
			if n := cellOf(pos.Filename); n != 0 {
				p.cell = n
			}
		}
	}
	p.msg = "valid Go, but not supported by the interpreter yet: " + versioned.ReplaceAllString(what, "$1")
	return &rejected{"Unsupported", []problem{p}}
}

func (c *cell) placed(pos token.Pos, p problem) problem {
	if at := c.fset.Position(pos); at.IsValid() && cellOf(at.Filename) != 0 {
		p.cell, p.line, p.col = cellOf(at.Filename), at.Line, at.Column
	}
	return p
}

// position cuts "file:line:col: " from the front of a message.
func position(msg string) (pos token.Position, rest string, ok bool) {
	parts := strings.SplitN(msg, ":", 4)
	if len(parts) < 4 {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[1], &pos.Line); err != nil {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[2], &pos.Column); err != nil {
		return pos, msg, false
	}
	pos.Filename = parts[0]
	return pos, strings.TrimSpace(parts[3]), true
}

// reportGoroutine prints the panic of a cell's goroutine to the cell.
func (s *Session) reportGoroutine(c *live.Cell, p *engine.Panic) {
	if exit, ok := p.Value.(symbols.Exit); ok { // it ends the cell, as it ends a program
		running := c.Ctx.Err() == nil
		s.live.StopFor(c, exit)
		if running {
			return // the cell's error tells
		}
	}
	e := s.describe(p)
	fmt.Fprintln(c.Stderr(), strings.Join(append(e.Traceback, dim("in a goroutine, which has ended")), "\n"))
}
