package interp

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// declaring returns a cell that declares a function, a variable and a type.
func declaring(n int) string {
	return fmt.Sprintf("type T%d struct{ a, b int }\nfunc f%[1]d(x int) int { return x + %[1]d }\nx%[1]d := f%[1]d(%[1]d)", n)
}

// later are cells and completions in a session of many cells. Those with %d get a number.
var later = []struct{ name, code string }{
	{"sum", "1 + 1"},
	{"new function", "func g%d(x int) int { return f7(x) }"},
	{"function again", "func again(x int) int { return f7(x) + %d }"},
	{"new type", "type U%d struct{ T9; x int }"},
	{"variable", "x8 = f8(%d)"},
	{"value of an earlier type", "T9{1, %d}"},
	{"generic function", "func h%d[T any](t T) []T { return []T{t} }\nh%[1]d(x8)"},
	{"interface", "var held%d any = T7{1, 2}\nheld%[1]d"},
}

// TestWorkOfManyCells counts the bytes that cells allocate after few earlier cells and after many: a cell reads only the
// declarations that it mentions.
func TestWorkOfManyCells(t *testing.T) {
	s := newSession(t)
	n := 0
	declare := func(to int) {
		for ; n < to; n++ {
			evalFor(t, s, n, declaring(n), "")
		}
	}
	evalFor(t, s, 0, "func again(x int) int { return x }", "")
	work := func(f func(i int)) uint64 {
		var all []uint64
		for i := range 15 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f(i)
			runtime.ReadMemStats(&after)
			all = append(all, after.TotalAlloc-before.TotalAlloc)
		}
		slices.Sort(all)
		return all[len(all)/2] // maps that grow and layers that are joined show in few
	}
	measure := func() (all []uint64) {
		for _, c := range later {
			all = append(all, work(func(i int) {
				code := c.code
				if strings.Contains(code, "%") {
					code = fmt.Sprintf(code, 100*n+i)
				}
				evalFor(t, s, n, code, "")
			}))
		}
		return append(all,
			work(func(int) { s.Complete("T9{}.", 5) }),
			work(func(int) { s.Complete("x8 + agai", 9) }),
			work(func(int) { s.Inspect("T9", 2, 1) }))
	}
	declare(100)
	few := measure()
	declare(800)
	many := measure()
	for i, name := range append(namesOfLater(), "completion of a member", "completion of a name", "help") {
		t.Logf("%s: %d bytes after 100 cells, %d after 800", name, few[i], many[i])
		if many[i] > few[i]+few[i]/2 {
			t.Errorf("%s: %d bytes after 100 cells, %d after 800; want no more than half as many again", name, few[i], many[i])
		}
	}
}

// TestMemoryOfDeclarations checks that a cell which declares a function, a variable and a type keeps less than 8 KB. Tables that double are part of it.
func TestMemoryOfDeclarations(t *testing.T) {
	s := newSession(t)
	held := func(from, to int) uint64 {
		for n := from; n < to; n++ {
			evalFor(t, s, n, declaring(n), "")
		}
		runtime.GC()
		runtime.GC() // what finalizers release
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const cells = 1000
	before := held(0, 100)
	each := int64(held(100, 100+cells)-before) / cells
	t.Logf("%d bytes per cell", each)
	if each > 8<<10 {
		t.Errorf("%d bytes per cell, want at most %d", each, 8<<10)
	}
}

func namesOfLater() (list []string) {
	for _, c := range later {
		list = append(list, c.name)
	}
	return list
}

// BenchmarkLongSession measures cells in sessions of many cells, in milliseconds, and what each of those keeps on the heap:
//
//	go test ./interp -run xxx -bench LongSession -benchtime 1x
func BenchmarkLongSession(b *testing.B) {
	for _, engine := range Engines {
		b.Run(engine, func(b *testing.B) {
			for b.Loop() {
				s := newSessionOn(b, engine)
				evalFor(b, s, 0, "func again(x int) int { return x }", "")
				n, first := 0, uint64(0)
				for _, cells := range []int{10, 1000, 2000, 5000} {
					for ; n < cells; n++ {
						evalFor(b, s, n, declaring(n), "")
					}
					var m runtime.MemStats
					runtime.GC()
					runtime.ReadMemStats(&m)
					if first == 0 {
						first = m.HeapAlloc
					}
					b.ReportMetric(float64(m.HeapAlloc-first)/float64(cells), fmt.Sprintf("B/cell-%d", cells))
					for _, c := range later[:2] {
						var all []time.Duration
						for i := range 21 {
							code := c.code
							if strings.Contains(code, "%") {
								code = fmt.Sprintf(code, 100*cells+i)
							}
							start := time.Now()
							evalFor(b, s, n, code, "")
							all = append(all, time.Since(start))
						}
						slices.Sort(all)
						b.ReportMetric(float64(all[len(all)/2])/1e6, fmt.Sprintf("%s-ms-%d", strings.ReplaceAll(c.name, " ", "-"), cells))
					}
				}
			}
		})
	}
}
