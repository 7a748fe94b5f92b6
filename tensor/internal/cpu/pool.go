package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// pool runs the items of a job on goroutines that stay.
type pool struct {
	fixed int // 0: GOMAXPROCS, but no more than there are processors

	mu      sync.Mutex
	started int
	jobs    chan *job
}

// job is work cut into items 0 … n-1, which are taken in order.
type job struct {
	n        int64
	item     func(i int, poll func())
	next     atomic.Int64 // first item not yet taken
	left     atomic.Int64 // number of items neither done nor dropped
	finished chan struct{}
	failure  atomic.Pointer[any] // the first panic of an item
}

// workers returns the number of goroutines that compute, the caller's among them.
func (p *pool) workers() int {
	if p.fixed > 0 {
		return p.fixed
	}
	return min(runtime.GOMAXPROCS(0), runtime.NumCPU())
}

// each calls item(0) … item(n-1) on several goroutines at once, and polls before and between
// the items of the caller's goroutine. It returns when all are done. If an item or the poll
// panics, items not yet begun are dropped, and each panics likewise once the others are done.
func (p *pool) each(n int, item func(i int)) {
	p.eachPolling(n, func(i int, _ func()) { item(i) })
}

// eachPolling is each for items that take long: they are to call poll, which does
// nothing but on the caller's goroutine, every few milliseconds.
func (p *pool) eachPolling(n int, item func(i int, poll func())) {
	workers := min(p.workers(), n)
	if workers <= 1 {
		for i := range n {
			driver.Poll()
			item(i, driver.Poll)
		}
		return
	}
	driver.Poll() // the others may leave the caller no item to poll before
	j := &job{n: int64(n), item: item, finished: make(chan struct{})}
	j.left.Store(j.n)
	p.offer(j, workers-1)
	defer func() {
		j.drop()
		j.wait()
		if f := j.failure.Load(); f != nil {
			panic(*f)
		}
	}()
	j.work(driver.Poll)
}

// offer hands j to that many workers. One that is busy comes late, or finds
// nothing left to do: the caller does not wait for it to come.
func (p *pool) offer(j *job, workers int) {
	p.mu.Lock()
	if p.jobs == nil {
		p.jobs = make(chan *job, 64)
	}
	for ; p.started < workers; p.started++ {
		go func(jobs <-chan *job) {
			for {
				next(jobs).work(func() {})
			}
		}(p.jobs)
	}
	p.mu.Unlock()
	for range workers {
		select {
		case p.jobs <- j:
		default: // every worker has enough to do
			return
		}
	}
}

// work does items until none is left.
func (j *job) work(poll func()) {
	for {
		if j.next.Load() >= j.n {
			return
		}
		poll()
		i := j.next.Add(1) - 1
		if i >= j.n {
			return
		}
		j.do(int(i), poll)
	}
}

func (j *job) do(i int, poll func()) {
	defer func() {
		if r := recover(); r != nil {
			j.failure.CompareAndSwap(nil, &r)
			j.drop()
		}
		j.done(1)
	}()
	j.item(i, poll)
}

// drop takes all items that are left without doing them.
func (j *job) drop() {
	if i := j.next.Swap(j.n); i < j.n {
		j.done(j.n - i)
	}
}

func (j *job) done(n int64) {
	if n > 0 && j.left.Add(-n) == 0 {
		close(j.finished)
	}
}

// spins is how often who waits looks again before it goes to sleep: about a third of a
// millisecond, more than what lies between two products of a small training step. Waking
// a goroutine whose thread sleeps too takes a tenth of that.
const spins = 6000

// next returns the next job.
func next(jobs <-chan *job) *job {
	for range spins {
		select {
		case j := <-jobs:
			return j
		default:
			asm.Pause()
		}
	}
	return <-jobs
}

// wait returns when all items are done or dropped.
func (j *job) wait() {
	for range spins {
		if j.left.Load() == 0 {
			return
		}
		asm.Pause()
	}
	<-j.finished
}

// ranges cuts n elements into items of at most size, size a multiple of the
// chunk that loops work on.
func (p *pool) ranges(n, size int, body func(lo, hi int)) {
	p.each((n+size-1)/size, func(i int) { body(i*size, min(n, (i+1)*size)) })
}
