// Package live records which goroutines belong to which cell, and stops them. Rewritten code
// calls it to poll in loops and calls, and for blocking operations that can be interrupted.
// It does not depend on how code is interpreted.
package live

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"halfnote/internal/goid"
	"halfnote/interp/internal/engine"
)

// Registry tracks the goroutines of a session's cells.
type Registry struct {
	Hooks
	// Memory is the limit on the bytes of the heap, or 0 for none, including the bytes in
	// use that Mapped, if set, reports.
	Memory int64
	// MemorySetBy is what set the limit, such as GOMEMLIMIT, for messages.
	MemorySetBy string
	Mapped      func() int64
	// Addresses returns how many bytes of addresses the system leaves to the process, or 0 if it does not limit them, and Stacks limits the stacks of
	// goroutines where these are few. They may be nil.
	Addresses func() int
	Stacks    func(bytes int64)

	attached atomic.Pointer[attached]

	limit int
	// flag is tested by loops: it is not 0 while some goroutine must stop. calls and counters are
	// decremented by function entries: below 0 they call Call. All are read and
	// written by code of cells without synchronization; a lost write is repeated.
	_        [64]byte // loops that only read flag do not wait for writes to its cache line
	flag     uint32
	_        [64]byte
	calls    int32
	counters *[engine.Counters][16]int32
	yielding

	spaced   spaced
	looks    atomic.Uint32
	asking   atomic.Bool                   // whether answers is in use
	others   atomic.Int32                  // goroutines other than the running cell's own
	started  atomic.Uint32                 // goroutines since the start
	starting atomic.Int32                  // goroutines that are starting another
	holding  atomic.Pointer[chan struct{}] // closed when goroutines that poll may go on; nil if they may

	under underWay

	beyond  atomic.Int64 // bytes beyond the limit of memory at which Scarce panics
	wasFull atomic.Bool  // whether memory was used up at the last look that found little
	pacing  struct {
		sync.Mutex
		own, program int64 // the collector's limits as pace and the program have set them
	}

	wakeBy int64 // end of the time in which timers may wake cells, in Unix nanoseconds

	// These are read without a lock: an allocation asks for them, and the goroutine that allocates may hold any.
	current atomic.Pointer[Cell]
	cells   sync.Map // cells by goroutine
	lent    sync.Map // goroutines that are not of cells, while they work for one

	mu        sync.Mutex
	ever      ids // goroutines that cells have had
	stopping  map[*Cell]bool
	unwinding map[uint64]bool
	expected  map[uint64]expected         // defer lists by goroutine
	spots     map[uint64]spot             // places of goroutines
	answers   map[uint64]int              // marks at which goroutines have polled, while Goroutines asks
	callers   map[weak.Pointer[Cell]]bool // cells that have left callbacks
	collected int                         // number of these after the last removal of those that are garbage
	pressing  bool                        // whether press runs
	pressed   time.Time                   // time of the last request to stop
	// interrupted is the time of the user's last interrupt.
	interrupted time.Time
	resume      func() // set while the engine is halted
	halted      *Cell  // whose calls were too deep
	deepest     int    // mark of the call at which the engine was halted
}

// Hooks are functions of the session that a registry calls. Each may be nil.
type Hooks struct {
	// Words gives a panic's value the wording of compiled code.
	Words func(value any) any
	// Report reports a panic in one of a cell's goroutines to its reader.
	Report func(*Cell, *engine.Panic)
	// Leave runs at the end of each goroutine of cells, in that goroutine. Its
	// result is written to the cell's stderr.
	Leave func() (lines []string)
	// Before runs before each write to the streams.
	Before func()
}

// attached is the engine that runs the cells, and the counter of its active calls.
type attached struct {
	engine.Engine
	calls *engine.Calls
}

// NewRegistry returns a registry whose goroutines may nest limit calls. It needs an engine,
// which Attach gives it.
func NewRegistry(limit int) *Registry {
	r := &Registry{
		limit: limit, counters: new([engine.Counters][16]int32), ever: ids{}, stopping: map[*Cell]bool{},
		unwinding: map[uint64]bool{}, expected: map[uint64]expected{}, spots: map[uint64]spot{}, callers: map[weak.Pointer[Cell]]bool{},
	}
	r.current.Store(&Cell{stop: make(chan struct{}), Out: Nowhere{}, Ctx: context.Background()})
	r.beyond.Store(spare / 2)
	return r
}

// Attach makes the registry watch the units that an engine runs.
func (r *Registry) Attach(e engine.Engine) {
	r.attached.Store(&attached{e, &engine.Calls{Runs: e.RunsCells}})
	r.attach(e.Needs().Rewrites)
}

// Recovered describes a panic just recovered in the calling goroutine.
func (r *Registry) Recovered(value any) *engine.Panic { return r.attached.Load().Recovered(value) }

// Depth returns the number of active calls of cells' functions in the calling goroutine.
func (r *Registry) Depth() int { return r.attached.Load().calls.Depth() }

