package live

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/tensor/driver"
)

// TestScarce checks that a goroutine of a cell that allocates beyond the limit panics, also one that a compiled package has started, and that others do not.
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
	})
	if v := scarce(true); v == nil {
		t.Error("no panic")
	}
	r.Scarce(func() bool { return true }) // a further part is not used up yet
	if r.Memory = 1 << 60; scarce(false) != nil {
		t.Error("a panic although there is memory")
	}
}

// TestLooksWaitForNoLock asks what is asked in the middle of an allocation while every lock of the registry is held.
func TestLooksWaitForNoLock(t *testing.T) {
	r := NewRegistry(100)
	r.Memory, r.Mapped = 1<<60, driver.Mapped
	for _, l := range []sync.Locker{&r.mu, &r.under.mu, &r.pacing} {
		l.Lock()
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		r.Owns()
		r.Room(1<<30, 1)
		r.Scarce(func() bool { return true })
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a look at the memory waits for a lock")
	}
}

// TestLocksAreReleased checks that functions that hold a lock of a registry release it when they panic, as an allocation or a call without room on the
// stack does: each Lock is followed by a deferred Unlock.
func TestLocksAreReleased(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	lock := regexp.MustCompile(`(\n\t+)(\S+)\.Lock\(\)`)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range lock.FindAllSubmatchIndex(text, -1) {
			found++
			indent, mutex, rest := text[at[2]:at[3]], text[at[4]:at[5]], text[at[1]:]
			if !bytes.HasPrefix(rest, fmt.Appendf(nil, "%sdefer %s.Unlock()", indent, mutex)) {
				t.Errorf("%s: %s.Lock() is not followed by defer %[2]s.Unlock()", file, mutex)
			}
		}
	}
	if found < 20 {
		t.Errorf("%d locks found, want more", found)
	}
}
