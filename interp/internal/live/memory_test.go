package live

import "testing"

// TestScarce checks that a goroutine of a cell that allocates beyond the limit panics, also one that a compiled package has started, that others do not, and that a
// goroutine that holds the registry's lock is not stopped, since it would wait for itself.
func TestScarce(t *testing.T) {
	r := NewRegistry(100)
	scarce := func(belongs bool) (v any) {
		r.Memory = 1
		r.beyond.Store(0)
		defer func() { v = recover() }()
		r.Scarce(func() bool { return belongs })
		return nil
	}
	if got := scarce(false); got != nil {
		t.Errorf("a goroutine of the program: %v", got)
	}
	if _, ok := scarce(true).(TooMuch); !ok {
		t.Error("a goroutine that belongs to a cell does not panic")
	}
	r.Lend(func() {
		if _, ok := scarce(false).(TooMuch); !ok {
			t.Error("a goroutine that works for a cell does not panic")
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if got := scarce(true); got != nil {
			t.Errorf("a goroutine that holds the lock: %v", got)
		}
	})
	if v := scarce(true); v == nil {
		t.Error("no panic")
	}
	r.Scarce(func() bool { return true }) // a further part is not used up yet
	if r.Memory = 1 << 60; scarce(false) != nil {
		t.Error("a panic although there is memory")
	}
}
