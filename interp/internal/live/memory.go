package live

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"halfnote/internal/text"
)

// TooMuch is the value of the panic of a cell that runs out of memory. Asked is the size of
// the request in bytes, or 0 if the cell is stopped because it has used up the memory. SetBy is what set the limit.
type TooMuch struct {
	Asked, Used, Limit int64
	SetBy              string
}

func (t TooMuch) Error() string {
	by := cmp.Or(t.SetBy, "GOMEMLIMIT")
	switch {
	case t.Asked != 0:
		return fmt.Sprintf("out of memory: %s requested, more than is left of %s (%s sets the limit)", text.Bytes(t.Asked), text.Bytes(t.Limit), by)
	}
	return fmt.Sprintf("out of memory: %s are in use, and the limit is %s (%s sets it)", text.Bytes(t.Used), text.Bytes(t.Limit), by)
}

// RuntimeError makes TooMuch a runtime.Error.
func (TooMuch) RuntimeError() {}

// Room panics if n elements of size bytes do not fit into memory: Go itself would end
// the process. Invalid lengths are left to Go.
func (r *Registry) Room(n, size int) {
	const small = 16 << 20
	if r.Memory == 0 || n < 0 || size <= 0 || n < small/size {
		return
	}
	asked := int64(n) * int64(size)
	if asked/int64(size) != int64(n) {
		return
	}
	if r.look().fits(asked) {
		return
	}
	runtime.GC()
	if l := r.look(); !l.fits(asked) {
		panic(TooMuch{asked, l.used, l.limit, l.setBy})
	}
}

// filled returns the bytes in use if earlier cells have used up the memory, and otherwise 0. Goroutines may then use a part of what is left to the collector.
func (r *Registry) filled() int64 {
	if !r.wasFull.Load() {
		return 0
	}
	l := r.look()
	r.beyond.Store(max(spare/2, part-l.left()))
	return l.used
}

// full returns the cause for stopping the cell if memory is used up, or else how long the rest lasts at least, but at most watchEvery. Where it was used up before
// the cell, by variables of earlier ones, the cell may use a little more than those before bytes, to release some.
func (r *Registry) full(before int64) (why TooMuch, full bool, next time.Duration) {
	if r.Memory == 0 {
		return why, false, watchEvery
	}
	l, least := r.look(), time.Millisecond
	r.pace(l)
	if l.left() > 0 {
		r.beyond.Store(spare / 2)
		r.wasFull.Store(false)
	} else {
		defer r.hold()() // a loop would take the rest while the collector looks for garbage
		runtime.GC()
		l, least = r.look(), 10*time.Millisecond // between collections
		short := l.left() < l.limit/thirtieth
		r.wasFull.Store(short)
		if full = short && l.used > before+part; full {
			why = TooMuch{0, l.used, l.limit, l.setBy}
		}
	}
	return why, full, min(max(time.Duration(l.left()/fastest)*time.Millisecond, least), watchEvery)
}

// Scarce panics if half of what cells leave to the collector is used up, and the calling goroutine belongs to a cell, or otherwise belongs returns true: it has
// passed the limit and does not poll. The next panic comes when a further part is used up, so that deferred functions can run. Scarce waits for no lock: the
// goroutine may be in the middle of something.
func (r *Registry) Scarce(belongs func() bool) {
	if r.Memory == 0 || r.look().left() > -r.beyond.Load() || !r.Owns() && !belongs() {
		return
	}
	runtime.GC()
	l := r.look()
	if l.left() > -r.beyond.Load() {
		return
	}
	r.beyond.Store(part - l.left())
	r.wasFull.Store(true)
	panic(TooMuch{0, l.used, l.limit, l.setBy})
}

// hold makes goroutines of cells wait at their next poll, until release is called.
func (r *Registry) hold() (release func()) {
	held := make(chan struct{})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding.Store(&held)
	atomic.StoreUint32(&r.flag, 1)
	r.hurry()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.holding.Store(nil)
		close(held)
		r.lower()
	}
}

// look is what the process uses of its memory at one time.
type look struct {
	used, stacks, mapped int64 // bytes of the heap that hold objects and stacks of goroutines, with mapped bytes; of these the stacks
	limit                int64 // on used
	setBy                string
	total                int64 // bytes that Go uses of the system's memory
	unused               int64 // bytes of the heap that hold nothing
	addresses            int64 // that the system leaves, or 0 if it does not limit them
}

// left returns how many bytes more may be used.
func (l look) left() int64 { return l.limit - l.used }

// fits reports whether a block of so many bytes can be allocated: it does not exceed the limit, and if it needs more addresses than the system still
// gives, one of the free parts of the heap is likely to hold it.
func (l look) fits(asked int64) bool {
	return asked <= l.left() && (l.addresses == 0 || l.addresses >= asked+arena || l.unused >= 4*asked)
}

// look looks at the memory. It waits for no lock: the goroutine may be allocating, and hold it.
func (r *Registry) look() look {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/total:bytes"},
	}
	metrics.Read(s)
	n := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	l := look{used: n(0) + n(1), stacks: n(1), unused: n(2) + n(3), total: n(4) - n(3), limit: r.Memory, setBy: r.MemorySetBy}
	if r.Mapped != nil {
		l.mapped = r.Mapped()
		l.used += l.mapped
	}
	if r.Addresses != nil {
		l.addresses = int64(r.Addresses())
	}
	if l.addresses > 0 {
		if most := l.used + l.unused + l.addresses/arena*arena - spare; most < l.limit {
			l.limit, l.setBy = most, "ulimit -v"
		}
	}
	return l
}

const (
	// arena is the number of addresses by multiples of which the heap grows.
	arena = 64 << 20
	// spare is the part of a heap with few addresses that cells leave to the collector.
	spare = 16 << 20
	// part is how much of it a goroutine may use after a panic, or a cell where others have used up the memory.
	part = spare / 8
	// fastest is how many bytes goroutines may allocate in a millisecond.
	fastest = 2 << 20
	// thirtieth of the memory is what a collection must leave for the cell to go on: with less, it would only collect.
	thirtieth = 32
)

// pace makes the collector work harder, and stacks end earlier, before the addresses run out.
func (r *Registry) pace(l look) {
	if l.addresses == 0 {
		return
	}
	if r.Stacks != nil {
		r.Stacks(l.left() / 2)
	}
	const apart = 8 << 20
	p := &r.pacing
	p.Lock()
	defer p.Unlock()
	now := debug.SetMemoryLimit(-1)
	if now != p.own {
		p.program = now
	}
	if limit := min(p.program, max(l.total+l.left(), apart)); limit < now-apart || limit > now+apart {
		p.own = limit
		debug.SetMemoryLimit(limit)
	}
}
