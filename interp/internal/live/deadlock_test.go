package live

import "testing"

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name, text   string
		waits, cells bool
	}{
		{"a channel of a cell", "goroutine 7 [chan receive, 2 minutes]:\nreflect.chanrecv(0x1)\n\tvalue.go:1\nreflect.Value.Recv(...)", true, true},
		{"a mutex of a cell", "goroutine 7 [sync.Mutex.Lock]:\ninternal/sync.runtime_SemacquireMutex(0x1)\n\tsema.go:1\nsync.(*Mutex).Lock(...)\nreflect.Value.call({0x1})", true, true},
		{"a wait group of a cell", "goroutine 7 [semacquire]:\nsync.runtime_Semacquire(0x1)\n\tsema.go:1\nsync.(*WaitGroup).Wait(0x1)\nreflect.Value.call({0x1})", true, true},
		{"the start of a collection", "goroutine 7 [semacquire]:\nruntime.gcStart({0x1})\n\tmgc.go:1\nruntime.mallocgc(0x1)\n\tmalloc.go:1\nreflect.unsafe_New(0x1)", false, false},
		{"a collection of the library", "goroutine 7 [semacquire]:\nruntime.GC()\n\tmgc.go:1\nhalfnote/tensor/driver.CollectGarbage()", false, false},
		{"labels", "goroutine 7 [semacquire, 2 minutes] {halfnote: 3, \"a [b]:\": \"c, d\"}:\nsync.runtime_Semacquire(0x1)\n\tsema.go:1\nsync.(*WaitGroup).Wait(0x1)\nreflect.Value.call({0x1})", true, true},
		{"labels, computing", "goroutine 7 [running] {chan : select}:\nreflect.Value.call({0x1})", false, false},
		{"a generic method", "goroutine 7 [select (no cases)]:\nruntime.block()\n\tselect.go:1\nmain.(*T[...]).M[...](0x1)\n\tcell.go:1\nreflect.Value.call({0x1})", true, false},
		{"a wait group under labels, Go 1.26", "goroutine 7 [semacquire labels:{\"a\": \"b, c\"}]:\nsync.runtime_Semacquire(0x1)\n\tsema.go:1\nreflect.Value.call({0x1})", true, true},
		{"a wait group under labels, Go 1.27", "goroutine 7 gp=0xc000002380 m=nil [semacquire, 2 minutes] {a: \"b, [c\"}:\nsync.runtime_Semacquire(0x1)\n\tsema.go:1\nreflect.Value.call({0x1})", true, true},
		{"computing", "goroutine 7 [running]:\nreflect.Value.call({0x1})", false, false},
	} {
		g, ok := parseGoroutine(c.text)
		if !ok || g.id != 7 || g.waits() != c.waits || g.waitsForCells() != c.cells {
			t.Errorf("%s: goroutine %d waits %v, for cells %v; want 7, %v, %v", c.name, g.id, g.waits(), g.waitsForCells(), c.waits, c.cells)
		}
	}
}
