package native

import (
	"go/token"
	"regexp"
	"runtime"
	"strings"

	"halfnote/interp/internal/engine"
)

// maxFrames is the number of frames of a panic that are listed.
const maxFrames = 64

// Recovered implements engine.Engine. The calls that the panic has left are still on the
// stack while the deferred function that recovered it runs.
func (e *Engine) Recovered(r any) *engine.Panic {
	p := &engine.Panic{Value: r}
	frames := runtime.CallersFrames(callers())
	panicked := false
	for {
		f, more := frames.Next()
		pos, inCell := e.position(f)
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
			p.Frames, p.Inside, p.Skipped = nil, nil, 0
		case !panicked:
		case inCell && len(p.Frames) == maxFrames:
			p.Skipped++
		case inCell && isPart(p.Frames, unitName(f.Function), pos):
			p.Frames[len(p.Frames)-1].Func = unitName(f.Function)
		case inCell:
			p.Frames = append(p.Frames, engine.Frame{Func: unitName(f.Function), Pos: pos})
		case len(p.Frames) == 0 && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, unitPrefix) && !strings.HasPrefix(f.Function, "halfnote/interp"):
			p.Inside = append(p.Inside, f.Function)
		}
		if !more {
			return p
		}
	}
}

// callers returns the addresses of the active calls of the calling goroutine.
func callers() []uintptr {
	for n := 256; ; n *= 8 {
		pcs := make([]uintptr, n)
		if got := runtime.Callers(3, pcs); got < n || n > 1<<20 {
			return pcs[:got]
		}
	}
}

// isPart reports whether the last frame is that of a literal that a rewrite has put around an
// operation of the function: both are at the same place.
func isPart(frames []engine.Frame, function string, pos token.Pos) bool {
	if len(frames) == 0 {
		return false
	}
	last := frames[len(frames)-1]
	return last.Pos == pos && last.Func == function+".func"
}

// unitName returns the name that a function of a unit has for the session: with ".func" for
// each enclosing literal, where the compiler counts them: main.f.func1.2 is f.func.func. The
// body of a loop over a function, main.f-range1, belongs to the function, and type arguments,
// which the runtime shows as dots, to nothing.
func unitName(function string) string {
	function = inBrackets.ReplaceAllString(strings.TrimPrefix(function, unitPrefix), "")
	parts := strings.Split(inLoop.ReplaceAllString(function, ""), ".")
	name := parts[0]
	if typ, ok := strings.CutPrefix(name, "(*"); ok && len(parts) > 1 {
		name, parts = strings.TrimSuffix(typ, ")")+"_"+parts[1], parts[1:]
	}
	return name + strings.Repeat(".func", len(parts)-1)
}

var (
	inBrackets = regexp.MustCompile(`\[.*?\]`)
	inLoop     = regexp.MustCompile(`-range\d+`)
)

// Raise implements engine.Engine. Frames are those on the stack.
func (e *Engine) Raise(*engine.Panic) {}

// RunsCells implements engine.Engine.
func (e *Engine) RunsCells(function string) bool { return strings.HasPrefix(function, unitPrefix) }
