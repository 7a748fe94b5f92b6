package worker

import (
	"sync"

	"halfnote/kernel"
)

// queue holds the messages of a channel until the kernel takes them. It has no limit: JavaScript, which pushes, cannot wait.
type queue struct {
	mu     sync.Mutex
	moved  sync.Cond
	items  []kernel.Message
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.moved.L = &q.mu
	return q
}

func (q *queue) push(m kernel.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, m)
	q.moved.Signal()
}

// pop takes the oldest message and waits for one. ok is false once the queue has closed.
func (q *queue) pop() (m kernel.Message, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.items) == 0 {
		q.moved.Wait()
	}
	if q.closed {
		return m, false
	}
	m = q.items[0]
	q.items[0] = kernel.Message{}
	q.items = q.items[1:]
	return m, true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.moved.Broadcast()
}
