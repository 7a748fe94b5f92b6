package data

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"halfnote/tensor"
	"halfnote/tensor/driver"
)

// Epoch goes through the batches of a loader once:
//
//	for e := loader.Epoch(); e.Next(); {
//		loss := nn.MSELoss(net.Forward(e.Batch().Input), e.Batch().Target)
//		…
//	}
//
// A loop may be left at any time. It is for one goroutine.
type Epoch struct {
	loader  *Loader
	indices [][]int
	seed    int64
	at      int // batches that Next has given
	batch   Batch
	bar     Progress
	ahead   *ahead // nil without workers
}

// ahead is what workers share. They take batches up to below limit and end where
// there are none: nobody has to stop them.
type ahead struct {
	mu      sync.Mutex
	taken   int
	limit   int
	running int
	ready   []chan loaded
}

// newAhead returns what workers share that begin with a batch, of n.
func newAhead(from, n int) *ahead {
	a := &ahead{taken: from, limit: from, ready: make([]chan loaded, n)}
	for i := range a.ready {
		a.ready[i] = make(chan loaded, 1)
	}
	return a
}

// loaded is a batch, or why there is none.
type loaded struct {
	batch Batch
	index int // of the sample that the error is about, or -1
	err   error
}

// Progress is what an Epoch reports to, as a *display.Progress.
type Progress interface {
	// Add says that n more batches are done.
	Add(n int)
	// Finish says that no more will come.
	Finish()
}

// SampleError reports a sample that a data set could not give, or a batch that could not
// be made of samples. It is the panic value of loops over batches; only what panics
// without workers goes on as it is.
type SampleError struct {
	Index int // of the sample, -1 if it is about a batch of them
	Batch int // of the epoch, from 0 on
	Err   error
}

// Error says which sample it was and why.
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
	// The seed comes before the order, as in torch.utils.data.DataLoader.
	seed := orDefault(l.generator).Int63()
	e := &Epoch{loader: l, indices: l.batches.Batches(), seed: seed}
	if l.workers > 0 {
		e.ahead = newAhead(0, len(e.indices))
	}
	return e
}

// Position returns how many batches Next has given: with the generators' states, what a
// checkpoint must hold of an epoch that is not over.
func (e *Epoch) Position() int { return min(e.at, len(e.indices)) }

// Seek makes Next give the batch of this number next, the same as before if it gave it
// before. It panics unless 0 <= batch <= Len.
func (e *Epoch) Seek(batch int) {
	if batch < 0 || batch > len(e.indices) {
		panic(&tensor.Error{Op: "seek", Why: fmt.Sprintf("to batch %d of an epoch of %d; expected 0 to %[2]d", batch, len(e.indices))})
	}
	e.at, e.batch = batch, Batch{}
	if e.ahead != nil {
		e.ahead = newAhead(batch, len(e.indices)) // workers of the old one end by themselves
	}
}

// Show reports every batch that is done to bar, and returns the epoch.
func (e *Epoch) Show(bar Progress) *Epoch {
	e.bar = bar
	return e
}

// Len returns the number of batches of the epoch.
func (e *Epoch) Len() int { return len(e.indices) }

// Batch returns the batch that Next went to.
func (e *Epoch) Batch() Batch { return e.batch }

// Next goes to the next batch and reports whether there is one. It panics with a
// *[SampleError] if the data set has an error or a worker panics.
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

// await lets the workers go on and returns batch i.
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

// work makes batches until there is none to make.
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

// make makes batch i, or an error of what goes wrong: a panic would end the program.
func (e *Epoch) make(a *ahead, i int) {
	got := loaded{index: -1, err: errors.New("the worker has ended")} // by runtime.Goexit
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
