package interp

import (
	"slices"
	"testing"

	"halfnote/interp/internal/engine"
)

// turningEngine is an engine whose loops count their turns, as in a browser.
type turningEngine struct{ engine.Engine }

func (e turningEngine) Needs() engine.Needs {
	n := e.Engine.Needs()
	n.Rewrites = append(slices.Clone(n.Rewrites), engine.Turns)
	return n
}

func turning(s *Session) {
	s.engine = turningEngine{s.engine}
	s.live.Attach(s.engine)
}

// TestTurns runs scripts whose loops count their turns, and interrupts loops of each form.
func TestTurns(t *testing.T) {
	for _, script := range []string{"language", "goroutines", "waits", "yaegi-language"} {
		if by := changed(t, "testdata/"+script+".txtar", turning); by != survives {
			t.Errorf("%s: the output differs", script)
		}
	}
	s := newSession(t)
	turning(s)
	for n, code := range []string{"for {}", "again: goto again", "for i := range 1 << 40 { _ = i }", "for { for range 3 {} }", "func f() { f2() }\nfunc f2() { }\nfor { f() }"} {
		if got := evalFor(t, s, n+1, code, "50ms"); got == "" {
			t.Errorf("%s: ended, want it to be interrupted", code)
		}
	}
}
