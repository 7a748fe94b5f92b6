package interp

import (
	"go/token"

	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/kernel/eval"
)

// Debug implements eval.Debugger.
func (s *Session) Debug(event func(eval.DebugEvent)) { s.debugger.Debug(event) }

// SetBreakpoints implements eval.Debugger.
func (s *Session) SetBreakpoints(code string, lines []int) []int {
	return s.debugger.SetBreakpoints(code, lines)
}

// StopAtPanics implements eval.Debugger.
func (s *Session) StopAtPanics(yes bool) { s.debugger.StopAtPanics(yes) }

// Pause implements eval.Debugger.
func (s *Session) Pause() { s.debugger.Pause() }

// Stopped implements eval.Debugger.
func (s *Session) Stopped() []int { return s.debugger.Stopped() }

// Resume implements eval.Debugger.
func (s *Session) Resume(id int, how string) error { return s.debugger.Resume(id, how) }

// Stack implements eval.Debugger.
func (s *Session) Stack(id int) []eval.DebugFrame { return s.debugger.Stack(id) }

// debugHost implements debug.Session.
type debugHost struct{ s *Session }

func (h debugHost) Place(c *front.Checked, at token.Pos) (cell, line int) {
	cell, line, _ = h.s.places.At(c, lower.Mark{Pos: at}).Where()
	return cell, line
}

func (h debugHost) Named(frames []engine.Frame) []engine.Frame { return h.s.places.Named(frames) }

func (h debugHost) Message(p *engine.Panic) string { return h.s.describer().Panic(p).Value }

func (h debugHost) Seen() assist.Snapshot { return h.s.seen() }

func (h debugHost) Variables() []eval.Variable { return h.s.variables() }

// Source returns the line of the cell that the calling goroutine runs, such as "In[3],
// line 5", in the innermost function of a cell, or "" in goroutines that do not run a
// cell. It requires [Session.Watch].
func (s *Session) Source() string { return s.places.Line(s.live.Where) }

// Watch turns the recording of lines for Source on or off.
func (s *Session) Watch(on bool) { s.live.Watch(on) }
