// Package failure describes to its reader why a cell failed: the mistakes that the front end has found, and panics
// with the calls, lines and variables at which they happened. It runs no code of cells but the methods that give the
// text of a panic's value.
package failure

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/words"
	"halfnote/kernel/eval"
)

// Describer describes failures of the cells of a session.
type Describer struct {
	Places *places.Places
	Env    *front.Env
	Engine Slots
	// Others returns the number of goroutines of cells other than the running cell's own.
	Others func() int
}

// Slots reads the variables of an engine.
type Slots interface {
	// Slot returns the variable with a name, and reports whether there is one.
	Slot(name string) (v reflect.Value, ok bool)
}

// Panic describes a panic: its message and the frames in cells.
func (d Describer) Panic(p *engine.Panic) *eval.Error {
	e := &eval.Error{Name: "Panic"}
	switch p.Value.(type) {
	case live.TooDeep, live.Overflow:
		if len(p.Frames) > 1 { // the frames are all alike
			p.Frames, p.Skipped = p.Frames[:1], 0
		}
	}
	kind := "panic: "
	v := dynamic.Worded(words.Of(p.Value))
	switch v := v.(type) {
	case symbols.Exit:
		kind = ""
		e.Name, e.Value = "Exit", v.Error()
	case live.Goexit:
		kind = ""
		e.Name, e.Value = "Goexit", v.Error()
	case live.Deadlock:
		kind = "fatal error: "
		e.Name, e.Value = "Deadlock", v.Error()
	case mapaccess.Conflict:
		kind = "fatal error: "
		e.Name, e.Value = "ConcurrentMapAccess", v.Error()
	case live.TooMany:
		e.Name, e.Value = "TooManyGoroutines", v.Error()
	case live.TooMuch:
		e.Name, e.Value = "OutOfMemory", v.Error()
	case error:
		e.Value = safely(v.Error)
	case fmt.Stringer:
		e.Value = safely(v.String)
	case string:
		e.Value = v
	default:
		e.Value = safely(func() string { return dynamic.Sprint(v) })
	}
	e.Value = text.Cut(e.Value, maxMessage)
	lines := strings.Split(e.Value, "\n")
	e.Traceback = append(e.Traceback, headline(kind, lines[0]))
	e.Traceback = append(e.Traceback, lines[1:]...)
	e.Traceback = append(e.Traceback, d.frames(p)...)
	e.Value = lines[0]
	return e
}

// maxMessage is the number of code points that are shown of a panic's value.
const maxMessage = 20_000

// headline is the first line of a panic's description. kind ends in ": " or is empty.
func headline(kind, line string) string {
	if kind == "" {
		return ansi.Bold(line)
	}
	return ansi.Alarm(strings.TrimSuffix(kind, " ")) + " " + ansi.Bold(line)
}

// safely calls a method of a panic's value.
func safely(f func() string) (s string) {
	defer func() {
		if r := recover(); r != nil {
			s = NoText(r)
		}
	}()
	return f()
}

// NoText stands for the text of a panic's value that has none, for a reason.
func NoText(why any) string { return fmt.Sprintf("(its text is not available: %v)", why) }

const kept = "variables and functions are kept"

// NotRun describes a cell that was stopped while it was compiled, for the reason in why or, if it is "", by its reader.
func (d Describer) NotRun(why string) *eval.Error {
	e := &eval.Error{Name: "Interrupted", Value: cmp.Or(why, "the cell was stopped") + " before it ran; " + kept}
	e.Traceback = []string{ansi.Alarm("Interrupted:") + " " + e.Value}
	return e
}

// Interrupted describes a cell that was stopped, for the reason in why or, if it is "", by its reader. p is nil if the
// cell did not stop.
func (d Describer) Interrupted(why string, p *engine.Panic) *eval.Error {
	e := &eval.Error{Name: "Interrupted", Value: kept}
	if why != "" {
		e.Value = why + "; " + kept
	}
	if p == nil {
		e.Value = "the cell did not stop: it is waiting inside compiled code and was left behind; if later cells behave strangely, restart the kernel"
	}
	e.Traceback = []string{ansi.Alarm("Interrupted:") + " " + e.Value}
	if p != nil {
		e.Traceback = append(e.Traceback, d.frames(p)...)
	}
	return e
}
