//go:build cuda && linux && cgo

package gpu

import (
	"sync"
	"time"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// queue is the stream of all work of a GPU. While a goroutine captures a graph, the others wait
// here: their work would become part of the graph, and querying the stream would invalidate the
// capture.
type queue struct {
	*drv.Stream
	backend *Backend
	turn    sync.RWMutex // write-locked by the capturing goroutine
}

// enter waits until the calling goroutine may use the stream, and returns the goroutine's
// capture, or nil. The result is passed to leave.
func (q *queue) enter() *capture {
	c := q.backend.capture()
	if c != nil || q.turn.TryRLock() {
		return c
	}
	for !q.turn.TryRLock() {
		driver.Poll()
		time.Sleep(100 * time.Microsecond)
	}
	return nil
}

func (q *queue) leave(c *capture) {
	if c == nil {
		q.turn.RUnlock()
	}
}

// Launch enqueues a kernel.
func (q *queue) Launch(f *drv.Function, grid, block [3]uint32, shared uint32, args *drv.Args) error {
	defer q.leave(q.enter())
	return q.Stream.Launch(f, grid, block, shared, args)
}

// CopyIn enqueues a copy from the host.
func (q *queue) CopyIn(dst drv.Ptr, src *drv.Pinned, off, n int) error {
	defer q.leave(q.enter())
	return q.Stream.CopyIn(dst, src, off, n)
}

// CopyOut enqueues a copy to the host.
func (q *queue) CopyOut(dst *drv.Pinned, off int, src drv.Ptr, n int) error {
	defer q.leave(q.enter())
	return q.Stream.CopyOut(dst, off, src, n)
}

// Copy enqueues a copy within the GPU.
func (q *queue) Copy(dst, src drv.Ptr, n int) error {
	defer q.leave(q.enter())
	return q.Stream.Copy(dst, src, n)
}

// Set8 enqueues a fill of n bytes.
func (q *queue) Set8(dst drv.Ptr, value byte, n int) error {
	defer q.leave(q.enter())
	return q.Stream.Set8(dst, value, n)
}

// Record enqueues an event.
func (q *queue) Record(e *drv.Event) error {
	defer q.leave(q.enter())
	return q.Stream.Record(e)
}

// LaunchGraph enqueues a graph.
func (q *queue) LaunchGraph(g *drv.Graph) error {
	defer q.leave(q.enter())
	return q.Stream.LaunchGraph(g)
}

// Query reports whether all enqueued work is done.
func (q *queue) Query() (done bool, err error) {
	defer q.leave(q.enter())
	return q.Stream.Query()
}
