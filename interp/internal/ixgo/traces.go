package ixgo

import (
	"reflect"
	"sync"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/engine"
)

// traces keeps, by goroutine, the known active calls: the one that entered interpreted
// code, and those at the time a panic was raised. ixgo reports the panics that it
// raises; those of compiled code are found when they are recovered.
type traces struct {
	mu sync.Mutex
	of map[uint64]*trace
}

type trace struct {
	entered *ixgo.Frame // the unit's function
	value   any         // value of the panic that was raised last
	raised  []stretch
	root    *ixgo.Frame // outermost call of those
	again   *engine.Panic
}

func (t *traces) mine() *trace {
	id := gid.Get()
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := t.of[id]
	if tr == nil {
		tr = &trace{}
		if t.of == nil {
			t.of = map[uint64]*trace{}
		}
		t.of[id] = tr
	}
	return tr
}

// leave forgets the calling goroutine.
func (t *traces) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, gid.Get())
}

// reset discards the record of panics and keeps its memory.
func (tr *trace) reset() { *tr = trace{entered: tr.entered, raised: tr.raised[:0]} }

// enter records the call of a unit's function. Units call it first.
func (t *traces) enter(fr *ixgo.Frame) {
	*t.mine() = trace{entered: fr}
}

// raised records the active calls when ixgo raises a panic.
func (t *traces) raised(p *ixgo.PanicInfo) {
	if a, ok := instruction(p.Frame).(*ssa.TypeAssert); ok && a.CommaOk {
		return // an assertion with a second result does not panic
	}
	t.at(p.Frame, p.Error)
}

// at records that the innermost call fr is about to panic with value.
func (t *traces) at(fr *ixgo.Frame, value any) {
	innermost(fr)
	tr := t.mine()
	tr.value, tr.again = value, nil
	tr.raised, tr.root = stretches(tr.raised[:0], fr)
}

// take returns the calls that were active when the panic that has just been recovered
// was raised.
func (t *traces) take(value any) (frames []engine.Frame, skipped int) {
	tr := t.mine()
	defer tr.reset()
	var list []stretch
	if same(tr.value, value) {
		if tr.again != nil {
			return tr.again.Frames, tr.again.Skipped
		}
		list = tr.raised
	}
	if tr.entered != nil && (list == nil || tr.root != outermost(tr.entered)) {
		list, _ = stretches(list, last(tr.entered))
	}
	for c := range calls(list) {
		f, ok := c.frame()
		switch {
		case !ok:
		case len(frames) == maxFrames:
			skipped++
		default:
			frames = append(frames, f)
		}
	}
	return frames, skipped
}

// maxFrames is the limit on recorded frames of one panic: endless recursion would give
// thousands.
const maxFrames = 64

// put restores the frames of the calling goroutine's panic, which compiled code raises
// again.
func (t *traces) put(p *engine.Panic) {
	tr := t.mine()
	tr.value, tr.again = p.Value, p
}

// same reports whether a recovered value is the one that was raised.
func same(raised, recovered any) bool {
	a, b := unwrap(raised), unwrap(recovered)
	if reflect.TypeOf(a) != reflect.TypeOf(b) || a == nil {
		return false
	}
	return !reflect.ValueOf(a).Comparable() || a == b
}

// unwrap returns the value of a panic that units raised.
func unwrap(v any) any {
	for {
		p, ok := v.(ixgo.PanicError)
		if !ok {
			return v
		}
		v = p.Value
	}
}
