package live

import (
	"cmp"
	"fmt"
	"runtime"

	"halfnote/internal/text"
)

// TooMany is the value of the panic of a cell that has started too many goroutines: more than MostGoroutines, or, if Stacks is not 0, so many that the
// stacks take more than a share of the memory.
type TooMany struct {
	Goroutines     int
	Stacks, Memory int64
	SetBy          string // what set the limit of memory
}

func (t TooMany) Error() string {
	if t.Stacks == 0 {
		return fmt.Sprintf("too many goroutines: cells may have %d at a time", MostGoroutines)
	}
	return fmt.Sprintf("too many goroutines: the stacks of %d take %s, and the limit of memory is %s (%s sets it)",
		t.Goroutines, text.Bytes(t.Stacks), text.Bytes(t.Memory), cmp.Or(t.SetBy, "GOMEMLIMIT"))
}

// RuntimeError makes TooMany a runtime.Error.
func (TooMany) RuntimeError() {}

// MostGoroutines is how many goroutines cells may have at a time. To end a million takes a minute.
const MostGoroutines = 1 << 20

// thinEvery is the number of goroutines after which their stacks are measured. With few of them, large stacks end by other limits.
const thinEvery, few = 1024, 1000

// mayStart ends the calling goroutine of c, which is about to start another, if it must stop. It first stops c if there are too many.
func (r *Registry) mayStart(c *Cell) {
	c = c.root()
	if r.others.Load() >= MostGoroutines || r.started.Add(1)%thinEvery == 0 {
		r.thin(c)
	}
	if !c.stopped.Load() {
		return
	}
	r.Poll()
	if c.alive.Load() > few { // in a deferred function, which Poll does not end
		panic(Interrupted{})
	}
}

// thin stops c if it has many goroutines, and there are too many. It takes no lock: where each of many goroutines starts others, all wait for it.
func (r *Registry) thin(c *Cell) {
	n := int(c.alive.Load())
	if n <= few || c.stopped.Load() {
		return
	}
	if others := int(r.others.Load()); others >= MostGoroutines {
		r.StopFor(c, TooMany{Goroutines: others})
		return
	}
	if r.Memory == 0 {
		return
	}
	l := r.look()
	// The stacks of goroutines that start others grow again when they end, and new ones take the memory while it is collected.
	share := int64(3)
	if r.starting.Load() < few {
		if share = 2; l.stacks > l.limit/share || l.left() < 0 {
			runtime.GC() // makes stacks smaller
			l = r.look()
		}
	}
	if l.stacks > l.limit/share {
		r.StopFor(c, TooMany{n, l.stacks, l.limit, l.setBy})
	} else if l.left() < 0 {
		r.StopFor(c, TooMuch{0, l.used, l.limit, l.setBy})
	}
}
