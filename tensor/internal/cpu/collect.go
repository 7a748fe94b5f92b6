package cpu

import (
	"time"

	"halfnote/tensor/driver"
)

// pace says when to look for garbage and how much memory to keep.
type pace struct {
	handed int64     // bytes given out, and not released, since the garbage collector was run
	next   time.Time // before which it is not run again, but
	cost   int64     // if what was given out is worth it: nanoseconds that it took

	most, before int64 // the most that was live in this period, and in the one before
	timer        bool  // its end has been set
}

// period is approximately how long unused memory is kept.
const period = 5 * time.Second

// recent returns the recent maximum of live memory.
func (p *pace) recent() int64 { return max(p.most, p.before) }

// room returns how much live and kept memory may take together: slightly more than the recent
// maximum of live memory, or buffers of several sizes would evict each other in every step.
func (p *pace) room() int64 { return p.recent() + p.recent()/6 }

// trimLater sees to it that what is kept is looked at when a period is over. The caller
// holds the lock.
func (m *memory) trimLater() {
	if !m.pace.timer {
		m.pace.timer = true
		time.AfterFunc(period, m.trim)
	}
}

// trim begins a new period: live and kept memory together take no more than there is room
// for by the last two.
func (m *memory) trim() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pace.before, m.pace.most = m.pace.most, m.live
	m.kept.trim(m.pace.room() - m.live)
	if m.pace.timer = false; m.kept.bytes > 0 {
		m.trimLater()
	}
}

// However little is live, least bytes are given out before a collection, and garbage
// bytes before one that is run out of turn. Otherwise collections that are run here take
// share of the time, or less than a nanosecond for worthwhile bytes given out: to take
// memory that is in no cache costs as much.
const (
	least      = 8 << 20
	garbage    = 48 << 20
	share      = 1.0 / 20
	worthwhile = 32
)

// collect runs the garbage collector if what has been given out since its last run may
// be worth it, and reports whether it did: Go's own pace would let tensors that
// are used no more take as much memory as those that are. It is called where
// memory would have to be taken afresh.
func (m *memory) collect() bool {
	m.mu.Lock()
	start := time.Now()
	due := m.pace.handed > max(garbage, m.live/2) ||
		m.pace.handed > max(least, m.live/16) && (start.After(m.pace.next) || m.pace.handed/worthwhile > m.pace.cost)
	if due {
		m.pace.handed = 0
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
	m.pace.next = now.Add(time.Duration(float64(m.pace.cost) / share))
	return true
}
