package magic

import (
	"context"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"

	"halfnote/interp/internal/debug"
)

// profiler marks what goroutines run with the lines of cells: a CPU profile then holds them as
// labels of its samples. It is called at the stops of the debugger.
type profiler struct {
	depth func() int    // number of active calls of cells' functions in the calling goroutine
	id    func() uint64 // number of the calling goroutine

	mu    sync.Mutex
	of    map[uint64]*activeLine
	root  activeLine
	lines []*activeLine // by number
}

// activeLine is a line that is being run, below the lines that called its function.
type activeLine struct {
	stop   debug.Stop
	depth  int
	parent *activeLine
	inner  map[lineCall]*activeLine
	labels context.Context
}

// lineCall identifies a line below another: by the stop, and by the depth of the call.
type lineCall struct{ stop, depth int }

// profileLabel is the label of samples; its value is the number of an activeLine.
const profileLabel = "cell"

// maxActiveLines is the maximum number of lines with different callers in one profile. Beyond
// it, a line counts for its caller.
const maxActiveLines = 10_000

func newProfiler(depth func() int, id func() uint64) *profiler {
	return &profiler{depth: depth, id: id, of: map[uint64]*activeLine{}}
}

// At implements debug.Observer: it records that the calling goroutine has passed stop number n.
func (p *profiler) At(n int, x debug.Stop) {
	id, depth := p.id(), p.depth()
	p.mu.Lock()
	l := p.of[id]
	if l == nil {
		l = &p.root
	}
	for l.parent != nil && l.depth >= depth {
		l = l.parent
	}
	for outer := l; outer.parent != nil; outer = outer.parent {
		if outer.stop.Func == x.Func && outer.stop.Literal == x.Literal { // recursion is folded
			l = outer.parent
		}
	}
	l = p.below(l, lineCall{n, depth}, x)
	p.of[id] = l
	p.mu.Unlock()
	if l.labels != nil {
		pprof.SetGoroutineLabels(l.labels)
	}
}

// below returns a line that is called by l. mu must be held.
func (p *profiler) below(l *activeLine, c lineCall, x debug.Stop) *activeLine {
	if in := l.inner[c]; in != nil {
		return in
	}
	if len(p.lines) == maxActiveLines {
		return l
	}
	in := &activeLine{stop: x, depth: c.depth, parent: l}
	in.labels = pprof.WithLabels(context.Background(), pprof.Labels(profileLabel, strconv.Itoa(len(p.lines))))
	p.lines = append(p.lines, in)
	if l.inner == nil {
		l.inner = map[lineCall]*activeLine{}
	}
	l.inner[c] = in
	return in
}

// line returns the line with a label's value, or nil.
func (p *profiler) line(label string) *activeLine {
	n, err := strconv.Atoi(label)
	if err != nil || n < 0 || n >= len(p.lines) {
		return nil
	}
	return p.lines[n]
}

// text returns the source of the line.
func (l *activeLine) text() string {
	lines := strings.Split(l.stop.Code, "\n")
	if l.stop.Line < 1 || l.stop.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[l.stop.Line-1])
}
