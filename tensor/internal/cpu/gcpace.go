package cpu

import (
	"time"

	"halfnote/tensor/driver"
)

// gcPace decides when to run the garbage collector and how much free memory to keep.
type gcPace struct {
	allocated int64     // bytes allocated and not released since the last collection
	notBefore time.Time // earliest time of the next collection, unless allocated is worth its cost
	cost      int64     // nanoseconds that the last collection took

	peak, lastPeak int64 // maximum of live memory in this period and in the one before
	timer          bool  // the end of the period is scheduled
}

// period is approximately how long unused memory is kept.
const period = 5 * time.Second

// recent returns the recent maximum of live memory.
func (p *gcPace) recent() int64 { return max(p.peak, p.lastPeak) }

// budget returns the limit of live and free memory together: slightly more than the recent maximum
// of live memory, or buffers of several sizes would evict each other in every step.
func (p *gcPace) budget() int64 { return p.recent() + p.recent()/6 }

// trimLater schedules the end of the period. The caller holds the lock.
func (m *memory) trimLater() {
	if !m.pace.timer {
		m.pace.timer = true
		time.AfterFunc(period, m.trim)
	}
}

// trim begins a new period. It reduces live and free memory together to the budget of the last two.
func (m *memory) trim() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pace.lastPeak, m.pace.peak = m.pace.peak, m.live
	m.free.trim(m.pace.budget() - m.live)
	if m.pace.timer = false; m.free.bytes > 0 {
		m.trimLater()
	}
}

// Collections run here take at most gcShare of the time, or less than a nanosecond per gcRate bytes
// allocated, because touching memory that is in no cache costs as much. However little is live,
// gcMin bytes are allocated before a collection, and gcEarly bytes before one that exceeds its
// share.
const (
	gcMin   = 8 << 20
	gcEarly = 48 << 20
	gcShare = 1.0 / 20
	gcRate  = 32
)

// collect runs the garbage collector if the memory allocated since the last collection may be worth
// it, and reports whether it did. With Go's own pace, unreachable tensors would take as much memory
// as reachable ones. It is called before memory is taken from the system.
func (m *memory) collect() bool {
	m.mu.Lock()
	start := time.Now()
	due := m.pace.allocated > max(gcEarly, m.live/2) ||
		m.pace.allocated > max(gcMin, m.live/16) && (start.After(m.pace.notBefore) || m.pace.allocated/gcRate > m.pace.cost)
	if due {
		m.pace.allocated = 0
	}
	m.mu.Unlock()
	if !due {
		return false
	}
	driver.CollectGarbage()
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.pace.cost = int64(now.Sub(start))
	m.pace.notBefore = now.Add(time.Duration(float64(m.pace.cost) / gcShare))
	return true
}
