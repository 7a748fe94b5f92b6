package data

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Epoch iterates over the batches of a loader once:
//
//	for e := loader.Epoch(); e.Next(); {
//		loss := nn.MSELoss(net.Forward(e.Batch().Input), e.Batch().Target)
//		…
//	}
//
// A loop may end early. An Epoch is for use by one goroutine.
type Epoch struct {
	loader  *Loader
	indices [][]int
	seed    int64
	at      int // number of batches that Next has returned
	batch   Batch
	bar     Progress
	ahead   *ahead // nil without workers
}

// ahead is the state that workers share. They make the batches below limit and end when
// none are left, so no explicit stop is needed.
type ahead struct {
	mu      sync.Mutex
	taken   int
	limit   int
	running int
	ready   []chan loaded
}

// newAhead returns the shared state of workers that start at batch from of n.
func newAhead(from, n int) *ahead {
	a := &ahead{taken: from, limit: from, ready: make([]chan loaded, n)}
	for i := range a.ready {
		a.ready[i] = make(chan loaded, 1)
	}
	return a
}

// loaded is a batch, or the error that prevented it.
type loaded struct {
	batch Batch
	index int // index of the sample that failed, or -1
	err   error
}

// Progress receives an Epoch's progress, for example a *display.Progress.
type Progress interface {
	// Add reports that n more batches are done.
	Add(n int)
	// Finish reports the end.
	Finish()
}

// SampleError reports a sample that a data set could not provide, or a batch that could not
// be assembled. It is the panic value of loops over batches; without workers, panics of the
// data set propagate unchanged.
type SampleError struct {
	Index int // index of the sample, -1 for an error of the whole batch
	Batch int // number of the batch in the epoch, from 0
	Err   error
}

// Error names the sample and the cause.
func (e *SampleError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("data: loader: batch %d: %v", e.Batch, e.Err)
	}
	return fmt.Sprintf("data: loader: sample %d, in batch %d: %v", e.Index, e.Batch, e.Err)
}

// Unwrap returns the data set's own error.
func (e *SampleError) Unwrap() error { return e.Err }

// Epoch starts an epoch.
func (l *Loader) Epoch() *Epoch {
	// The seed is drawn before the order, as in torch.utils.data.DataLoader.
	seed := orDefault(l.generator).Int63()
	e := &Epoch{loader: l, indices: l.batches.Batches(), seed: seed}
	if l.workers > 0 {
		e.ahead = newAhead(0, len(e.indices))
	}
	return e
}

// Position returns the number of batches that Next has returned. With the generators'
// states it is the state of an unfinished epoch for a checkpoint.
func (e *Epoch) Position() int { return min(e.at, len(e.indices)) }

// Seek makes Next return the given batch next, identical to what it was or would have been.
// It panics unless 0 <= batch <= Len.
func (e *Epoch) Seek(batch int) {
	if batch < 0 || batch > len(e.indices) {
		panic(&tensor.Error{Op: "seek", Why: fmt.Sprintf("to batch %d in an epoch of %d batches; want 0 to %[2]d", batch, len(e.indices))})
	}
	e.at, e.batch = batch, Batch{}
	if e.ahead != nil {
		e.ahead = newAhead(batch, len(e.indices)) // workers of the old state end by themselves
	}
}

// Show reports every finished batch to bar, and returns the epoch.
func (e *Epoch) Show(bar Progress) *Epoch {
	e.bar = bar
	return e
}

// Len returns the number of batches of the epoch.
func (e *Epoch) Len() int { return len(e.indices) }

// Batch returns the current batch.
func (e *Epoch) Batch() Batch { return e.batch }

// Next advances to the next batch and reports whether there is one. It panics with a
// *[SampleError] if the data set returns an error or a worker panics.
func (e *Epoch) Next() bool {
	if e.bar != nil && e.at > 0 && e.at <= len(e.indices) {
		e.bar.Add(1)
	}
	e.batch = Batch{}
	if e.at >= len(e.indices) {
		if e.bar != nil && e.at == len(e.indices) {
			e.bar.Finish()
		}
		e.at = len(e.indices) + 1
		return false
	}
	got := loaded{index: -1}
	if e.loader.workers == 0 {
		got.batch, got.err = e.load(e.at, &got.index)
	} else {
		got = e.await(e.at)
	}
	if got.err != nil {
		if e.bar != nil {
			e.bar.Finish()
		}
		driver.Poll() // a worker of an interrupted cell may have stopped first
		panic(&SampleError{Index: got.index, Batch: e.at, Err: got.err})
	}
	e.batch = got.batch
	e.at++
	return true
}

func (e *Epoch) load(i int, now *int) (Batch, error) {
	driver.Poll()
	return e.loader.load(e.indices[i], e.seed+int64(i), now)
}

// await lets the workers continue and returns batch i.
func (e *Epoch) await(i int) loaded {
	a := e.ahead
	a.mu.Lock()
	a.limit = min(i+1+e.loader.ahead, len(e.indices))
	for a.running < e.loader.workers && a.running < a.limit-a.taken {
		a.running++
		go e.work(a)
	}
	a.mu.Unlock()
	select {
	case got := <-a.ready[i]:
		return got
	default:
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case got := <-a.ready[i]:
			return got
		case <-tick.C:
			driver.Poll()
		}
	}
}

// work makes batches until none are left.
func (e *Epoch) work(a *ahead) {
	for {
		a.mu.Lock()
		i := a.taken
		if i >= a.limit {
			a.running--
			a.mu.Unlock()
			return
		}
		a.taken++
		a.mu.Unlock()
		e.make(a, i)
	}
}

// make makes batch i, or records an error: a panic would end the program.
func (e *Epoch) make(a *ahead, i int) {
	got := loaded{index: -1, err: errors.New("the worker has ended")} // if it calls runtime.Goexit
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			got.err = p
		default:
			got.err = fmt.Errorf("panic: %v", p)
		}
		a.ready[i] <- got
	}()
	got.batch, got.err = e.load(i, &got.index)
}
