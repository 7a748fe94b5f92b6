package jupyter

import (
	"strconv"
	"syscall"
)

// parentEnded returns a function that reports whether the parent has ended. On
// Windows JPY_PARENT_PID is a handle of the parent that was inherited.
func parentEnded(id string) func() bool {
	handle, err := strconv.ParseUint(id, 10, 64)
	return func() bool {
		if err != nil {
			return false
		}
		event, err := syscall.WaitForSingleObject(syscall.Handle(handle), 0)
		return err == nil && event == syscall.WAIT_OBJECT_0
	}
}

// Windows has no process groups to signal.

func endGroup() {}

func interruptGroup() bool { return false }

// gone reports whether a process is known to have ended.
func gone(int) bool { return false }
