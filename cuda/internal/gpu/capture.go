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
	held      map[*block]bool // memory from outside that the graph uses
	constants []constant
	drawn     *block // how often the graph has run, for random numbers; nil without
	refused   error  // what cannot be noted
}

// constant is what operations bring from the CPU: memory of the pool, written once.
type constant struct {
	at   drv.Ptr
	data []byte
}

// maxConstant is how many bytes operations bring at the most: masks and tables.
const maxConstant = 1 << 20

// captures lets one capture be under way in a process, so that there is one to look for.
var captures struct {
	sync.Mutex
	now atomic.Pointer[capture]
}

// mine reports whether the calling goroutine captures c.
func (c *capture) mine() bool { return c != nil && c.thread == syscall.Gettid() }

// capture returns what the calling goroutine captures, nil if nothing.
func (b *Backend) capture() *capture {
	c := captures.now.Load()
	if !c.mine() {
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
	c.fail(fmt.Errorf("%s: capture: "+format, append([]any{c.backend.name}, args...)...))
	failed(c.refused)
}

func (c *capture) fail(err error) {
	if c.refused == nil {
		c.refused = err
	}
}

// Capture notes what step asks of the GPU, without doing it, for a graph that does all of it
// by one call. It implements [driver.Capturer].
func (b *Backend) Capture(step func()) (g driver.Graph, err error) {
	if captures.now.Load().mine() {
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
	c := &capture{backend: b, thread: syscall.Gettid(), pool: b.memory.addPool(), held: map[*block]bool{}}
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
	driver.SetCapture(c.mine, c.fail)
	return nil
}

// end gives the stream back, and returns what was noted.
func (c *capture) end() (*drv.Graph, error) {
	q := &c.backend.stream
	defer q.turn.Unlock()
	driver.SetCapture(nil, nil)
	captures.now.Store(nil)
	return q.EndCapture()
}

// abandon lets go of all that c has taken, but for memory of tensors.
func (c *capture) abandon() { c.backend.memory.freePool(c.pool, c.held) }

// hold keeps the memory of buffers from outside as long as the graph.
func (c *capture) hold(list ...driver.Buffer) {
	m := &c.backend.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, db := range list {
		if b := bufferOf(db).block; b != nil && b.cache() != c.pool && !c.held[b] {
			c.held[b] = true
			b.holds++
		}
	}
}

// holdViews is hold of what a kernel reads and writes.
func (c *capture) holdViews(dst driver.View, src []driver.View) {
	c.hold(dst.Buffer)
	for _, v := range src {
		c.hold(v.Buffer)
	}
}

// take returns memory of the pool that stays taken as long as the graph.
func (c *capture) take(n int) *block {
	b, err := c.backend.memory.take(n, c)
	if err != nil {
		c.fail(err)
		failed(err)
	}
	b.holds, b.left, c.held[b] = 1, true, true
	return b
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
	c.constants = append(c.constants, constant{from, append([]byte(nil), p...)})
	c.backend.must(c.backend.stream.Copy(at, from, len(p)))
}

// draws returns where the graph's kernels find how often it has run.
func (c *capture) draws() drv.Ptr {
	if c.drawn == nil {
		c.drawn = c.take(8)
		c.constants = append(c.constants, constant{c.drawn.at, []byte{1, 0, 0, 0, 0, 0, 0, 0}})
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
