package symbols

import "syscall"

// limitAddresses has the system refuse this process more than n bytes of addresses, so that a
// size that nothing has checked ends the process and not the machine.
func limitAddresses(n uint64) {
	syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: n, Max: n})
}
