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

// TestShares checks the items that shares makes, and that they cover all elements once.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		name                   string
		workers, n, size, want int
	}{
		{"one worker", 1, copyItem, copyItem, 1},
		{"an item for two workers", 2, copyItem, copyItem, 2},
		{"half an item", 2, copyItem / 2, copyItem, 2},
		{"too few elements to divide", 2, copyItem/2 - chunk, copyItem, 1},
		{"parts of a quarter at least", 7, copyItem, copyItem, 4},
		{"more items than workers", 2, 5 * copyItem, copyItem, 5},
		{"not a multiple of a chunk", 2, copyItem - 3, copyItem, 2},
		{"small items", 2, 3000, chunk, 3},
		{"no elements", 2, 0, copyItem, 0},
	} {
		p := workerPool{fixed: c.workers}
		done, items := make([]atomic.Int32, c.n), atomic.Int32{}
		p.shares(c.n, c.size, func(lo, hi int) {
			items.Add(1)
			if lo%chunk != 0 {
				t.Errorf("%s: an item starts at element %d, want a multiple of %d", c.name, lo, chunk)
			}
			for i := lo; i < hi; i++ {
				done[i].Add(1)
			}
		})
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Fatalf("%s: element %d is in %d items, want 1", c.name, i, got)
			}
		}
		if got := int(items.Load()); got != c.want {
			t.Errorf("%s: got %d items, want %d", c.name, got, c.want)
		}
	}
}
