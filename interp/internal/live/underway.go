package live

import (
	"sync"
	"sync/atomic"

	"halfnote/internal/goid"
)

// underWay records the current statements of each goroutine while an observer needs them.
type underWay struct {
	on uint32 // read by interpreted code without synchronization, as Registry.flag

	mu sync.Mutex
	of map[uint64][]statement // statements by goroutine, outermost first
}

// statement is a statement that is being executed.
type statement struct {
	depth int // call depth of cells' functions
	mark  int
}

// Watched returns the variable that statements test before they call [Registry.At].
func (r *Registry) Watched() *uint32 { return &r.under.on }

// Watching reports whether statements are recorded.
func (r *Registry) Watching() bool { return atomic.LoadUint32(&r.under.on) != 0 }

// Watch starts or ends the recording of current statements.
func (r *Registry) Watch(on bool) {
	r.under.mu.Lock()
	defer r.under.mu.Unlock()
	r.under.of = nil
	if atomic.StoreUint32(&r.under.on, 0); on {
		r.under.of = map[uint64][]statement{}
		atomic.StoreUint32(&r.under.on, 1)
	}
}

// At records that the calling goroutine begins a statement.
func (r *Registry) At(mark int) {
	id, depth := goid.Current(), r.Depth()
	r.under.mu.Lock()
	defer r.under.mu.Unlock()
	if r.under.of != nil {
		r.under.of[id] = append(within(r.under.of[id], depth-1), statement{depth, mark})
	}
}

// statements returns the current statements of a goroutine.
func (r *Registry) statements(id uint64) []statement {
	r.under.mu.Lock()
	defer r.under.mu.Unlock()
	return r.under.of[id]
}

// Where yields the marks of the current statements of the calling goroutine, innermost
// first: those that began while Watch was on.
func (r *Registry) Where(yield func(mark int) bool) {
	if !r.Watching() {
		return
	}
	list := within(r.statements(goid.Current()), r.Depth())
	for i := len(list) - 1; i >= 0 && yield(list[i].mark); i-- {
	}
}

// within returns the statements of functions at a call depth of at most depth: the
// others have returned.
func within(list []statement, depth int) []statement {
	for len(list) > 0 && list[len(list)-1].depth > depth {
		list = list[:len(list)-1]
	}
	return list
}

func (w *underWay) leave(id uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.of, id)
}
