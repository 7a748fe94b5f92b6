package kernel

import (
	"strings"
	"testing"
)

func queued(msgType string) *request {
	return &request{Message: Message{Header: Header{ID: "1", Type: msgType}}}
}

func TestQueueAborts(t *testing.T) {
	q := newQueue()
	for _, msgType := range []string{"execute_request", "kernel_info_request", "execute_request"} {
		q.push(queued(msgType))
	}
	q.abort()
	q.push(queued("execute_request"))
	for i, want := range []bool{true, false, true, false} {
		if r := q.pop(); r.aborted != want {
			t.Errorf("request %d: aborted %v, want %v", i, r.aborted, want)
		}
	}
}

func TestFullQueueWaits(t *testing.T) {
	for _, fill := range []func(q *queue){
		func(q *queue) {
			for range maxQueued {
				q.push(queued("x"))
			}
		},
		func(q *queue) {
			r := queued("x")
			r.Content = []byte(strings.Repeat(" ", maxQueuedBytes))
			q.push(r)
		},
	} {
		q := newQueue()
		fill(q)
		pushed := make(chan struct{})
		last := queued("last")
		last.Content = []byte("{}")
		go func() {
			q.push(last)
			close(pushed)
		}()
		select {
		case <-pushed:
			t.Error("push to a full queue returned before a pop")
		default:
		}
		for q.pop() != last { // every pop makes room, so the last request arrives
		}
		<-pushed
		q.close()
		q.push(last)
		if q.pop() != nil {
			t.Error("pop of a closed queue: got a request, want nil")
		}
	}
}
