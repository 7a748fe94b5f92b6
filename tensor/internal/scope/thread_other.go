//go:build !linux && !darwin && !windows

package scope

func threadID() int { return goroutineID() }
