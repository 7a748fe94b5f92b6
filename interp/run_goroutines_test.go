package interp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"halfnote/internal/testenv"
)

// runaways are cells that leave goroutines, with what %goroutines says of them.
var runaways = []struct{ code, does, where string }{
	{"go func() {\n\tfor {\n\t}\n}()", "computes", "line 2"},
	{"go func() {\n\tfor i := 0; ; i++ { _ = i }\n}()", "computes", "line 2"},
	{"func spin(n int) int { if n == 0 { return 0 }; return spin(n-1) + spin(n-1) }\ngo func() { for {\n\tspin(12)\n} }()", "computes", "line [12]"},
	{"quit := make(chan int)\ngo func() {\n\t<-quit\n}()", "waits to receive", "line 3"},
	{"lines := make(chan int)\ngo func() {\n\tfor range lines { }\n}()", "waits to receive", "line 3"},
	{"full := make(chan int)\ngo func() {\n\tfull <- 1\n}()", "waits to send", "line 3"},
	{"go func() {\n\n\tselect {}\n}()", "waits in a select", "line 3"},
	{"go func() { for {\n\ttime.Sleep(time.Hour)\n} }()", "sleeps", "line 2"},
	{"import \"sync\"\nvar mu sync.Mutex\nmu.Lock()\ngo func() {\n\tmu.Lock()\n}()", "waits for a lock", "line 5"},
	{"import \"sync\"\nvar rw sync.RWMutex\nrw.Lock()\ngo func() {\n\trw.RLock()\n}()", "waits for a lock", "line 5"},
	{"import \"sync\"\nvar wg sync.WaitGroup\nwg.Add(1)\ngo func() {\n\twg.Wait()\n}()", "waits for a wait group", "line 5"},
	{"import \"sync\"\nvar cm sync.Mutex\ncond := sync.NewCond(&cm)\ngo func() {\n\tcm.Lock()\n\tcond.Wait()\n}()", "waits for a condition", "line 6"},
	{"import \"sync\"\nvar group sync.WaitGroup\ngroup.Go(func() {\n\tselect {}\n})", "waits in a select", "line 4"},
	{"import \"io\"\nr, w := io.Pipe()\ngo func() {\n\tr.Read(make([]byte, 1)); for {}\n}()\n_ = w", "in io.PipeReader.Read (select)", "started at In[N], line 3"},
}

// TestGoroutines leaves goroutines of many kinds running. %goroutines says what each does and where, and %stop ends those of
// a cell and of no other.
func TestGoroutines(t *testing.T) {
	for _, engine := range tested(t) {
		t.Run(engine, func(t *testing.T) {
			s := newSessionOn(t, engine)
			if got, want := evalFor(t, s, 1, "%goroutines", ""), "= no cell has left a goroutine running\n"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			for i, c := range runaways {
				if got := evalFor(t, s, 10+i, c.code, ""); got != "" {
					t.Fatalf("%s:\n%s", c.code, got)
				}
			}
			list := ""
			n := 100
			for i, c := range runaways {
				where := fmt.Sprintf("In[%d], %s", 10+i, c.where)
				if strings.Contains(c.where, "N") {
					where = strings.Replace(c.where, "N", fmt.Sprint(10+i), 1)
				}
				want := regexp.MustCompile(fmt.Sprintf(`(?m)In\[%d\] +1 +%s +%s *$`, 10+i, regexp.QuoteMeta(c.does), strings.NewReplacer("In[", `In\[`, "],", `\],`).Replace(where)))
				if !eventually(func() bool {
					n++
					list = evalFor(t, s, n, "%goroutines", "")
					return want.MatchString(list)
				}) {
					t.Errorf("%s\ngot\n%s\nwant %v", c.code, list, want)
				}
			}
			for i := range runaways[:len(runaways)-1] {
				cell := 10 + i
				n++
				written := []string{fmt.Sprint(cell), fmt.Sprintf("In[%d]", cell)}[i%2]
				got, want := evalFor(t, s, n, "%stop "+written, ""), fmt.Sprintf("= stopped 1 goroutine of In[%d]\n", cell)
				if got != want || slices.Contains(s.live.Busy(), cell) || len(s.live.Busy()) != len(runaways)-i-1 {
					t.Fatalf("%%stop %s: got %q, want %q; goroutines of %v still run", written, got, want, s.live.Busy())
				}
			}
			last := 10 + len(runaways) - 1
			n++
			got, want := evalFor(t, s, n, fmt.Sprintf("%%stop 10, %d", last), ""),
				fmt.Sprintf("= In[10] has no goroutine that runs\na goroutine of In[%d] is in io.PipeReader.Read (select), which cannot be stopped: it ends when that returns\n", last)
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if !eventually(func() bool { return atomic.LoadUint32(s.live.Flag()) == 0 }) {
				t.Error("a goroutine that waits in compiled code slows down all loops")
			}
			if got := evalFor(t, s, n+1, "w.Close()", ""); !eventually(func() bool { return len(s.live.Goroutines()) == 0 }) {
				t.Errorf("got %q, and goroutines %v", got, s.live.Goroutines())
			}
		})
	}
}

