package cpu

import (
	"runtime"
	"sync/atomic"
)

// bufferGroup groups buffers of fewer than keepMin bytes under one cleanup, because a cleanup for each would cost more
// than the rest of an operation on it. A buffer counts as live until it is released or the whole
// group is unreachable.
type bufferGroup struct {
	left  int           // number of buffers that may still join
	bytes *atomic.Int64 // total size of the buffers that have not been released
}

const (
	groupCount = 16
	groupBytes = 16 << 10
)

// join returns the group of a new buffer of n bytes.
func (m *memory) join(n int) *bufferGroup {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.group
	if g == nil || g.left == 0 || g.bytes.Load()+int64(n) > groupBytes {
		g = &bufferGroup{groupCount, new(atomic.Int64)}
		runtime.AddCleanup(g, m.releaseGroup, g.bytes)
		m.group = g
	}
	g.left--
	g.bytes.Add(int64(n))
	return g
}

func (m *memory) releaseGroup(bytes *atomic.Int64) { m.give(allocation{size: int(bytes.Load())}) }
