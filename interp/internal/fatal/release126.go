//go:build !go1.27

package fatal

import "runtime"

// assists are the functions by which a goroutine that allocates helps the collector.
var assists = []string{"runtime.deductAssistCredit"}

// end ends the goroutine of a panic that has passed all deferred functions, as Goexit does in a deferred function.
func end() { runtime.Goexit() }
