package interp

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/front"
	"halfnote/kernel/eval"
	"halfnote/tensor/driver"
)

// TestInterruptTime checks that an interrupt ends a cell quickly, whatever it is doing, and
// that the state of earlier cells stays usable. It is must-test 11.
func TestInterruptTime(t *testing.T) {
	setup := `import ("sync"; "sync/atomic"; "context"; "regexp"; "slices")
f := func(x int) int { return x + 1 }
var mu, held sync.Mutex
held.Lock()
var rw sync.RWMutex
var wg sync.WaitGroup
wg.Add(1)
cond := sync.NewCond(&mu)
c := make(chan int)
n := 0
var ticks atomic.Int64
go func() { for { ticks.Add(1); time.Sleep(time.Millisecond) } }()
xs := make([]int, 1<<20)
for i := range xs { xs[i] = i * 7919 % 1048583 }
func rec(k int) int { if k == 0 { return 0 }; return rec(k-1) + rec(k-1) }
type Rec struct{ v int }
func (r *Rec) Walk(k int) int { if k == 0 { return r.v }; return r.Walk(k-1) + r.Walk(k-1) }
big, small := tensor.Ones(6144, 6144), tensor.Ones(64, 64)
`
	cells := []struct{ name, code string }{
		{"loop", "for {}"},
		{"loop with a call", "for { n = f(n) }"},
		{"range over a function", "for i := range func(yield func(int) bool) { for yield(1) {} } { n += i }"},
		{"goto", "again:\n\tn++\n\tgoto again"},
		{"recursion", "rec(80)"},
		{"method recursion", "(&Rec{1}).Walk(80)"},
		{"Sleep", "time.Sleep(time.Hour)"},
		{"receive", "<-c"},
		{"receive of two", "v, ok := <-c; fmt.Println(v, ok)"},
		{"send", "c <- 1"},
		{"range over a channel", "for range c {}"},
		{"select", "select { case <-c: case c <- 1: }"},
		{"empty select", "select {}"},
		{"select in a loop", "for { select { case <-c: default: } }"},
		{"timer", "<-time.After(time.Hour)"},
		{"context", "<-context.Background().Done()"},
		{"Mutex", "held.Lock()"},
		{"Locker", "var l sync.Locker = &held; l.Lock()"},
		{"RWMutex", "rw.RLock(); rw.Lock()"},
		{"WaitGroup", "wg.Wait()"},
		{"Cond", "mu.Lock(); defer mu.Unlock(); cond.Wait()"},
		{"Cond in a loop", "func() { mu.Lock(); defer mu.Unlock(); for n >= 0 { cond.Wait() } }()"},
		{"goroutines", "for range 4 { wg.Add(1); go func() { defer wg.Done(); for {} }() }\nwg.Wait()"},
		{"tensor operation", "big.MatMul(big)"},
		{"tensor operations in a loop", "for { small.Add(small) }"},
		{"callback", "for { sort.Slice(xs, func(i, j int) bool { return xs[i]*7 % 1000003 < xs[j]*7 % 1000003 }) }"},
		{"one long callback", "strings.Map(func(r rune) rune { for { n++ } }, \"x\")"},
		{"callbacks of one call", "sort.Slice(xs, func(i, j int) bool { return xs[i]*11 % 1000003 < xs[j]*11 % 1000003 })"},
		{"deferred function", "defer func() { for { n++ } }()"},
		{"deferred function of a panic", "defer func() { for { n++ } }()\npanic(1)"},
		{"recover in a loop", "for { func() { defer func() { recover() }(); for { n++ } }() }"},
		{"recover of panics in a loop", "for { func() { defer func() { recover() }(); panic(1) }() }"},
		{"methods that fmt calls", "type Q struct{}\nfunc (Q) String() string { for range 1 << 20 { n++ }; return \"\" }\nfor { _ = fmt.Sprint(Q{}) }"},
		{"method String", "type S struct{}\nfunc (S) String() string { for { n++ } }\nS{}"},
	}
	s := newSession(t)
	defer driver.SetHost(driver.SetHost(driver.Host{Poll: s.Poll}))
	if got := evalFor(t, s, 1, setup, ""); got != "" {
		t.Fatal(got)
	}
	const soon = 1500 * time.Millisecond // under 100 ms on an idle machine
	n := 1
	stop := func(code string) (took time.Duration, err *eval.Error) {
		n++
		out := &recorder{}
		ctx := interruptAfter(t.Context(), s, out, 40*time.Millisecond)
		asked := make(chan time.Time, 1)
		context.AfterFunc(ctx, func() { asked <- time.Now() })
		r := s.Eval(ctx, eval.Cell{Code: code, Count: n}, out)
		return time.Since(<-asked), r.Err
	}
	for _, c := range cells {
		least := time.Duration(math.MaxInt64)
		for attempt := 0; attempt < 10 && least > soon; attempt++ { // another process may delay one
			took, err := stop(c.code)
			if err == nil || err.Name != "Interrupted" || strings.Contains(err.Value, "left behind") {
				t.Errorf("%s: got %+v, want an interrupt", c.name, err)
				break
			}
			least = min(least, took)
		}
		t.Logf("%-28s %v", c.name, least)
		if least > soon {
			t.Errorf("%s: the least time in which an interrupt stopped the cell was %v", c.name, least)
		}
	}
	before := evalFor(t, s, 90, "ticks.Load() > 0", "")
	if got := evalFor(t, s, 91, "for m := ticks.Load(); ticks.Load() == m; { time.Sleep(time.Millisecond) }\nfmt.Println(f(1), rec(3))", ""); got != "2 0\n" {
		t.Errorf("after all interrupts: got %q (before: %s)", got, before)
	}
}

