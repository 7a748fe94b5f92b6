//go:build !linux

package driver

// addressSpace returns 0: limits of addresses are not known here.
func addressSpace() int64 { return 0 }
