//go:build !linux

package driver

// addressSpace returns 0: limits of addresses are not known here.
func addressSpace() (bytes int64, setBy string) { return 0, "" }