// halt makes all running code of cells return at once, if the engine can do that.
func (r *Registry) halt() (resume func(), ok bool) {
	if h, can := r.attached.Load().Engine.(engine.Halter); can {
		return h.Halt()
	}
	return nil, false
}

// ID returns the number of the calling goroutine.
func (r *Registry) ID() uint64 { return goid.Current() }

// Others returns the number of goroutines of cells other than the running cell's own.
func (r *Registry) Others() int { return int(r.others.Load()) }

// Run calls f as the new current cell, in a new goroutine, and returns when f does. If stop
// tells the cell to stop and it does not stop within grace, Run returns with left true.
func (r *Registry) Run(c *Cell, stop <-chan struct{}, grace time.Duration, f func() error) (err error, left bool) {
	c.stop = make(chan struct{})
	c.Ctx, c.end = context.WithCancel(context.Background())
	defer c.end()
	r.current.Store(c)
	c.alive.Add(1)
	done := make(chan error, 1)
	go func() {
		id := goid.Current()
		debug.SetPanicOnFault(true) // a wrong address panics, as nil does
		r.add(id, c)
		returned := false
		defer func() {
			if v := recover(); v != nil {
				done <- fmt.Errorf("engine: %v", v)
			} else if !returned {
				done <- &engine.Panic{Value: Goexit{}}
			}
			r.remove(id, c)
		}()
		err := func() error {
			defer r.leave(c) // before the cell's result is considered complete
			return f()
		}()
		returned = true
		if r.goOn(c) {
			err = &engine.Panic{Value: TooDeep{r.limit}, Frames: []engine.Frame{{Mark: r.deepest}}}
		}
		done <- err
	}()
	if err, ended := r.watch(c, stop, done); ended {
		return err, false
	}
	select {
	case err := <-done:
		return err, false
	case <-time.After(grace):
		r.others.Add(1) // the goroutine now runs next to later cells
		return nil, true
	}
}

// goOn makes the engine run again if calls of c have halted it, and reports whether they had.
func (r *Registry) goOn(c *Cell) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resume == nil || r.halted != c {
		return false
	}
	r.resume()
	r.resume = nil
	return true
}

// watch waits until the cell has ended or has been told to stop. If the cell has used up the
// memory or is deadlocked, watch tells it to stop.
func (r *Registry) watch(c *Cell, stop <-chan struct{}, done <-chan error) (err error, ended bool) {
	tick := time.NewTimer(watchEvery)
	defer tick.Stop()
	before := r.filled()
	asleep := 0 // consecutive checks that found all goroutines asleep
	due := time.Now().Add(checkEvery)
	for {
		select {
		case err := <-done:
			return err, true
		case <-stop:
			r.Stop(c)
			return nil, false
		case <-c.stop:
			return nil, false
		case <-tick.C:
		}
		r.thin(c)
		why, full, next := r.full(before)
		if full {
			r.StopFor(c, why)
			return nil, false
		}
		tick.Reset(next)
		begin := time.Now()
		if begin.Before(due) {
			continue
		}
		count, ok := r.asleep()
		due = begin.Add(max(checkShare*time.Since(begin), checkEvery)) // where there are many goroutines, a check stops the program for long
		if !ok {
			asleep = 0
			continue
		}
		if asleep++; asleep > 1 {
			r.StopFor(c, Deadlock{count})
			return nil, false
		}
		due = begin.Add(max(checkShare*time.Since(begin), watchEvery))
	}
}

// checkShare is how many times as long as a description of all goroutines takes the time to the next one is.
const checkShare = 20

// watchEvery is the interval between looks at a running cell, which is shorter where memory is short, and checkEvery that between checks for deadlocks.
const watchEvery, checkEvery = 50 * time.Millisecond, 500 * time.Millisecond

// Stop tells the goroutines of a cell to stop.
func (r *Registry) Stop(c *Cell) { r.StopFor(c, nil) }

// StopFor is Stop with a cause for the cell's error.
func (r *Registry) StopFor(c *Cell, cause any) {
	c = c.root()
	if c.told.Swap(true) {
		return
	}
	if cause != nil {
		c.cause.Store(cause)
	}
	c.stopped.Store(true)
	close(c.stop)
	c.end()
	atomic.StoreUint32(&r.flag, 1) // at once: many goroutines may wait for the lock, to start others
	r.goOn(c)                      // compiled code to which its calls return may go on for long, and later cells must run
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.alive.Load() == 0 {
		r.lower()
		return
	}
	r.stopping[c] = true
	atomic.StoreUint32(&r.flag, 1)
	r.hurry()
	if r.pressed = time.Now(); !r.pressing {
		r.pressing = true
		go r.press()
	}
}

// insist is how long the request to stop is repeated all the time, and rarely the interval after that.
const insist, rarely = time.Second, 250 * time.Millisecond

