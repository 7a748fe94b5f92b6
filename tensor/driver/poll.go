package driver

import "sync/atomic"

var poll atomic.Pointer[func()]

// SetPoll sets the function that backends call, by [Poll], every few
// milliseconds while a kernel runs; nil sets none, as at the start. It runs on
// the goroutine that called Run, so it may look at what belongs to that
// goroutine. It may panic to give the kernel up: Run then waits until nobody
// touches its operands, leaves dst partly written, and the panic goes on.
func SetPoll(f func()) {
	if f == nil {
		poll.Store(nil)
		return
	}
	poll.Store(&f)
}

// Poll calls the function of [SetPoll], if there is one.
func Poll() {
	if f := poll.Load(); f != nil {
		(*f)()
	}
}
