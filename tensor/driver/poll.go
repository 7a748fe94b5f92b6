package driver

import "sync/atomic"

var poll atomic.Pointer[func()]

// SetPoll sets the function that backends call, through [Poll], every few milliseconds while
// a kernel runs; nil, the default, sets none. It runs on the goroutine that called Run, so it
// may access that goroutine's state. It may panic to abandon the kernel: Run then waits until
// no worker uses the operands, leaves dst partly written, and the panic propagates.
func SetPoll(f func()) {
	if f == nil {
		poll.Store(nil)
		return
	}
	poll.Store(&f)
}

// Poll calls the function of [SetPoll], if set.
func Poll() {
	if f := poll.Load(); f != nil {
		(*f)()
	}
}
