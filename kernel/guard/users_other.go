//go:build !linux

package guard

// localUsers returns nil: the system does not tell whose connections these are.
func localUsers() map[endpoints]int { return nil }
