package yaegi

import (
	"bytes"
	"go/token"
	"strings"
	"sync"

	"halfnote/interp/internal/engine"
)

// traces reads the lines that Yaegi prints while a panic unwinds, one per interpreted
// frame and innermost first, as "file:1:2: panic: main.f(...)". Their positions are
// those of the functions' first statements. Their names are right, and when the line is
// printed the frame's mark variable still holds the current statement.
type traces struct {
	goroutine func() uint64
	mark      func(fn string) int

	mu       sync.Mutex
	frames   map[uint64]*trace
	operands map[uint64]token.Pos // of panics that have left no frame yet
}

type trace struct {
	frames  []engine.Frame
	skipped int
	inside  []string // compiled functions between the panic and the first frame
	literal bool     // whether the next frame is that of a literal that stands for the function around it
	twice   bool     // whether the next frame is that of a repeated call
}

// maxFrames is the limit on recorded frames of one panic: endless recursion would give
// thousands.
const maxFrames = 64

func (t *traces) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		_, name, ok := bytes.Cut(bytes.TrimSpace(line), []byte(": panic: "))
		if !ok {
			continue
		}
		name = bytes.TrimPrefix(bytes.TrimSuffix(name, []byte("(...)")), []byte("main."))
		t.add(string(name))
	}
	return len(p), nil
}

func (t *traces) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frames == nil {
		t.frames = map[uint64]*trace{}
	}
	id := t.goroutine()
	tr := t.frames[id]
	if tr == nil {
		tr = &trace{inside: engine.Inside("github.com/traefik/yaegi/")}
		t.frames[id] = tr
	}
	if tr.literal {
		name = strings.TrimSuffix(name, ".func")
		tr.literal = false
	}
	if again := strings.TrimSuffix(name, ".func"); tr.twice || strings.HasSuffix(again, engine.AgainSuffix) {
		tr.twice = !tr.twice && again == name
		return
	}
	if len(tr.frames) >= maxFrames {
		tr.skipped++
		return
	}
	tr.frames = append(tr.frames, engine.Frame{Func: name, Mark: t.mark(name), Pos: t.operands[id]})
	delete(t.operands, id)
}

// at records the operand of the operation with which the calling goroutine is about to panic.
func (t *traces) at(operand token.Pos) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.operands == nil {
		t.operands = map[uint64]token.Pos{}
	}
	t.operands[t.goroutine()] = operand
}

// take returns the frames of the calling goroutine's panic and forgets them.
func (t *traces) take() trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.frames) == 0 && len(t.operands) == 0 {
		return trace{}
	}
	id := t.goroutine()
	delete(t.operands, id)
	tr := t.frames[id]
	delete(t.frames, id)
	if tr == nil {
		return trace{}
	}
	return *tr
}

// put restores the frames of the calling goroutine's panic.
func (t *traces) put(p *engine.Panic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frames == nil {
		t.frames = map[uint64]*trace{}
	}
	t.frames[t.goroutine()] = &trace{frames: p.Frames, skipped: p.Skipped, inside: p.Inside, literal: true}
}

func (t *traces) forget() { t.take() }
