package kernel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const maxSubshells = 256

// subshells are the queues of the shell channel. The goroutine of each queue answers
// its requests one after the other.
//
// Cells wait for each other whatever queue they are in. Every other request is answered
// while a cell runs if it is in another queue: front ends name a subshell in the
// header; comm messages without one have a separate queue.
type subshells struct {
	main, comms *queue
	workers     sync.WaitGroup // one goroutine per queue

	mu       sync.Mutex
	closed   bool
	created  map[string]*queue // by subshell_id
	lastComm <-chan struct{}   // closed when the newest comm message has been handled
}

// queueRequest queues a message of shell. It does not evaluate, so that the cells
// behind a failing one are known when it fails.
func (k *kernel) queueRequest(r *request) {
	if k.subshells.place(r).push(r) || r.Header.Subshell == "" {
		return
	}
	r.refused = errDeleted // deleted in the meantime
	k.subshells.comms.push(r)
}

var errDeleted = errors.New("the subshell was deleted")

// place finds the queue for r.
func (s *subshells) place(r *request) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Subshell
	comm := strings.HasPrefix(r.Header.Type, "comm_")
	switch {
	case id != "" && s.created[id] != nil:
		r.queue = s.created[id]
	case id != "":
		r.queue, r.refused = s.comms, fmt.Errorf("subshell_id: %q, want one that create_subshell_request returned", id)
	case comm:
		// A cell does not overtake messages that were sent before it.
		r.queue, r.done = s.comms, make(chan struct{})
		s.lastComm = r.done
	default:
		r.queue, r.after = s.main, s.lastComm
	}
	return r.queue
}

// work answers the requests of a queue until it closes.
func (k *kernel) work(q *queue) {
	for r := q.pop(); r != nil; r = q.pop() {
		if r.after != nil {
			select {
			case <-r.after:
			case <-k.cellCtx.Done():
			}
		}
		k.serve(r, func(state string) {
			k.iopub.publish(k.life, r.Header, "status", status{state})
		})
		if r.done != nil {
			close(r.done)
		}
	}
}

func (k *kernel) createSubshell(*request) (any, error) {
	s := &k.subshells
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the kernel is shutting down")
	}
	if len(s.created) >= maxSubshells {
		return nil, fmt.Errorf("%d subshells are open, the limit is %d", len(s.created), maxSubshells)
	}
	id, q := NewID(), newQueue()
	s.created[id] = q
	s.workers.Go(func() { k.work(q) })
	return object{"status": "ok", "subshell_id": id}, nil
}

// deleteSubshell ends a subshell after its current request. Queued requests are
// refused.
func (k *kernel) deleteSubshell(r *request) (any, error) {
	var c struct {
		ID string `json:"subshell_id"`
	}
	if err := r.decode(&c); err != nil {
		return nil, err
	}
	s := &k.subshells
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.created[c.ID]
	if q == nil {
		return nil, fmt.Errorf("subshell_id: %q, want one that create_subshell_request returned", c.ID)
	}
	delete(s.created, c.ID)
	rest := q.close()
	go func() {
		for _, w := range rest {
			w.refused = errDeleted
			s.comms.push(w)
		}
	}()
	return object{"status": "ok"}, nil
}

func (k *kernel) listSubshells(*request) (any, error) {
	s := &k.subshells
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := []string{}
	for id := range s.created {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return object{"status": "ok", "subshell_id": ids}, nil
}

// close closes every queue.
func (s *subshells) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.main.close()
	s.comms.close()
	for _, q := range s.created {
		q.close()
	}
}
