package exercise

import "runtime"

// used returns the memory that Go has taken. A browser does not say how much processor time a page has used.
func used() (r Resources) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.Memory = int64(m.Sys)
	return r
}
