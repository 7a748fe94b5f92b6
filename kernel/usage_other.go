//go:build !linux

package kernel

import "time"

func residentMemory() uint64                       { return goMemory() }
func processorTime() (time.Duration, bool)         { return 0, false }
func hostTime() (busy, all time.Duration, ok bool) { return 0, 0, false }
func hostMemory() object                           { return nil }
