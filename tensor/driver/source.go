package driver

import (
	"sync"
	"sync/atomic"
)

var source atomic.Pointer[func() string]

// watchers counts those who ask for sources.
var watchers struct {
	sync.Mutex
	n    int
	tell func(on bool)
}

// SetSource sets the function that tells which line of a user's program the calling
// goroutine runs, as "In[3], line 5"; nil sets none, as at the start. It returns ""
// where it does not know.
func SetSource(f func() string) {
	if f == nil {
		source.Store(nil)
		return
	}
	source.Store(&f)
}

// Source calls the function of [SetSource], and returns "" if there is none.
func Source() string {
	if f := source.Load(); f != nil {
		return (*f)()
	}
	return ""
}

// SetWatch sets the function that is told when somebody begins to ask for sources and
// when nobody does any more: a program that notes its lines for that need not do it
// meanwhile. It is told at once how things are. nil sets none, as at the start.
func SetWatch(f func(on bool)) {
	watchers.Lock()
	defer watchers.Unlock()
	watchers.tell = f
	if f != nil {
		f(watchers.n > 0)
	}
}

// Watch says that the caller begins to ask for sources or, after that, that it ceases
// to.
func Watch(on bool) {
	watchers.Lock()
	defer watchers.Unlock()
	before := watchers.n > 0
	if watchers.n--; on {
		watchers.n += 2
	}
	if now := watchers.n > 0; now != before && watchers.tell != nil {
		watchers.tell(now)
	}
}
