package engine

import (
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
)

// Counters is the number of counters of calls that compiled code has: see package lower.
const Counters = 64

// Calls counts the active calls of interpreted functions in the calling goroutine. It
// is safe for use by several goroutines.
type Calls struct {
	// Runs reports whether the function of that name in the host runs interpreted functions.
	Runs func(function string) bool

	mu    sync.Mutex
	known atomic.Pointer[map[uintptr]bool] // whether each return address in the host's code lies in such a function
}

// Depth returns the number of active calls.
func (c *Calls) Depth() int { return c.depth(1 << 20) }

// Deeper reports whether more than limit calls are active. A stack with fewer calls of the
// host need not be searched.
func (c *Calls) Deeper(limit int) bool {
	room := stacks.Get().(*[]uintptr)
	few := frames((*room)[:min(len(*room), limit)]) < min(len(*room), limit)
	stacks.Put(room)
	if few {
		return false
	}
	var one [1]uintptr
	if runtime.Callers(limit, one[:]) == 0 {
		return false
	}
	return c.depth(framesPerCall*limit) > limit
}

// framesPerCall bounds the calls of the host for each interpreted one: a method that package fmt calls, and that
// calls package fmt, takes 18.
const framesPerCall = 32

// stacks is a pool of buffers for return addresses.
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

// learn returns the known addresses with those of pcs added. The map is replaced, not
// changed: other goroutines may be reading it.
func (c *Calls) learn(pcs []uintptr) map[uintptr]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := map[uintptr]bool{}
	if p := c.known.Load(); p != nil {
		maps.Copy(known, *p)
	}
	for _, pc := range pcs {
		f := runtime.FuncForPC(pc - 1) // address of the call, not of the instruction after it
		known[pc] = f != nil && c.Runs(whole(f).Name())
	}
	c.known.Store(&known)
	return known
}
