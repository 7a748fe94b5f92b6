package live

import (
	"sync"
	"sync/atomic"
)

// underWay knows which statements are under way in each goroutine, while somebody
// wants to know.
type underWay struct {
	on uint32 // read by interpreted code without synchronization, as Registry.flag

	mu sync.Mutex
	of map[uint64][]statement // by goroutine, the outermost first
}

// statement is one that is under way.
type statement struct {
	depth int // of calls of cells' functions
	mark  int
}

// Watched returns what statements test before they call [Registry.At].
func (r *Registry) Watched() *uint32 { return &r.under.on }

// Watching reports whether they are to.
func (r *Registry) Watching() bool { return atomic.LoadUint32(&r.under.on) != 0 }

// Watch begins to note which statements are under way, or ends that.
func (r *Registry) Watch(on bool) {
	r.under.mu.Lock()
	defer r.under.mu.Unlock()
	r.under.of = nil
	if atomic.StoreUint32(&r.under.on, 0); on {
		r.under.of = map[uint64][]statement{}
		atomic.StoreUint32(&r.under.on, 1)
	}
}

// At notes that the calling goroutine begins a statement.
func (r *Registry) At(mark int) {
	if r.Depth == nil {
		return
	}
	id, depth := r.id(), r.Depth()
	r.under.mu.Lock()
	defer r.under.mu.Unlock()
	if r.under.of != nil {
		r.under.of[id] = append(within(r.under.of[id], depth-1), statement{depth, mark})
	}
}

// Where yields the marks of the statements that are under way in the calling
// goroutine, the innermost first: those that were begun while Watch was on.
func (r *Registry) Where(yield func(mark int) bool) {
	if r.Depth == nil || !r.Watching() {
		return
	}
	id := r.id()
	r.under.mu.Lock()
	list := r.under.of[id]
	r.under.mu.Unlock()
	if len(list) == 0 {
		return
	}
	list = within(list, r.Depth())
	for i := len(list) - 1; i >= 0 && yield(list[i].mark); i-- {
	}
}

// within returns the statements of functions that nest at most depth calls deep: the
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
