package dist

import (
	"time"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Work is a collective that runs while the caller computes. It is torch.distributed.Work.
type Work struct {
	g    *group
	name string
	what string // description that ranks compare; "" without a comparison
	f    func()
	done chan struct{}
	err  any // panic value of f
	then []func()

	event   Transfer
	flooded int // elements that became infinite in the cast before the collective
	joined  bool
}

// submit queues a collective.
func (g *group) submit(name, what string, f func()) *Work {
	w := &Work{g: g, name: name, what: what, f: f, done: make(chan struct{})}
	w.event = Transfer{Call: name, Rank: g.rank, Ranks: g.size, Source: driver.Source(), Bucket: -1}
	w.event.Queued = time.Now()
	g.queue <- w
	return w
}

// run runs the collective on the goroutine of MPI.
func (w *Work) run(g *group) {
	defer close(w.done)
	defer func() { w.err = recover() }()
	if g.stop.Load() && w.name != "Abandon" {
		panic(interrupted(g, w.name))
	}
	w.event.Start = time.Now()
	if w.what != "" {
		g.agree(w.name, w.what)
	}
	g.current = &w.event
	tensor.Unobserved(func() { tensor.NoGrad(w.f) })
	w.event.End = time.Now()
}

// IsCompleted reports whether the collective has finished. It is torch.distributed.Work.is_completed.
func (w *Work) IsCompleted() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Then makes Wait call f, on the goroutine that waits, once the collective has finished. It returns w. It is
// torch.futures.Future.then.
func (w *Work) Then(f func()) *Work {
	w.then = append(w.then, f)
	return w
}

// Wait returns when the collective has finished on this rank. It panics with the collective's *[Error] if it failed. A cell
// that waits can be interrupted. Wait may be called again. It is torch.distributed.Work.wait.
func (w *Work) Wait() {
	start := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-w.done:
			waiting = false
		case <-tick.C:
			w.poll()
		}
	}
	if w.joined {
		return
	}
	w.joined = true
	if w.err != nil {
		panic(w.err)
	}
	w.event.Exposed = time.Since(start)
	if w.event.Elements > 0 {
		w.event.Overflowed += w.flooded
		tell(w.event)
	}
	for _, f := range w.then {
		f()
	}
}

// poll lets the program interrupt a cell. The group stops then, because the other ranks may have finished the collective.
func (w *Work) poll() {
	defer func() {
		if e := recover(); e != nil {
			w.g.stop.Store(true)
			panic(e)
		}
	}()
	driver.Poll()
}