// TestManyGoroutines has a cell start goroutines that wait for each other, twice. A default run has fewer of them. The stacks of 100,000 take 2.4 GiB
// with Yaegi, which half of the memory must hold.
func TestManyGoroutines(t *testing.T) {
	n := 20_000
	if testenv.Requires("long") {
		n = 100_000
	}
	const code = `import "sync"
func many(n int) (ended int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for range n {
		wg.Go(func() { <-start; mu.Lock(); defer mu.Unlock(); ended++ })
	}
	close(start)
	wg.Wait()
	return ended
}`
	for _, engine := range tested(t) {
		s, err := NewSession(Options{Engine: engine, Memory: 8 << 30})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		evalFor(t, s, 1, code, "")
		for i := range 2 {
			if got, want := evalFor(t, s, 2+i, fmt.Sprintf("many(%d)", n), ""), fmt.Sprintf("= %d\n", n); got != want {
				t.Errorf("%s: got %q, want %q", engine, got, want)
			}
		}
	}
}

// TestStopCallbacks checks that a timer that sets itself again ends with %stop, although no goroutine runs between its calls.
func TestStopCallbacks(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "import \"sync/atomic\"\nvar ticks atomic.Int64\nvar tick func()\ntick = func() { ticks.Add(1); time.AfterFunc(time.Millisecond, tick) }\ntick()", "")
	count := func(n int) string { return evalFor(t, s, n, "ticks.Load()", "") }
	first := count(2)
	if !eventually(func() bool { return count(3) != first }) {
		t.Fatal("the timer does not run")
	}
	evalFor(t, s, 4, "%stop 1", "")
	evalFor(t, s, 5, "time.Sleep(20 * time.Millisecond)", "") // a call that has begun may still count
	before := count(6)
	evalFor(t, s, 7, "time.Sleep(50 * time.Millisecond)", "")
	if after := count(8); after != before {
		t.Errorf("%q ticks became %q after %%stop", before, after)
	}
}

// TestStopWrong checks what %stop and %goroutines refuse.
func TestStopWrong(t *testing.T) {
	s := newSession(t)
	for i, c := range []struct{ code, want string }{
		{"%stop", "= no cell has left a goroutine running\n"},
		{"%stop 3", "= In[3] has no goroutine that runs\n"},
		{"%stop x", "%stop x: want cells such as In[3] or 3, got x"},
		{"%stop In[x]", "%stop In[x]: want cells such as In[3] or 3, got In[x]"},
		{"%stop -1", "%stop -1: want cells such as In[3] or 3, got -1"},
		{"%goroutines 3", "%goroutines 3: want nothing after the magic; %stop 3 ends the goroutines of a cell"},
	} {
		if got := evalFor(t, s, i+1, c.code, ""); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
	}
}

