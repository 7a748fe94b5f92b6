package symbols

import "syscall"

// limitAddresses limits the address space of this process to n bytes, so that an
// unchecked size ends the process and not the machine.
func limitAddresses(n uint64) {
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n})
}
