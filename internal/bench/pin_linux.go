package bench

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// processors returns how many processors this process may use.
func processors() int {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) != nil {
		return runtime.NumCPU()
	}
	return mine.Count()
}

// pinned calls start, with what it starts kept to the first n processors that this process
// may use.
func pinned(n int, start func() error) error {
	runtime.LockOSThread() // what is started inherits the thread's processors
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

// endWithUs puts a command out of reach of the terminal's Ctrl-C, which is ours to pass on,
// and has it end when this process does, even when killed.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
