//go:build unix

package kernel

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// parentEnded returns a function that reports whether the parent has ended. Two
// signs count: that this process was handed to another parent, whichever; and,
// when a wrapper stands between, that Jupyter's process, which JPY_PARENT_PID
// names, is gone although it was there at the start. (In a container with process
// ids of its own it may never have been.)
func parentEnded(id string) func() bool {
	parent := os.Getppid()
	jupyter, err := strconv.Atoi(id)
	known := err == nil && jupyter > 1 && alive(jupyter)
	return func() bool {
		return os.Getppid() != parent || known && !alive(jupyter)
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// endGroup asks the processes that cells have started to end. Jupyter starts a kernel as
// the head of a group; where it is not, the group is somebody else's.
func endGroup() {
	if syscall.Getpgrp() != os.Getpid() {
		return
	}
	signal.Ignore(syscall.SIGTERM) // which is for the others
	syscall.Kill(0, syscall.SIGTERM)
}
