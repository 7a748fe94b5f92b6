package kernel

import "sync"

// A full queue blocks the shell's reader and so, through TCP, the sender; the other
// channels are not affected.
const (
	maxQueued      = 1024
	maxQueuedBytes = 64 << 20
)

// queue holds the requests of a subshell until the requests before them have ended.
type queue struct {
	mu     sync.Mutex
	moved  sync.Cond // signals a push, a pop or the close
	items  []*request
	bytes  int
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.moved.L = &q.mu
	return q
}

// push appends r and waits while the queue is full. It reports whether the queue
// accepted r; a closed queue does not.
func (q *queue) push(r *request) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.items) > 0 && (len(q.items) >= maxQueued || q.bytes+r.size() > maxQueuedBytes) {
		q.moved.Wait()
	}
	if q.closed {
		return false
	}
	q.items = append(q.items, r)
	q.bytes += r.size()
	q.moved.Broadcast()
	return true
}

// pop takes the oldest request and waits for one; it returns nil once the queue has
// closed.
func (q *queue) pop() *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && len(q.items) == 0 {
		q.moved.Wait()
	}
	if q.closed {
		return nil
	}
	r := q.items[0]
	q.items[0] = nil
	q.items = q.items[1:]
	q.bytes -= r.size()
	q.moved.Broadcast()
	return r
}

// abort marks the waiting cells: they will not run.
func (q *queue) abort() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.items {
		r.aborted = r.Header.Type == "execute_request"
	}
}

// close ends the queue and returns the requests still in it.
func (q *queue) close() (rest []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	rest, q.items = q.items, nil
	q.moved.Broadcast()
	return rest
}
