//go:build !linux

package cpu

// returnPages and wantHugePages do nothing where there is no madvise(2).
func returnPages([]uint64)   {}
func wantHugePages([]uint64) {}
