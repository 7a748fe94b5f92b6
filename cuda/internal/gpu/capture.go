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
	"halfnote/internal/text"
	"halfnote/tensor/driver"
)

// capture is a graph under construction: work enqueued by one goroutine is recorded, with memory
// of a private pool.
type capture struct {
	backend   *Backend
	thread    int // OS thread to which the goroutine is locked
	pool      *cache
	fixed     *cache          // memory that no other work of the graph reuses
	held      map[*block]bool // memory from outside that the graph uses
	constants []constant
	checks    []func() // run before each replay
	drawn     *block   // replay counter for random numbers, or nil
	refused   error    // first operation that cannot be captured
}

// constant is fixed memory that is written once, at the end of the capture.
type constant struct {
	at     drv.Ptr
	data   []byte
	buffer driver.Buffer // nil: memory of the graph
}

// maxConstant is the maximum size in bytes of a constant, such as a mask or table, that an
// operation copies from the CPU.
const maxConstant = 1 << 20

// captures limits a process to one capture at a time, so that lookups have one candidate.
var captures struct {
	sync.Mutex
	now atomic.Pointer[capture]
}

// Mine reports whether the calling goroutine captures c. This and the following methods implement
// [driver.Recorder].
func (c *capture) Mine() bool { return c != nil && c.thread == syscall.Gettid() }

// capture returns the calling goroutine's capture, or nil.
func (b *Backend) capture() *capture {
	c := captures.now.Load()
	if !c.Mine() {
		return nil
	}
	if c.backend != b {
		c.refuse("the step also uses %s; a graph can use only one GPU", b.name)
	}
	return c
}

// refuse panics because an operation cannot be captured. The capture fails even if the panic is
// recovered.
func (c *capture) refuse(format string, args ...any) {
	c.Refuse(fmt.Errorf("%s: capture: "+format, append([]any{c.backend.name}, args...)...))
	failed(c.refused)
}

// Refuse makes the capture fail.
func (c *capture) Refuse(why error) {
	if c.refused == nil {
		c.refused = why
	}
}

// OnReplay registers f, which is called before each replay.
func (c *capture) OnReplay(f func()) { c.checks = append(c.checks, f) }

// Preset writes p at the end of the capture.
func (c *capture) Preset(db driver.Buffer, off int, p []byte) {
	c.hold(db)
	c.constants = append(c.constants, constant{c.backend.bytesAt(db, off, len(p)), append([]byte(nil), p...), db})
}

// Capture records the work of step, without running it, in a graph that one call replays. It
// implements [driver.Capturer].
func (b *Backend) Capture(step func()) (g driver.Graph, err error) {
	if captures.now.Load().Mine() {
		return nil, fmt.Errorf("%s: capture: inside another capture; capture both steps in one graph", b.name)
	}
	captures.Lock()
	defer captures.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	driver.CollectGarbage()
	if err := b.EmptyCache(); err != nil { // the pool may need the cached memory
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
		case p == nil: // step ended the goroutine
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

// begin reserves the stream for the calling goroutine.
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

// end releases the stream and returns the recorded graph.
func (c *capture) end() (*drv.Graph, error) {
	q := &c.backend.stream
	defer q.turn.Unlock()
	driver.SetRecorder(nil)
	captures.now.Store(nil)
	return q.EndCapture()
}

// abandon releases all memory that c has taken, except that of tensors, which keep their presets.
func (c *capture) abandon() {
	c.backend.memory.freePools(c.held, c.pool, c.fixed)
	for _, k := range c.constants {
		if k.buffer != nil && bufferOf(k.buffer).block != nil && c.backend.device.Err() == nil {
			c.backend.write(k.at, k.data)
		}
	}
}

// hold keeps the memory of an outside buffer as long as the graph lives.
func (c *capture) hold(db driver.Buffer) {
	m := &c.backend.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := bufferOf(db).block; b != nil && b.cache() != c.pool {
		c.keep(b)
	}
}

// keep is hold for a block; memory must be locked.
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

// take returns fixed memory that only the graph uses.
func (c *capture) take(n int) *block {
	b, err := c.Alloc(n)
	if err != nil {
		failed(err)
	}
	own := bufferOf(b).block
	c.backend.Release(b) // keeps only what the graph holds
	return own
}

// write records a copy of bytes from the CPU, the same in each run.
func (c *capture) write(db driver.Buffer, at drv.Ptr, p []byte) {
	if len(p) > maxConstant {
		c.refuse("copying %s from the CPU would repeat the same values in each replay; create a tensor on the GPU before the capture and write new values with Assign before each Replay", text.Bytes(int64(len(p))))
	}
	if len(p) == 0 {
		return
	}
	c.hold(db)
	from := c.take(len(p)).at
	c.constants = append(c.constants, constant{at: from, data: append([]byte(nil), p...)})
	c.backend.must(c.backend.stream.Copy(at, from, len(p)))
}

// draws returns the address of the graph's replay counter.
func (c *capture) draws() drv.Ptr {
	if c.drawn == nil {
		c.drawn = c.take(8)
		c.constants = append(c.constants, constant{at: c.drawn.at, data: []byte{1, 0, 0, 0, 0, 0, 0, 0}})
	}
	return c.drawn.at
}

// countRuns records an increment of the replay counter, if the graph has one.
func (c *capture) countRuns() {
	if c.drawn == nil {
		return
	}
	a := newArgs()
	a.Ptr(c.drawn.at)
	one := [3]uint32{1, 1, 1}
	c.backend.launch(kernel{"random", "count_run"}, one, one, 0, a)
}
