package engine

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
)

// Calls counts the calls of interpreted functions under way in the calling goroutine.
// It is safe for use by several goroutines.
type Calls struct {
	// Runs tells the host's function that runs interpreted functions by its name.
	Runs func(function string) bool

	mu    sync.Mutex
	known atomic.Pointer[map[uintptr]bool] // of places of the host's code, whether they are in that function
}

// Depth returns how many there are.
func (c *Calls) Depth() int { return c.depth(1 << 20) }

// Deeper reports whether there are more than limit of them, each of which takes at
// least one further call of the host's: with fewer than 2*limit calls in all there
// is no need to look.
func (c *Calls) Deeper(limit int) bool {
	var one [1]uintptr
	if runtime.Callers(2*limit, one[:]) == 0 {
		return false
	}
	return c.depth(16*limit) > limit
}

// stacks holds room for the places of calls.
var stacks = sync.Pool{New: func() any { s := make([]uintptr, 1024); return &s }}

func (c *Calls) depth(maxFrames int) int {
	room := stacks.Get().(*[]uintptr)
	defer stacks.Put(room)
	pcs := *room
	n := frames(pcs)
	for n == len(pcs) && n < maxFrames {
		pcs = make([]uintptr, min(8*n, maxFrames))
		n = frames(pcs)
	}
	var known map[uintptr]bool
	if p := c.known.Load(); p != nil {
		known = *p
	}
	calls := 0
	for i, pc := range pcs[:n] {
		runs, ok := known[pc]
		if !ok {
			known = c.learn(pcs[i:n])
			runs = known[pc]
		}
		if runs {
			calls++
		}
	}
	return calls
}

// learn returns what is known with what there is to know of pcs. The map is replaced,
// not changed: others may be reading it.
func (c *Calls) learn(pcs []uintptr) map[uintptr]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := map[uintptr]bool{}
	if p := c.known.Load(); p != nil {
		maps.Copy(known, *p)
	}
	for _, pc := range pcs {
		f := runtime.FuncForPC(pc - 1) // of the call, not of what follows it
		known[pc] = f != nil && c.Runs(whole(f).Name())
	}
	c.known.Store(&known)
	return known
}
