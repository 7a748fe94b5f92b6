package goid

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// supported lists the processors with an assembly file. Current is fast on them with every supported Go.
var supported = map[string]bool{"amd64": true, "arm64": true, "386": true, "riscv64": true, "wasm": true}

func TestWay(t *testing.T) {
	if forced := os.Getenv(variable); Fast() != (supported[runtime.GOARCH] && forced == "") {
		t.Errorf("on %s with %s=%s, goroutines are identified %s", runtime.GOARCH, variable, forced, Way())
	}
}

// TestContract compares Current with runtime.Stack on thousands of goroutines that exist at the same time, before and
// after they have waited, and after their stack has grown.
func TestContract(t *testing.T) {
	const n = 3000
	var (
		all, started sync.WaitGroup
		mu           sync.Mutex
		begin        = make(chan struct{})
		seen         = map[uint64]bool{}
	)
	check := func(first uint64) {
		if got, want := Current(), fromStack(); got != want || first != 0 && got != first {
			t.Errorf("goroutine %d: got %d, and was %d", want, got, first)
		}
	}
	started.Add(n)
	for range n {
		all.Go(func() {
			id := Current()
			check(id)
			started.Done()
			<-begin
			check(id)
			deep(100, func() { check(id) })
			runtime.Gosched()
			check(id)
			mu.Lock()
			defer mu.Unlock()
			if seen[id] {
				t.Errorf("two goroutines have the number %d", id)
			}
			seen[id] = true
		})
	}
	started.Wait()
	close(begin)
	all.Wait()
	check(0)
}

// deep calls f after calls that need 100 KB of stack.
func deep(calls int, f func()) {
	var room [1024]byte
	if calls > 0 {
		deep(calls-1, f)
	} else {
		f()
	}
	runtime.KeepAlive(&room)
}

// TestReused checks goroutines whose description another one has had.
func TestReused(t *testing.T) {
	for range 2000 {
		done := make(chan [2]uint64)
		go func() { done <- [2]uint64{Current(), fromStack()} }()
		if got := <-done; got[0] != got[1] {
			t.Fatalf("goroutine %d: got %d", got[1], got[0])
		}
	}
}

// TestLocked checks a goroutine that owns its thread, and one that a finalizer runs in.
func TestLocked(t *testing.T) {
	done := make(chan [2]uint64)
	go func() {
		runtime.LockOSThread()
		done <- [2]uint64{Current(), fromStack()}
	}()
	if got := <-done; got[0] != got[1] {
		t.Errorf("a goroutine with a thread: got %d, want %d", got[0], got[1])
	}
	func() {
		x := new([16]int)
		runtime.SetFinalizer(x, func(any) { done <- [2]uint64{Current(), fromStack()} })
	}()
	runtime.GC()
	if got := <-done; got[0] != got[1] {
		t.Errorf("the goroutine of finalizers: got %d, want %d", got[0], got[1])
	}
}

// moved returns samples whose number is at some places.
func moved(places ...uintptr) (samples []sample) {
	for i := range enough {
		s := sample{id: uint64(100 + 7*i)}
		for k := range s.words {
			s.words[k] = uint64(1000*i + k)
		}
		for _, p := range places {
			s.words[p/place(1)] = s.id
		}
		samples = append(samples, s)
	}
	return samples
}

// TestMoved checks descriptions with the number at another place, at none and at two.
func TestMoved(t *testing.T) {
	for _, places := range [][]uintptr{{8}, {352}, {extent - 8}, {}, {160, 352}} {
		got := agreed(moved(places...))
		if len(got) != len(places) || len(got) > 0 && got[0] != places[0] {
			t.Errorf("the number is at %d: found at %d", places, got)
		}
	}
	s := moved(160)
	s[enough-1].words[160/place(1)]++ // one goroutine has another number there
	if got := agreed(s); len(got) != 0 {
		t.Errorf("one of %d samples has another number: found at %d", enough, got)
	}
}

