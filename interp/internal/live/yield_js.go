package live

import "syscall/js"

// A timer of JavaScript returns the program to its event loop. One of Go need not: Go's scheduler looks at timers before it gives up the thread.
var arrived, arrive = func() (chan struct{}, js.Func) {
	c := make(chan struct{}, 1)
	return c, js.FuncOf(func(js.Value, []js.Value) any {
		c <- struct{}{}
		return nil
	})
}()

// pause lets other goroutines run, and JavaScript handle its events.
func pause() {
	js.Global().Call("setTimeout", arrive, 0)
	<-arrived
}
