//go:build !linux

package cpu

// returnPages does nothing where madvise(2) is not known to.
func returnPages([]uint64) {}
