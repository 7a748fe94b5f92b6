package goid

import (
	"maps"
	"sync"
	"testing"
	"time"
)

// member is a goroutine of a test, which runs functions one after the other until it is told to end.
type member struct {
	do   chan func()
	done chan bool
}

// start returns a goroutine that the calling one starts.
func start() *member {
	m := &member{make(chan func()), make(chan bool)}
	go func() {
		for f := range m.do {
			f()
			m.done <- true
		}
		m.done <- true
	}()
	return m
}

func (m *member) run(f func()) {
	m.do <- f
	<-m.done
}

// end ends the goroutine. A little later the runtime no longer lists it.
func (m *member) end() {
	close(m.do)
	<-m.done
}

func (m *member) starts() (child *member) {
	m.run(func() { child = start() })
	return child
}

func (m *member) begins() (f *Family) {
	m.run(func() { f = Begin() })
	return f
}

// TestFamilies checks which of two families each goroutine belongs to, where one of them starts the other, where both have children and
// grandchildren, and that each belongs to all families where only one is open.
func TestFamilies(t *testing.T) {
	first, second, other := start(), start(), start()
	early := first.starts()
	a := first.begins()
	b := second.begins()
	inner := early.starts()
	c := inner.begins()
	grandchild := inner.starts().starts()
	want := map[*member]string{
		first: "a", second: "b", other: "abc", early: "a", inner: "c", grandchild: "c",
		second.starts(): "b", second.starts().starts(): "b", first.starts(): "a",
	}
	check := func(when string) {
		t.Helper()
		for m, want := range want {
			got := ""
			m.run(func() {
				for i, f := range []*Family{a, b, c} {
					if f.Has() {
						got += string("abc"[i])
					}
				}
			})
			if got != want {
				t.Errorf("%s: a goroutine belongs to the families %q, want %q", when, got, want)
			}
		}
	}
	check("three families")
	c.End()
	c.End()
	maps.DeleteFunc(want, func(m *member, _ string) bool { return m == inner || m == grandchild })
	again := inner.starts()
	want[inner], want[grandchild], want[again] = "a", "a", "a"
	check("two families")
	b.End()
	for m := range want {
		want[m] = "abc" // an only family is not asked who belongs to it
	}
	check("one family")
	a.End()
	if len(families.open) > 0 || families.apart.Load() {
		t.Errorf("%d families are open at the end", len(families.open))
	}
	for m := range want {
		m.end()
	}
}

// TestEndedFamily checks that a family whose goroutines have ended joins the next one, as that of a recording that one cell begins and
// another one uses, and that it does not while a goroutine of it still runs.
func TestEndedFamily(t *testing.T) {
	for _, runs := range []bool{false, true} {
		cell := start()
		f := cell.begins()
		child := cell.starts()
		if !runs {
			child.end()
		}
		cell.end()
		next := start()
		joins := func() (joined bool) {
			g := next.begins()
			defer g.End()
			next.run(func() { joined = f.Has() })
			return joined
		}
		if runs && joins() {
			t.Error("a family with a running goroutine joined another one")
		}
		for tries := 0; !runs && !joins(); tries++ { // the runtime lists a goroutine a little longer than it runs
			if tries == 1000 {
				t.Fatal("a family whose goroutines have ended does not join the next one")
			}
			time.Sleep(time.Millisecond)
		}
		f.End()
		next.end()
		if runs {
			child.end()
		}
	}
}

// TestParallelFamilies begins and ends families on many goroutines, whose children belong to them and to no other.
func TestParallelFamilies(t *testing.T) {
	var wg sync.WaitGroup
	open := make([]*Family, 16)
	var mu sync.RWMutex
	for i := range open {
		wg.Go(func() {
			for range 20 {
				f := Begin()
				mu.Lock()
				open[i] = f
				mu.Unlock()
				var child sync.WaitGroup
				child.Go(func() {
					mu.RLock()
					defer mu.RUnlock()
					for j, g := range open {
						if g != nil && g.Has() != (i == j) {
							t.Errorf("a child of goroutine %d: in the family of %d: %v", i, j, i != j)
						}
					}
				})
				child.Wait()
				mu.Lock()
				open[i] = nil
				mu.Unlock()
				f.End()
			}
		})
	}
	wg.Wait()
}

func TestParentsIn(t *testing.T) {
	for _, tt := range []struct {
		text string
		want map[uint64]uint64
	}{
		{"goroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x1\n", map[uint64]uint64{1: 0}},
		{"goroutine 9 [chan receive, 2 minutes]:\nmain.f()\n\t/x.go:3 +0x1\ncreated by main.f.func1 in goroutine 7\n\t/x.go:2 +0x1\n\n" +
			"goroutine 7 gp=0x1 m=0 mp=0x2 [running]:\nmain.f()\ncreated by main.main in goroutine 1\n\t/x.go:2\n[originating from goroutine 3]:\ncreated by y in goroutine 2\n", map[uint64]uint64{9: 7, 7: 1}},
		{"goroutine 2 [force gc (idle)]:\nruntime.gopark()\ncreated by runtime.init.7\n\t/proc.go:1\n", map[uint64]uint64{2: 0}},
		{"", map[uint64]uint64{}},
	} {
		if got := parentsIn(tt.text); !maps.Equal(got, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.text, got, tt.want)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	f := Begin()
	defer f.End()
	other := start()
	g := other.begins()
	defer g.End()
	for b.Loop() {
		f.Has()
	}
}

// TestGroups checks that families of two groups keep apart, also where only one is open, that a goroutine of no group belongs to both, and that a
// family whose goroutines have all ended joins none of another group.
func TestGroups(t *testing.T) {
	first, second, neither := start(), start(), start()
	worker := first.starts() // started before the family, as by an earlier cell
	var ids [2]uint64
	first.run(func() { ids[0] = Current() })
	second.run(func() { ids[1] = Current() })
	for _, id := range ids {
		defer Separate(func(other uint64) bool { return other == id })()
	}
	check := func(f *Family, want map[*member]bool) {
		t.Helper()
		for m, want := range want {
			m.run(func() {
				if got := f.Has(); got != want {
					t.Errorf("a goroutine belongs to the family: %v, want %v", got, want)
				}
			})
		}
	}
	cell := first.starts()
	a := cell.begins()
	all := []*member{first, second, neither, worker, cell, cell.starts(), second.starts()}
	check(a, map[*member]bool{all[0]: true, all[1]: false, all[2]: true, all[3]: true, all[4]: true, all[5]: true, all[6]: false})
	all[5].end()
	cell.end()
	b := second.begins()
	check(a, map[*member]bool{all[0]: true, all[1]: false, all[2]: true, all[3]: true, all[6]: false})
	check(b, map[*member]bool{all[0]: false, all[1]: true, all[2]: true, all[3]: false, all[6]: true})
	a.End()
	check(b, map[*member]bool{all[0]: false, all[1]: true, all[2]: true, all[3]: false, all[6]: true})
	b.End()
	for _, m := range []*member{first, second, neither, worker, all[6]} {
		m.end()
	}
}