// TestRestricted checks what the environment variable does. A wrong place must be noticed.
func TestRestricted(t *testing.T) {
	right, why := find("")
	if supported[runtime.GOARCH] && right == 0 {
		t.Fatalf("no place found: %s", why)
	}
	if right == 0 {
		t.Skip(why)
	}
	for p := place(1); p < extent; p += place(1) {
		if got, why := find(strconv.Itoa(int(p))); p == right && got != p || p != right && (got != 0 || !strings.Contains(why, "is not the place")) {
			t.Errorf("only place %d, where the number is at %d: got %d, %q", p, right, got, why)
		}
	}
	for restriction, want := range map[string]string{
		"stack": "HALFNOTE_GOID=stack", "fast": `HALFNOTE_GOID is "fast": want`, "-8": "want", "99999": "want", "4096": "is not the place", "3": "is not the place",
	} {
		if got, why := find(restriction); got != 0 || !strings.Contains(why, want) {
			t.Errorf("%s: got place %d, %q, want %q", restriction, got, why, want)
		}
	}
}

// TestFallback runs the contract in processes that may not, or cannot, read descriptions.
func TestFallback(t *testing.T) {
	if os.Getenv(variable) != "" {
		t.Skip("runs in the process that starts others")
	}
	for _, value := range []string{"stack", "8"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^Test(Way|Contract|Reused|Locked)$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+value, "GOTRACEBACK=system")
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "--- PASS") != 4 {
			t.Errorf("%s=%s: %v\n%s", variable, value, err, out)
		}
	}
}

func TestHeaders(t *testing.T) {
	for _, test := range []struct {
		text  string
		id    uint64
		state string
	}{
		{"goroutine 1 [running]:\n", 1, "running"},
		{"goroutine 12 [chan receive, 2 minutes]:\nmain.main()", 12, "chan receive"},
		{"goroutine 12 [chan receive, 2 minutes, locked to thread]:", 12, "chan receive"},
		{"goroutine 34 gp=0xc000002380 m=0 mp=0x7d9f20 [semacquire]:", 34, "semacquire"},
		{`goroutine 7 [semacquire labels:{"a": "b, ]"}]:`, 7, "semacquire"},
		{"goroutine 7 [semacquire] {a: b}:", 7, "semacquire"},
		{`goroutine 7 [select, 3 minutes] {"a, [": "]"}:`, 7, "select"},
		{"goroutine 18446744073709551615 [runnable]:", 1<<64 - 1, "runnable"},
		{"goroutine 7", 0, ""},
		{"goroutine x [running]:", 0, "running"},
		{"goroutine 0 [idle]:", 0, "idle"},
		{"created by main.main in goroutine 1", 0, ""},
		{"", 0, ""},
	} {
		id, ok := Number(test.text)
		if !ok {
			id = 0
		}
		if state := State(test.text); id != test.id || ok != (test.id != 0) || state != test.state {
			t.Errorf("%q: got %d, %v, %q, want %d, %q", test.text, id, ok, state, test.id, test.state)
		}
	}
}

// TestLabels checks the header of a goroutine with labels, which depends on the release of Go.
func TestLabels(t *testing.T) {
	pprof.Do(t.Context(), pprof.Labels("a", "b, ]", "c", "d"), func(context.Context) {
		var buf [256]byte
		text := string(buf[:runtime.Stack(buf[:], false)])
		id, ok := Number(text)
		if !ok || id != Current() || State(text) != "running" {
			t.Errorf("%q: got %d, %v, %q", text, id, ok, State(text))
		}
	})
}

func BenchmarkCurrent(b *testing.B) {
	b.Run("fast", func(b *testing.B) {
		for b.Loop() {
			Current()
		}
	})
	b.Run("runtime.Stack", func(b *testing.B) {
		for b.Loop() {
			fromStack()
		}
	})
	b.Run("start", func(b *testing.B) {
		for b.Loop() {
			find("")
		}
	})
}