// TestCellIsLeftBehind checks that the session leaves behind a cell that does not stop
// because it waits for compiled code: later cells run, and the cell's goroutine ends at its
// next loop or call after the compiled code returns. It is part of must-test 2.
func TestCellIsLeftBehind(t *testing.T) {
	s, err := NewSession(Options{Engine: *engineName, Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	evalFor(t, s, 1, "import (\"io\"; \"os\")\nr, w := io.Pipe()\nn := 0\nf := func() int { n++; return n }", "")
	before := runtime.NumGoroutine()
	got := evalFor(t, s, 2, "io.ReadAll(r)\nfor { n += 1000 }", "20ms")
	if !strings.Contains(got, "left behind") {
		t.Fatalf("got %s, want it left behind", got)
	}
	if got := evalFor(t, s, 3, "f() + f()", ""); got != "= 3\n" {
		t.Errorf("a cell after the one left behind: got %s, want 3", got)
	}
	evalFor(t, s, 4, "w.Close()", "")
	if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines, want the %d before", runtime.NumGoroutine(), before)
	}
	if got := evalFor(t, s, 5, "f()", ""); got != "= 3\n" {
		t.Errorf("the cell left behind ran on: got %s, want 3", got)
	}
	s.opts.Grace = patience
	if got := evalFor(t, s, 6, "for {}", "20ms"); !strings.HasPrefix(got, "Interrupted") || strings.Contains(got, "left behind") {
		t.Errorf("an interrupt afterwards: got %s", got)
	}
}

// TestGoroutinesOutliveTheirCell checks that goroutines of cells continue while later cells
// run. It is must-test 14, for the race detector.
func TestGoroutinesOutliveTheirCell(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, `import ("sync"; "sync/atomic")
var total atomic.Int64
var mu sync.Mutex
seen := map[int]int{}
work, quit := make(chan int), make(chan bool)
for range 3 {
	go func() {
		for {
			select {
			case n := <-work:
				mu.Lock()
				seen[n]++
				mu.Unlock()
			case <-quit:
				return
			default:
				total.Add(1)
				time.Sleep(time.Millisecond)
			}
		}
	}()
}
func twice(n int) int { return 2 * n }`, "")
	for n := range 30 {
		code := fmt.Sprintf("work <- %d\nfor i := range 100 { twice(i) }\nfunc twice(n int) int { return %d * n }\nfmt.Sprint(twice(1))", n, n)
		if got, want := evalFor(t, s, n+2, code, ""), fmt.Sprintf("= %d\n", n); got != want {
			t.Errorf("cell %d: got %q, want %q", n, got, want)
		}
		if n%10 == 9 {
			evalFor(t, s, 50, "for {}", "5ms")
		}
	}
	if got := evalFor(t, s, 60, "for total.Load() == 0 { time.Sleep(time.Millisecond) }\nfor range 3 { quit <- true }\nmu.Lock()\nfmt.Println(len(seen))\nmu.Unlock()", ""); got != "30\n" {
		t.Errorf("got %q, want all 30 pieces of work seen", got)
	}
}

