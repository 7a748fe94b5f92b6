//go:build cuda && linux && cgo

package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// capture is a graph that is being made: what one goroutine enqueues is noted, with memory of
// a pool that nobody else is given.
type capture struct {
	backend   *Backend
	thread    int // of the system, which only that goroutine runs on
	pool      *cache
	fixed     *cache          // of memory that no other work of the graph uses
	held      map[*block]bool // memory from outside that the graph uses
	constants []constant
	checks    []func() // before each replay
	drawn     *block   // how often the graph has run, for random numbers; nil without
	refused   error    // what cannot be noted
}

// constant is fixed memory that is written once, when the capture is over.
type constant struct {
	at     drv.Ptr
	data   []byte
	buffer driver.Buffer // nil: memory of the graph's
}

// maxConstant is how many bytes operations bring at the most: masks and tables.
const maxConstant = 1 << 20

// captures lets one capture be under way in a process, so that there is one to look for.
var captures struct {
	sync.Mutex
	now atomic.Pointer[capture]
}

// Mine reports whether the calling goroutine captures c. It implements, as the next ones do,
// [driver.Recorder].
func (c *capture) Mine() bool { return c != nil && c.thread == syscall.Gettid() }

// capture returns what the calling goroutine captures, nil if nothing.
func (b *Backend) capture() *capture {
	c := captures.now.Load()
	if !c.Mine() {
		return nil
	}
	if c.backend != b {
		c.refuse("the step uses %s as well; expected work of one GPU", b.name)
	}
	return c
}

// refuse panics with what cannot be part of a graph. The capture has failed then, also where
// somebody recovers.
func (c *capture) refuse(format string, args ...any) {
	c.Refuse(fmt.Errorf("%s: capture: "+format, append([]any{c.backend.name}, args...)...))
	failed(c.refused)
}

// Refuse has the capture fail.
func (c *capture) Refuse(why error) {
	if c.refused == nil {
		c.refused = why
	}
}

// OnReplay has f called before each replay.
func (c *capture) OnReplay(f func()) { c.checks = append(c.checks, f) }

// Preset writes p when the capture is over.
func (c *capture) Preset(db driver.Buffer, off int, p []byte) {
	c.hold(db)
	c.constants = append(c.constants, constant{c.backend.bytesAt(db, off, len(p)), append([]byte(nil), p...), db})
}

// Capture notes what step asks of the GPU, without doing it, for a graph that does all of it
// by one call. It implements [driver.Capturer].
func (b *Backend) Capture(step func()) (g driver.Graph, err error) {
	if captures.now.Load().Mine() {
		return nil, fmt.Errorf("%s: capture: inside another capture; expected one graph for both steps", b.name)
	}
	captures.Lock()
	defer captures.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	driver.CollectGarbage()
	if err := b.EmptyCache(); err != nil { // the pool may need what is kept
		return nil, err
	}
	c := &capture{backend: b, thread: syscall.Gettid(), pool: b.memory.addPool(), fixed: b.memory.addPool(), held: map[*block]bool{}}
	if err := c.begin(); err != nil {
		c.abandon()
		return nil, fmt.Errorf("%s: capture: %w", b.name, err)
	}
	ended := false
	defer func() {
		if ended {
			return
		}
		if x, err := c.end(); err == nil {
			_ = x.Free()
		}
		c.abandon()
		p := recover()
		failure, _ := p.(*driver.Failure)
		switch {
		case p == nil: // step has ended the goroutine
		case c.refused != nil:
			err = c.refused
		case failure != nil:
			err = fmt.Errorf("%s: capture: %w", b.name, failure)
		default:
			panic(p)
		}
	}()
	step()
	c.countRuns()
	ended = true
	exec, err := c.end()
	if c.refused == nil && err == nil {
		return c.graph(exec), nil
	}
	if err == nil {
		_ = exec.Free()
	}
	c.abandon()
	return nil, errors.Join(c.refused, err)
}

// begin takes the stream for the calling goroutine.
func (c *capture) begin() error {
	q := &c.backend.stream
	q.turn.Lock()
	if err := q.BeginCapture(); err != nil {
		q.turn.Unlock()
		return err
	}
	captures.now.Store(c)
	driver.SetRecorder(c)
	return nil
}

// end gives the stream back, and returns what was noted.
func (c *capture) end() (*drv.Graph, error) {
	q := &c.backend.stream
	defer q.turn.Unlock()
	driver.SetRecorder(nil)
	captures.now.Store(nil)
	return q.EndCapture()
}

// abandon lets go of all that c has taken, but for memory of tensors, which have what they
// would begin with.
func (c *capture) abandon() {
	c.backend.memory.freePools(c.held, c.pool, c.fixed)
	for _, k := range c.constants {
		if k.buffer != nil && bufferOf(k.buffer).block != nil && c.backend.device.Err() == nil {
			c.backend.write(k.at, k.data)
		}
	}
}

// hold keeps the memory of a buffer from outside as long as the graph.
func (c *capture) hold(db driver.Buffer) {
	m := &c.backend.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := bufferOf(db).block; b != nil && b.cache() != c.pool {
		c.keep(b)
	}
}

// keep is hold of a block, with the memory locked.
func (c *capture) keep(b *block) {
	if !c.held[b] {
		c.held[b] = true
		b.holds++
	}
}

// Alloc returns fixed memory.
func (c *capture) Alloc(n int) (driver.Buffer, error) {
	m := &c.backend.memory
	b, err := m.take(n, c.fixed, true)
	if err != nil {
		c.Refuse(err)
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.keep(b)
	return m.bufferOf(n, b), nil
}

// take returns fixed memory of the graph alone.
func (c *capture) take(n int) *block {
	b, err := c.Alloc(n)
	if err != nil {
		failed(err)
	}
	own := bufferOf(b).block
	c.backend.Release(b) // all but what the graph holds
	return own
}

// write notes that memory gets bytes of the CPU, the same at each run.
func (c *capture) write(db driver.Buffer, at drv.Ptr, p []byte) {
	if len(p) > maxConstant {
		c.refuse("%s brought from the CPU, which each replay would bring again; expected a tensor on the GPU that is there before, into which Assign puts new values before a Replay", driver.FormatBytes(int64(len(p))))
	}
	if len(p) == 0 {
		return
	}
	c.hold(db)
	from := c.take(len(p)).at
	c.constants = append(c.constants, constant{at: from, data: append([]byte(nil), p...)})
	c.backend.must(c.backend.stream.Copy(at, from, len(p)))
}

// draws returns where the graph's kernels find how often it has run.
func (c *capture) draws() drv.Ptr {
	if c.drawn == nil {
		c.drawn = c.take(8)
		c.constants = append(c.constants, constant{at: c.drawn.at, data: []byte{1, 0, 0, 0, 0, 0, 0, 0}})
	}
	return c.drawn.at
}

// countRuns notes that the run is over, if somebody asks which it is.
func (c *capture) countRuns() {
	if c.drawn == nil {
		return
	}
	a := newArgs()
	a.Ptr(c.drawn.at)
	one := [3]uint32{1, 1, 1}
	c.backend.launch(kernel{"random", "count_run"}, one, one, 0, a)
}
