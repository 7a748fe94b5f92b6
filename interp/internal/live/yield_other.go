//go:build !js

package live

import "runtime"

// pause lets other goroutines run.
func pause() { runtime.Gosched() }
