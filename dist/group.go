package dist

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"halfnote/dist/internal/mpi"
	"halfnote/tensor"
)

// group is a set of ranks that call collectives together. One goroutine talks to MPI, in the order of the calls.
type group struct {
	settings
	comm       mpi.Comm
	rank, size int
	library    string
	queue      chan *Work
	stop       atomic.Bool // collectives end early: an interrupt
	calls      int         // collectives begun, counted by the goroutine of MPI
	scratch    map[place]*scratch
	aware      bool                         // MPI reads the memory of GPUs
	devices    map[tensor.Device]deviceComm // those that join has returned
	current    *Transfer                    // record of the collective that runs
}

// newGroup starts the goroutine that owns MPI.
func newGroup(start func() (mpi.Comm, mpi.Found, error), s settings) (*group, error) {
	if s.pieceBytes == 0 {
		s.pieceBytes = pieceBytes
	}
	g := &group{settings: s, queue: make(chan *Work, 1024), scratch: map[place]*scratch{}, devices: map[tensor.Device]deviceComm{}}
	ready := make(chan error)
	go serve(start, g, ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return g, nil
}

// close waits for the queued collectives and finalises MPI.
func (g *group) close() error {
	var err error
	w := g.submit("DestroyProcessGroup", "", func() {
		err = errors.Join(g.leave(deviceComm.Close), g.comm.Close())
	})
	<-w.done
	close(g.queue)
	return err
}

// abandon ends unfinished collectives and separates later ones from them.
func (g *group) abandon() error {
	g.stop.Store(true)
	var err error
	w := &Work{g: g, name: "Abandon", done: make(chan struct{}), f: func() {
		err = errors.Join(g.leave(deviceComm.Abort), g.comm.Abandon())
		g.stop.Store(false)
	}}
	g.queue <- w
	<-w.done
	return err
}

// await returns when a request is done. It panics at the time limit, and when the group is stopped.
func (g *group) await(call string, r mpi.Request, err error) {
	start := time.Now()
	last := start
	for spins := 0; ; spins++ {
		finished := false
		if err == nil {
			finished, err = r.Done()
		}
		switch {
		case err != nil:
			panic(&Error{Code: "mpi", Call: call, Rank: g.rank, Why: err.Error(), Cure: "another rank has probably ended; look for the first error among the ranks", Err: err})
		case finished:
			return
		}
		if spins%64 != 63 {
			continue
		}
		now := time.Now()
		switch {
		case g.stop.Load():
			panic(interrupted(g, call))
		case now.Sub(start) > g.timeout:
			panic(&Error{Code: "timeout", Call: call, Rank: g.rank, Why: fmt.Sprintf("the other ranks did not join collective %d, %s, within %v", g.calls, call, g.timeout), Cure: "a rank is slow, has ended, or does not call it; set dist.Timeout if it is only slow"})
		case now.Sub(last) > 200*time.Microsecond: // leave the processor to those that compute
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func interrupted(g *group, call string) *Error {
	return &Error{Code: "interrupted", Call: call, Rank: g.rank, Why: "the collective was interrupted", Cure: "interrupt all ranks, and run the step again on all"}
}

// callBytes is the length of the description of a call that ranks compare.
const callBytes = 64

// agree panics unless all ranks make the call that what describes.
func (g *group) agree(call, what string) {
	g.calls++
	if g.unverified || g.size == 1 {
		return
	}
	p := make([]byte, callBytes*g.size)
	own := p[callBytes*g.rank:][:callBytes]
	copy(own, what)
	r, err := g.comm.Allgather(p, equalParts(g.size, callBytes))
	g.await(call, r, err)
	for i := range g.size {
		if other := p[callBytes*i:][:callBytes]; string(other) != string(own) {
			text := func(b []byte) string { return strings.TrimRight(string(b), "\x00") }
			panic(&Error{Code: "mismatch", Call: call, Rank: g.rank, Why: fmt.Sprintf("in collective %d this rank calls %s, but rank %d calls %s", g.calls, text(own), i, text(other)), Cure: "let all ranks run the same calls in the same order, with tensors of the same size"})
		}
	}
}

// equalParts returns n parts of the same number of bytes, one after another.
func equalParts(n, bytes int) []mpi.Part {
	list := make([]mpi.Part, n)
	for i := range list {
		list[i] = mpi.Part{At: i * bytes, Len: bytes}
	}
	return list
}
