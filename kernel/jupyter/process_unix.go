//go:build unix

package jupyter

import (
	"errors"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// parentEnded returns a function that reports whether the parent has ended. There are
// three signs: this process has a new parent; or, if a wrapper stands between, Jupyter's
// process, which JPY_PARENT_PID names, has ended although it existed at the start; or it had ended before.
func parentEnded(id string) func() bool {
	parent := os.Getppid()
	jupyter, err := strconv.Atoi(id)
	named := err == nil && jupyter > 1
	known := named && alive(jupyter)
	early := named && !known && orphaned(parent, os.Getpid(), syscall.Getpgrp())
	return func() bool {
		return early || os.Getppid() != parent || known && !alive(jupyter)
	}
}

// orphaned reports whether a process whose starter does not exist has lost it, by the ids of its parent, itself and its process group. In a
// container with its own process ids the starter is never visible, and the kernel is the first process, or the child of a script in the
// script's group. An orphan has been given to the first process, or, where another one collects orphans, leads the group that Jupyter
// started it in.
func orphaned(parent, self, group int) bool {
	return self != 1 && parent != 0 && (parent == 1 || group == self)
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// gone reports whether a process has ended.
func gone(pid int) bool { return !alive(pid) }

// leads reports whether this process leads its process group. Jupyter starts a kernel so; another group is left alone.
func leads() bool { return syscall.Getpgrp() == os.Getpid() }

// endGroup sends SIGTERM to the processes that cells have started.
func endGroup() {
	if leads() {
		signal.Ignore(syscall.SIGTERM) // SIGTERM is for the other processes of the group
		syscall.Kill(0, syscall.SIGTERM)
	}
}

// interruptGroup sends SIGINT to the process group, this process included, and reports whether it has.
func interruptGroup() bool { return leads() && syscall.Kill(0, syscall.SIGINT) == nil }
