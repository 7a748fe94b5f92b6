//go:build unix

package kernel

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// parentEnded returns a function that reports whether the parent has ended. There are
// two signs: this process has a new parent, or, if a wrapper stands between, Jupyter's
// process, which JPY_PARENT_PID names, has ended although it existed at the start. (In
// a container with its own process ids it may never have been visible.)
func parentEnded(id string) func() bool {
	parent := os.Getppid()
	jupyter, err := strconv.Atoi(id)
	known := err == nil && jupyter > 1 && alive(jupyter)
	return func() bool {
		return os.Getppid() != parent || known && !alive(jupyter)
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// endGroup sends SIGTERM to the processes that cells have started. Jupyter starts a
// kernel as the leader of a process group; if it is not the leader, the group is left
// alone.
func endGroup() {
	if syscall.Getpgrp() != os.Getpid() {
		return
	}
	signal.Ignore(syscall.SIGTERM) // SIGTERM is for the other processes of the group
	syscall.Kill(0, syscall.SIGTERM)
}
