package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// workerPool runs the items of a job on persistent goroutines.
type workerPool struct {
	fixed int // number of workers; 0 means GOMAXPROCS, at most the number of processors

	mu      sync.Mutex
	started int
	jobs    chan *job

	resting atomic.Int32 // if not 0, workers without a job sleep at once
}

// job is work divided into items 0 … n-1. Each worker has a range of them, which it starts in order,
// and then helps with the others' ranges. Work on the same memory is divided in the same way each
// time, so a worker finds in its cache what it left there.
type job struct {
	ranges   []itemRange // of the caller, then of the goroutines in the order in which they were started
	item     func(i int, poll func())
	left     atomic.Int64 // number of items neither done nor dropped
	finished chan struct{}
	failure  atomic.Pointer[any] // the first panic of an item
}

// itemRange holds a range of items.
type itemRange struct {
	next atomic.Int64 // first item not yet taken
	end  int64
	_    [48]byte // keeps ranges in separate cache lines
}

func newJob(n, workers int, item func(i int, poll func())) *job {
	j := &job{ranges: make([]itemRange, workers), item: item, finished: make(chan struct{})}
	j.left.Store(int64(n))
	for i := range j.ranges {
		j.ranges[i].next.Store(int64(i * n / workers))
		j.ranges[i].end = int64((i + 1) * n / workers)
	}
	return j
}

// workers returns the number of goroutines that compute, the caller's among them.
func (p *workerPool) workers() int {
	if p.fixed > 0 {
		return p.fixed
	}
	return min(runtime.GOMAXPROCS(0), runtime.NumCPU())
}

// each calls item(0) … item(n-1) on several goroutines, and polls before and between the items of
// the caller's goroutine. It returns when all are done. If an item or the poll panics, items not yet
// started are dropped, and each panics with the same value once the others are done.
func (p *workerPool) each(n int, item func(i int)) {
	p.eachPolling(n, func(i int, _ func()) { item(i) })
}

// eachPolling is each for long items, which must call poll every few milliseconds. poll does nothing
// on goroutines other than the caller's.
func (p *workerPool) eachPolling(n int, item func(i int, poll func())) {
	workers := min(p.workers(), n)
	if workers <= 1 {
		for i := range n {
			driver.Poll()
			item(i, driver.Poll)
		}
		return
	}
	driver.Poll() // the other workers may take all items
	j := newJob(n, workers, item)
	p.submit(j, workers-1)
	defer func() {
		j.drop()
		j.wait()
		if f := j.failure.Load(); f != nil {
			panic(*f)
		}
	}()
	j.work(0, driver.Poll)
}

// submit hands j to that many workers. A busy worker starts late or finds no items left; the caller
// does not wait for it.
func (p *workerPool) submit(j *job, workers int) {
	p.mu.Lock()
	if p.jobs == nil {
		p.jobs = make(chan *job, 64)
	}
	for p.started < workers {
		p.started++
		go func(jobs <-chan *job, number int) {
			for {
				p.next(jobs).work(number, func() {})
			}
		}(p.jobs, p.started)
	}
	p.mu.Unlock()
	for range workers {
		select {
		case p.jobs <- j:
		default: // the queue is full
			return
		}
	}
}

// work runs items until none is left, those of the worker's own range first.
func (j *job) work(number int, poll func()) {
	for i := range j.ranges {
		r := &j.ranges[(number+i)%len(j.ranges)]
		for r.next.Load() < r.end {
			poll()
			i := r.next.Add(1) - 1
			if i >= r.end {
				break
			}
			j.do(int(i), poll)
		}
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

// drop removes all remaining items.
func (j *job) drop() {
	for i := range j.ranges {
		r := &j.ranges[i]
		if next := r.next.Swap(r.end); next < r.end {
			j.done(r.end - next)
		}
	}
}

func (j *job) done(n int64) {
	if n > 0 && j.left.Add(-n) == 0 {
		close(j.finished)
	}
}

// spins is the number of checks before a waiting goroutine sleeps: about a third of a millisecond,
// more than the gap between two products of a small training step. Waking a goroutine whose thread
// sleeps takes a tenth of that.
const spins = 6000

// yield is the number of checks after which a worker without a job lets other goroutines run. Without
// it, the end of a garbage collection waits until the worker sleeps.
const yield = 512

// next returns the next job.
func (p *workerPool) next(jobs <-chan *job) *job {
	for i := 0; i < spins && p.resting.Load() == 0; i++ {
		select {
		case j := <-jobs:
			return j
		default:
			asm.Pause()
		}
		if i%yield == yield-1 {
			runtime.Gosched()
		}
	}
	return <-jobs
}

// rest calls f, which uses other goroutines. Workers without a job sleep meanwhile: a garbage collection
// takes twice as long while they occupy processors.
func (p *workerPool) rest(f func()) {
	p.resting.Add(1)
	defer p.resting.Add(-1)
	f()
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

// ranges divides n elements into items of at most size elements, a multiple of chunk.
func (p *workerPool) ranges(n, size int, body func(lo, hi int)) {
	p.each((n+size-1)/size, func(i int) { body(i*size, min(n, (i+1)*size)) })
}

// backwards is ranges from the last item to the first. It is for a pass that follows one over the same memory: what that
// read last is still in a cache.
func (p *workerPool) backwards(n, size int, body func(lo, hi int)) {
	items := (n + size - 1) / size
	p.each(items, func(i int) { i = items - 1 - i; body(i*size, min(n, (i+1)*size)) })
}

// shareMin is the smallest part of an item that [workerPool.shares] makes, as a divisor: it takes
// about 5 microseconds, and a worker that does not sleep starts within one.
const shareMin = 4

// shares is ranges for items that all take equally long. If there are fewer items than workers, it
// divides the elements equally between the workers, in multiples of chunk, as far as that pays.
func (p *workerPool) shares(n, size int, body func(lo, hi int)) {
	if parts := min(p.workers(), shareMin*n/size); n < size*parts {
		size = max(chunk, ((n+parts-1)/parts+chunk-1)/chunk*chunk)
	}
	p.ranges(n, size, body)
}
