//go:build !linux

package symbols

// limitAddresses does nothing where there is no such limit.
func limitAddresses(uint64) {}