// press repeats the request to stop until all goroutines that must stop have ended: a write of a goroutine itself may undo it. If after a while
// all that are left wait in compiled code, flag is 0 until one returns, because it slows down the loops of other cells.
func (r *Registry) press() {
	for {
		late, done := r.presses()
		if done {
			return
		}
		if !late {
			r.hurry()
			time.Sleep(time.Millisecond)
			continue
		}
		begin := time.Now()
		r.release(r.held())
		time.Sleep(max(rarely, checkShare*time.Since(begin)))
	}
}

// presses reports whether the last request is long ago, and whether no goroutine must stop any more: then press ends.
func (r *Registry) presses() (late, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pressing = len(r.stopping) > 0
	return time.Since(r.pressed) > insist, !r.pressing
}

// release sets flag to 0, or repeats the request to stop.
func (r *Registry) release(held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case len(r.stopping) == 0 || r.answers != nil || r.holding.Load() != nil || time.Since(r.pressed) < insist:
	case held:
		atomic.StoreUint32(&r.flag, 0)
	default:
		atomic.StoreUint32(&r.flag, 1)
		r.hurry()
	}
}

// held reports whether all goroutines that must stop wait in compiled code.
func (r *Registry) held() bool {
	if runtime.NumGoroutine() > tooLong {
		return false
	}
	all := goroutines()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range all {
		if c := r.cell(g.id); c == nil || !r.stopping[c.root()] {
			continue
		}
		if does, inside := g.does(r.attached.Load().RunsCells); inside == "" || does == computes {
			return false
		}
	}
	return true
}

// cell returns the cell of a goroutine, or nil.
func (r *Registry) cell(id uint64) *Cell {
	c, _ := r.cells.Load(id)
	cell, _ := c.(*Cell)
	return cell
}

// each yields the cells of all goroutines.
func (r *Registry) each(yield func(c *Cell) bool) {
	r.cells.Range(func(_, c any) bool { return yield(c.(*Cell)) })
}

func (r *Registry) add(id uint64, c *Cell) {
	r.cells.Store(id, c)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ever.add(id); len(r.ever) > maxEver {
		r.ever = ids{}
		r.Expect(-1)
	}
}

// maxEver limits the record of goroutines that have ended, in words of 64. Beyond it the session does not look for deadlocks any more.
const maxEver = 1 << 18

// ids is a set of goroutines. Numbers that follow each other share a word.
type ids map[uint64]uint64

func (s ids) add(id uint64) { s[id/64] |= 1 << (id % 64) }

func (s ids) has(id uint64) bool { return s[id/64]>>(id%64)&1 == 1 }

// Lend calls f. Meanwhile, errors that would end the process are panics of the calling goroutine, as in goroutines of cells.
func (r *Registry) Lend(f func()) {
	id := goid.Current()
	if _, already := r.lent.LoadOrStore(id, true); !already {
		defer r.lent.Delete(id)
	}
	f()
}

// Owns reports whether the calling goroutine belongs to a cell or is lent. It waits for no lock.
func (r *Registry) Owns() bool {
	id := goid.Current()
	_, lent := r.lent.Load(id)
	return lent || r.cell(id) != nil
}

// Separate keeps the goroutines of cells out of recordings and diagnoses of other sessions, until end is called.
func (r *Registry) Separate() (end func()) {
	return goid.Separate(func(id uint64) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.ever.has(id)
	})
}

// lower sets flag to 0 if no goroutine needs to look at it. The caller holds mu.
func (r *Registry) lower() {
	if len(r.stopping) == 0 && r.answers == nil && r.holding.Load() == nil {
		atomic.StoreUint32(&r.flag, 0)
	}
}

// leave runs Leave for the calling goroutine, which is one of c.
func (r *Registry) leave(c *Cell) {
	if r.Leave == nil {
		return
	}
	for _, line := range r.Leave() {
		fmt.Fprintln(c.Out.Stderr(), line)
	}
}

func (r *Registry) remove(id uint64, c *Cell) {
	r.cells.Delete(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unwinding, id)
	delete(r.spots, id)
	r.under.leave(id)
	c = c.root()
	if c.alive.Add(-1) == 0 && r.stopping[c] {
		delete(r.stopping, c)
		r.lower()
	}
}

// Current returns the cell that the calling goroutine belongs to: the cell that started
// it, or the running one.
func (r *Registry) Current() *Cell {
	current := r.current.Load()
	if r.others.Load() > 0 {
		if c := r.cell(goid.Current()); c != nil {
			return c
		}
	}
	return current
}

// Running reports whether c is the running cell or a part of it.
func (r *Registry) Running(c *Cell) bool { return c.root() == r.current.Load() && c.Ctx.Err() == nil }

// Of returns the cell that the calling goroutine belongs to, or c for a goroutine that
// belongs to none, such as one that compiled code has started.
func (r *Registry) Of(c *Cell) *Cell {
	if r.others.Load() == 0 && c == r.current.Load() {
		return c
	}
	return cmp.Or(r.cell(goid.Current()), c)
}
