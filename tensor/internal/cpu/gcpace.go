package cpu

import (
	"time"

	"halfnote/tensor/driver"
)

// gcPace decides when to run the garbage collector and how much free memory to keep.
type gcPace struct {
	hot       int64     // bytes that small results are written to in turn: see hotBytes
	allocated int64     // bytes allocated and not released since the last collection
	notBefore time.Time // earliest time of the next collection, unless allocated is worth its cost
	cost      int64     // nanoseconds that the last collection took
	found     float64   // share of the bytes allocated before the last collection that it found

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
// allocated, because touching uncached memory costs as much. At least gcMin bytes are allocated
// before a collection, and gcEarly bytes before one that exceeds its share, even if little memory
// is live.
const (
	gcMin   = 8 << 20
	gcEarly = 48 << 20
	gcShare = 1.0 / 20
	gcRate  = 32
)

// Each short-lived result occupies fresh memory until a collection reclaims it. A small result is written almost twice as fast to memory that is still in a
// cache, so a collection pays even where free memory is left: it may take a nanosecond per hotRate
// bytes that it is expected to find, and happens for results of at most hotMax bytes.
const (
	hotMax  = 2 << 20
	hotRate = 32
)

// hotBytes returns how many bytes small results are written to in turn before a collection, given the
// size of the third cache, or 0 if it is unknown. As measured, all memory of the third cache is about
// equally fast, so that rarer collections pay. Results share the cache with operands and, in a virtual
// machine, with others: writing 48 MB in turn was slower than 32 MB where it has 480 MB.
func hotBytes(cache int64) int64 { return min(max(cache/3, 12<<20), 32<<20) }

// dueHot reports whether a collection before an allocation of n bytes pays because of the caches. It
// expects to find the same share of the allocated bytes as the last collection: while a program keeps
// its results, for example on a tape, there are none to find.
func (p *gcPace) dueHot(n int) bool {
	return n <= hotMax && p.allocated > p.hot && float64(p.allocated)*p.found > float64(p.cost)*hotRate
}

// dueShort reports whether a collection pays before n bytes are taken from the system.
func (p *gcPace) dueShort(n int, live int64) bool {
	saves := p.allocated/gcRate > p.cost && (n > hotMax || p.allocated > p.hot)
	return p.allocated > max(gcEarly, live/2) ||
		p.allocated > max(gcMin, live/16) && (saves || time.Now().After(p.notBefore))
}

// collectHot runs the garbage collector if that pays before an allocation of n bytes; see
// [gcPace.dueHot].
func (m *memory) collectHot(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pace.dueHot(n) {
		m.collect()
	}
}

// collectShort runs the garbage collector if the memory allocated since the last collection may be
// worth it, and reports whether it did. With Go's own pace, unreachable tensors would take as much
// memory as reachable ones. It is called before n bytes are taken from the system.
func (m *memory) collectShort(n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	due := m.pace.dueShort(n, m.live)
	if due {
		m.collect()
	}
	return due
}

// collect runs the garbage collector. The caller holds the lock, which is released meanwhile.
func (m *memory) collect() {
	allocated, live := m.pace.allocated, m.live
	m.pace.allocated = 0
	m.mu.Unlock()
	start := time.Now()
	m.helpers.rest(driver.CollectGarbage)
	now := time.Now()
	m.mu.Lock()
	m.pace.found = float64(live-m.live) / float64(allocated)
	m.pace.cost = int64(now.Sub(start))
	m.pace.notBefore = now.Add(time.Duration(float64(m.pace.cost) / gcShare))
}
