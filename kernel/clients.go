package kernel

import (
	"sync"
	"time"
)

// missedAfter is how long a cell must run for a notice: a page that is closed sooner
// was hardly waiting for it.
const missedAfter = 10 * time.Second

// clients tells a front end that joins late of a long cell that ran for another one. The kernel
// cannot see whether that one has left: Jupyter Server keeps its connections open.
type clients struct {
	mu    sync.Mutex
	known map[string]bool // sessions of front ends that ran cells or know of the missed cell
	last  string          // session that ran the newest cell
	count int             // count of its newest long cell, 0 for none
}

// missed returns the count of the cell that a front end may have missed; 0 for none.
func (c *clients) missed(session string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[session] || c.last == session {
		return 0
	}
	return c.count
}

// told records that a front end knows of the cells so far.
func (c *clients) told(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) > 1000 {
		clear(c.known)
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	c.known[session] = true
}

// ran records a cell of a front end.
func (c *clients) ran(session string, count int, took time.Duration) {
	c.told(session)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != session {
		c.last, c.count = session, 0
	}
	if took >= missedAfter {
		c.count = count
	}
}