// TestInterruptTwice checks what interrupts do when no cell is running: the first says how to stop goroutines that cells have left, and a
// second one soon after it stops them.
func TestInterruptTwice(t *testing.T) {
	for _, engine := range tested(t) {
		t.Run(engine, func(t *testing.T) {
			s := newSessionOn(t, engine)
			shown := run(t, s, 1, "go func() { for {} }()\ngo func() { select {} }()", "")
			run(t, s, 2, "x := 1\ngo func() { time.Sleep(time.Hour) }()", "")
			latest := run(t, s, 3, "go func() { for {} }()", "")
			s.Interrupt()
			const note = "stderr: note: goroutines of In[1], In[2], In[3] still run. A second interrupt within two seconds stops them, %stop 3 those of In[3], and %goroutines lists them.\n"
			if !eventually(func() bool { return latest() == note }) || shown() != "" {
				t.Errorf("got %q and %q, want %q in the latest cell", shown(), latest(), note)
			}
			s.Interrupt()
			if !eventually(func() bool { return len(s.live.Goroutines()) == 0 }) {
				t.Errorf("after the second interrupt there are %v", s.live.Goroutines())
			}
			if got := evalFor(t, s, 4, "x", ""); got != "= 1\n" {
				t.Errorf("x: got %q, want 1", got)
			}
		})
	}
}

// TestCompleteStop checks that completion offers the cells that %stop can stop.
func TestCompleteStop(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "1", "")
	for n := 2; n < 4; n++ {
		evalFor(t, s, n, "go func() { select {} }()", "")
	}
	for _, code := range []string{"%stop ", "%stop In", "%stop In[", "%stop In[2] "} {
		var got []string
		for _, m := range s.Complete(code, len(code)).Matches {
			got = append(got, m.Text)
		}
		if want := []string{"In[2]", "In[3]"}; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", code, got, want)
		}
	}
}

// TestTextOfAPanic checks that a method that gives the text of a panic's value neither ends nor blocks the session.
func TestTextOfAPanic(t *testing.T) {
	for _, engine := range tested(t) {
		s := newSessionOn(t, engine)
		for i, c := range []struct{ code, after, want string }{
			{"type A struct{}\nfunc (A) Error() string { panic(1) }\npanic(A{})", "", `panic: \(its text is not available: 1\)|panic: %!v\(PANIC=Error method: 1\)`},
			{"type B struct{}\nfunc (B) Error() string { panic(1) }\nfunc (B) RuntimeError() {}\npanic(B{})", "", `panic: \(its text is not available: 1\)|panic: %!v\(PANIC=Error method: 1\)`},
			{"type C struct{}\nfunc (C) String() string { panic(1) }\npanic(C{})", "", "panic: "},
			{"type D struct{}\nfunc (D) Error() string { for {} }\npanic(D{})", "100ms", "panic: "},
			{"type E struct{}\nfunc (E) Error() string { for {} }\nfunc (E) RuntimeError() {}\npanic(E{})", "100ms", "panic: "},
			{"type F struct{}\nfunc (f F) Error() string { return f.Error() }\npanic(F{})", "", `panic: \(its text is not available: calls nest more than|panic: %!v\(PANIC=Error method: calls nest more than`},
			{"type G struct{}\nfunc (G) Error() string { panic(1) }\nfunc (G) RuntimeError() {}\nfunc() { defer func() { recover() }(); panic(G{}) }()\nfmt.Println(\"on\")", "", "on\n"},
			{"type H struct{}\nfunc (H) Error() string { select {} }\nfunc() { defer func() { recover() }(); panic(H{}) }()\nfmt.Println(\"on\")", "", "on\n"},
			{"6 * 7", "", "= 42\n"},
		} {
			if got := evalFor(t, s, i+1, c.code, c.after); !regexp.MustCompile(c.want).MatchString(got) {
				t.Errorf("%s: %s\ngot  %s\nwant %s", engine, c.code, got, c.want)
			}
		}
	}
}
