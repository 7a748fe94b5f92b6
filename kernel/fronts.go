package kernel

import (
	"sync"
	"time"
)

// missedAfter is how long a cell must run for a notice: a page that is closed sooner
// was hardly waiting for it.
const missedAfter = 10 * time.Second

// fronts tells a front end that joins late of a long cell that ran for another one. The kernel
// cannot see whether that one has left: Jupyter Server keeps its connections open.
type fronts struct {
	mu    sync.Mutex
	known map[string]bool // sessions of front ends that ran cells or know of the missed cell
	last  string          // session that ran the newest cell
	count int             // count of its newest long cell, 0 for none
}

// missed returns the count of the cell that a front end may have missed; 0 for none.
func (f *fronts) missed(session string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[session] || f.last == session {
		return 0
	}
	return f.count
}

// told records that a front end knows of the cells so far.
func (f *fronts) told(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.known) > 1000 {
		clear(f.known)
	}
	if f.known == nil {
		f.known = map[string]bool{}
	}
	f.known[session] = true
}

// ran records a cell of a front end.
func (f *fronts) ran(session string, count int, took time.Duration) {
	f.told(session)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != session {
		f.last, f.count = session, 0
	}
	if took >= missedAfter {
		f.count = count
	}
}
