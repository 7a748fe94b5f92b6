package bench

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// processors returns the number of processors that this process may use.
func processors() int {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) != nil {
		return runtime.NumCPU()
	}
	return mine.Count()
}

// pinned calls start. Processes that start creates may only use the first n processors of this
// process.
func pinned(n int, start func() error) error {
	runtime.LockOSThread() // a child process inherits the processors of its thread
	defer runtime.UnlockOSThread()
	var mine, its unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return fmt.Errorf("bench: the processors of this process: %w", err)
	}
	for cpu := 0; its.Count() < min(n, mine.Count()); cpu++ {
		if mine.IsSet(cpu) {
			its.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &its); err != nil {
		return fmt.Errorf("bench: pin to %d processors: %w", n, err)
	}
	defer unix.SchedSetaffinity(0, &mine)
	return start()
}

// endWithUs puts a command into its own process group, which the terminal's Ctrl-C does not
// reach, and makes it end with this process, even if this process is killed.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
