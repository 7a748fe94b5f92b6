//go:build !go1.27

package fatal

import "runtime"

// end ends the goroutine of a panic that has passed all deferred functions, as Goexit does in a deferred function.
func end() { runtime.Goexit() }
