package cpu

import (
	"sync/atomic"
	"testing"

	"halfnote/tensor/driver"
)

// TestEachDoesAllOnce checks that each runs every item exactly once.
func TestEachDoesAllOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 7} {
		p := workerPool{fixed: workers}
		for _, n := range []int{0, 1, 2, 100, 5000} {
			done := make([]atomic.Int32, n)
			p.each(n, func(i int) { done[i].Add(1) })
			for i := range done {
				if got := done[i].Load(); got != 1 {
					t.Fatalf("%d workers: item %d of %d ran %d times, want once", workers, i, n, got)
				}
			}
		}
	}
}

// TestEachPanics checks that each passes on the panic of an item on any goroutine, and drops the items
// that have not started.
func TestEachPanics(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		p := workerPool{fixed: workers}
		for _, bad := range []int{0, 1, 50} {
			const n = 100000
			var done atomic.Int32
			got := func() (r any) {
				defer func() { r = recover() }()
				p.each(n, func(i int) {
					if done.Add(1); i == bad {
						panic(i)
					}
				})
				return nil
			}()
			if got != bad {
				t.Errorf("%d workers: panic in item %d: got %v from each, want the panic's value", workers, bad, got)
			}
			if done.Load() == n {
				t.Errorf("%d workers: panic in item %d: all %d items ran, want some dropped", workers, bad, n)
			}
		}
	}
}

// TestEachWithBusyHelper checks that each ends at once if the poll panics while its only helper runs
// another job.
func TestEachWithBusyHelper(t *testing.T) {
	defer driver.SetHost(driver.Host{})
	p := workerPool{fixed: 2}
	busy, release, first := make(chan bool, 2), make(chan bool), make(chan bool)
	go func() {
		p.each(2, func(int) { busy <- true; <-release })
		close(first)
	}()
	<-busy
	<-busy // that goroutine and the helper run one item each
	driver.SetHost(driver.Host{Poll: func() { panic("enough") }})
	got := func() (r any) {
		defer func() { r = recover() }()
		p.each(3, func(int) { t.Error("an item ran after the poll panicked") })
		return nil
	}()
	if got != "enough" {
		t.Errorf("got %v from each, want the poll's panic value", got)
	}
	close(release)
	<-first
}
