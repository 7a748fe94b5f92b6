package driver

import (
	"sync"
	"sync/atomic"
)

var source atomic.Pointer[func() string]

// watchers counts the users of [Source].
var watchers struct {
	sync.Mutex
	n    int
	tell func(on bool)
}

// SetSource sets the function that returns the line of the user's program that the calling
// goroutine runs, for example "In[3], line 5", or "" if unknown; nil, the default, sets none.
func SetSource(f func() string) {
	if f == nil {
		source.Store(nil)
		return
	}
	source.Store(&f)
}

// Source calls the function of [SetSource], or returns "" if none is set.
func Source() string {
	if f := source.Load(); f != nil {
		return (*f)()
	}
	return ""
}

// SetWatch sets the function called when the first user of [Source] registers and when the
// last one leaves, so that a program need not track its lines meanwhile. It is called at
// once with the current state. nil sets none.
func SetWatch(f func(on bool)) {
	watchers.Lock()
	defer watchers.Unlock()
	watchers.tell = f
	if f != nil {
		f(watchers.n > 0)
	}
}

// Watch registers a user of [Source], or removes it if on is false.

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
