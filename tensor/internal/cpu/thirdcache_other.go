//go:build !linux

package cpu

// thirdCache returns 0: the size of the third cache is unknown.
func thirdCache() int64 { return 0 }
