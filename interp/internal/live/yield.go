package live

import (
	"slices"
	"sync/atomic"
	"time"

	"halfnote/interp/internal/engine"
)

const (
	turns      = 1000 // of loops, between two looks at the clock
	yieldEvery = 50 * time.Millisecond
)

// yielding is when goroutines that compute let others run.
type yielding struct {
	alone bool  // whether they must
	turns int32 // of loops, until the next call of Poll; written by code of cells
	last  atomic.Int64
}

func (y *yielding) attach(rewrites []string) { y.alone = slices.Contains(rewrites, engine.Turns) }

// yield lets other goroutines run, if it is time.
func (y *yielding) yield() {
	if !y.alone {
		return
	}
	atomic.StoreInt32(&y.turns, turns)
	if now := int64(time.Since(epoch)); now-y.last.Load() > int64(yieldEvery) {
		pause()
		y.last.Store(int64(time.Since(epoch)))
	}
}

// Turns returns the counter of the turns of loops: below 0 they call Poll.
func (y *yielding) Turns() *int32 { return &y.turns }
