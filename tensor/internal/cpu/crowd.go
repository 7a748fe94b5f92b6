package cpu

import (
	"runtime"
	"sync/atomic"
)

// crowd is a few buffers so small that a cleanup of each would cost more than all else
// about an operation on them. Their memory counts as live until none of them is
// reachable, or until their release.
type crowd struct {
	left  int           // how many more may join
	bytes *atomic.Int64 // of those that are not released
}

const (
	small      = 4 << 10 // bytes of buffers that belong to a crowd are fewer
	crowdCount = 16
	crowdBytes = 16 << 10
)

// join returns the crowd of a new buffer of n bytes.
func (m *memory) join(n int) *crowd {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.crowd
	if c == nil || c.left == 0 || c.bytes.Load()+int64(n) > crowdBytes {
		c = &crowd{crowdCount, new(atomic.Int64)}
		runtime.AddCleanup(c, m.giveCrowd, c.bytes)
		m.crowd = c
	}
	c.left--
	c.bytes.Add(int64(n))
	return c
}

func (m *memory) giveCrowd(bytes *atomic.Int64) { m.give(held{size: int(bytes.Load())}) }
