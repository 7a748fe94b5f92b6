package driver

import "sync/atomic"

var source atomic.Pointer[func() string]

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
