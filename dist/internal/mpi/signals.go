package mpi

import "unsafe"

// signals holds the handlers of signals of a process. Libraries that MPI loads set their own, which would turn a nil pointer
// of a cell into the end of the process.
type signals struct {
	lib       library
	sigaction uintptr
	old       [32][256]byte // struct sigaction has at most 152 bytes
}

// holdSignals records the handlers.
func holdSignals() *signals {
	s := &signals{lib: program()}
	if s.lib == nil {
		return s
	}
	if s.sigaction = s.lib.symbol("sigaction"); s.sigaction == 0 {
		return s
	}
	for n := 1; n < len(s.old); n++ {
		s.lib.call(s.sigaction, uintptr(n), 0, uintptr(unsafe.Pointer(&s.old[n])))
	}
	return s
}

// restore sets the handlers that have changed back.
func (s *signals) restore() {
	if s.sigaction == 0 {
		return
	}
	for n := 1; n < len(s.old); n++ {
		var now [256]byte
		s.lib.call(s.sigaction, uintptr(n), 0, uintptr(unsafe.Pointer(&now)))
		if now != s.old[n] {
			s.lib.call(s.sigaction, uintptr(n), uintptr(unsafe.Pointer(&s.old[n])), 0)
		}
	}
}
