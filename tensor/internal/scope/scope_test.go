package scope

import (
	"runtime"
	"sync"
	"testing"
)

func TestNesting(t *testing.T) {
	check := func(want any) {
		t.Helper()
		if got := Current(); got != want {
			t.Errorf("current value: got %v, want %v", got, want)
		}
	}
	check(nil)
	Do(1, func() {
		check(1)
		Do(2, func() { check(2) })
		check(1)
		func() {
			defer func() { recover() }()
			Do(3, func() { panic("x") })
		}()
		check(1)
		done := make(chan any)
		go func() { done <- Current() }()
		if got := <-done; got != nil {
			t.Errorf("a goroutine started inside: got %v, want nil", got)
		}
	})
	check(nil)
	var wg sync.WaitGroup
	wg.Go(func() { Do(4, runtime.Goexit) })
	wg.Wait()
	if n := open.Load(); n != 0 {
		t.Errorf("%d scopes are open after all have ended", n)
	}
}

func TestGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for range 200 {
				Do(g, func() {
					runtime.Gosched()
					if got := Current(); got != g {
						t.Errorf("goroutine %d sees %v", g, got)
					}
				})
			}
		})
	}
	wg.Wait()
}

func BenchmarkCurrent(b *testing.B) {
	Do(1, func() {
		for b.Loop() {
			Current()
		}
	})
}

func BenchmarkDo(b *testing.B) {
	for b.Loop() {
		Do(1, func() {})
	}
}

// TestEnter checks that an entered scope ends at Exit, if it is the innermost scope of
// its goroutine, or with the scope around it.
func TestEnter(t *testing.T) {
	check := func(want any) {
		t.Helper()
		if got := Current(); got != want {
			t.Errorf("current value: got %v, want %v", got, want)
		}
	}
	a := Enter(1)
	b := Enter(2)
	check(2)
	elsewhere := make(chan bool)
	go func() { elsewhere <- b.Exit() }()
	if <-elsewhere || a.Exit() {
		t.Error("a scope ended on another goroutine, or before one inside it")
	}
	if !b.Exit() || b.Exit() {
		t.Error("the innermost scope did not end, or ended twice")
	}
	check(1)
	var inner *Scope
	Do(3, func() {
		Enter(4)
		inner = Enter(5)
		check(5)
	})
	check(1)
	if !inner.Ended() || inner.Exit() {
		t.Error("a scope outlived the one around it")
	}
	Enter(6)
	if got := Close(); len(got) != 2 || got[0] != 6 || got[1] != 1 {
		t.Errorf("Close ended %v, want 6 and 1", got)
	}
	check(nil)
	if n := open.Load(); n != 0 {
		t.Errorf("%d scopes are open after all have ended", n)
	}
}
