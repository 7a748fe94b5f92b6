//go:build unix

package bench

import (
	"os"
	"syscall"
)

// pause stops a process, including its spinning threads, until resume.
func pause(p *os.Process) { p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) { p.Signal(syscall.SIGCONT) }