// TestOutOfMemory checks that excessive allocation ends the cell with an error that names
// the requested size.
func TestOutOfMemory(t *testing.T) {
	s, err := NewSession(Options{Memory: 256 << 20, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	evalFor(t, s, 1, "x := 41", "")
	for i, c := range []struct{ code, want string }{
		{"var all [][]byte\nfor { all = append(all, make([]byte, 1<<20)) }", "out of memory: "},
		{"all = nil", ""},
		{"s := []int{1}\nfor { s = append(s, s...) }", "out of memory: "},
		{"s = nil", ""},
		{"m := map[int][]int{}\nfor i := 0; ; i++ { m[i] = make([]int, 1000) }", "out of memory: "},
		{"m = nil", ""},
		{"make([]float64, 1<<30)", "panic: out of memory: 8.0 GiB requested"},
		{"tensor.Zeros(1<<24, 1<<20)", "64.0 TiB requested"},
		{"[]int{1 << 33: 1}", "64.0 GiB requested"},
		{"func g() []string { return []string{2: \"a\", 1 << 30: \"b\", 1: \"c\"} }", "16.0 GiB requested"},
		{"[][]byte{{1 << 40: 1}}", "1.0 TiB requested"},
		{"len([]byte{1 << 20: 1})", "= 1048577"},
		{"func f() (err any) { defer func() { err = recover() }(); _ = make([]byte, 1<<33); return }\nf()", "out of memory: 8.0 GiB requested"},
		{"x + 1", "= 42"},
	} {
		got := evalFor(t, s, i+2, c.code, "")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s\ngot %s\nwant %s", c.code, got, c.want)
		}
	}
}

// TestLongConstants checks which constant strings are refused, in a cell and over several.
func TestLongConstants(t *testing.T) {
	s := newSession(t)
	double := "const a0 = `" + strings.Repeat("x", 1<<10) + "`\n"
	for i := range 12 {
		double += fmt.Sprintf("const a%d = a%d + a%d\n", i+1, i, i)
	}
	const refused = "constant string of 8.0 MiB; want at most 4.0 MiB"
	for i, c := range []struct{ code, want string }{
		{double + "len(a12)", "= 4194304"},
		{"const b = a12 + a12", refused},
		{"len(a12 + (a12))", refused},
		{"type S string; len(S(a12) + S(a12))", refused},
		{"func f() string { const c = a12; return c + c }", refused},
		{"const ( d, e = a11, 1; g, h ); len(d + g)", "= 4194304"},
		{"const ( i, j = a11, 1; k, l ); len(i + k + i + k)", refused},
		{"b := a12; len(b + b)", "= 8388608"},
		{"a0[0]", "= 120"},
	} {
		if got := evalFor(t, s, i+1, c.code, ""); !strings.Contains(got, c.want) {
			t.Errorf("%.80s\ngot %.300s\nwant %s", c.code, got, c.want)
		}
	}
}

// TestOutputsAreBounded checks that the session keeps only the last values that cells
// showed.
func TestOutputsAreBounded(t *testing.T) {
	s := newSession(t)
	for n := range front.MaxOuts + 1 {
		evalFor(t, s, n+1, fmt.Sprint(n+1), "")
	}
	if got := evalFor(t, s, 500, "Out[2];", ""); got != "" {
		t.Errorf("Out[2]: got %s, want it kept", got)
	}
	if got := evalFor(t, s, 501, "Out[1]", ""); !strings.Contains(got, "not kept") {
		t.Errorf("Out[1]: got %s, want it dropped", got)
	}
}
