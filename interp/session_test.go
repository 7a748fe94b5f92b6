package interp

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/native"
	"halfnote/kernel/eval"
)

// TestBanner checks that the banner names the engine that runs the cells.
func TestBanner(t *testing.T) {
	for engine, want := range map[string]string{"": "cells run by yaegi", "yaegi": "cells run by yaegi"} {
		if got := newSessionOn(t, engine).Language().Banner; !strings.Contains(got, want) {
			t.Errorf("engine %q: got banner %q, want one with %q", engine, got, want)
		}
	}
	s := newSessionOn(t, Compiled)
	want := "compiled cells"
	if CompiledCells() != nil {
		want = "cells run by yaegi"
	}
	if got := s.Language().Banner; !strings.Contains(got, want) {
		t.Errorf("got banner %q, want one with %q", got, want)
	}
}

// TestIsComplete checks whether a front end is asked to run a cell or to continue it.
func TestIsComplete(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ code, status, indent string }{
		{"x := 1", "complete", ""},
		{"", "complete", ""},
		{"func f() {", "incomplete", "    "},
		{"func f() {\n\tfor {", "incomplete", "        "},
		{"fmt.Println(", "incomplete", "    "},
		{"x := 1 +", "incomplete", ""},
		{"s := `raw", "incomplete", ""},
		{"/* comment", "incomplete", ""},
		{"s := \"text", "invalid", ""},
		{"x := )", "invalid", ""},
		{"x := := 1", "invalid", ""},
		{"%vars", "complete", ""},
	} {
		if got := s.IsComplete(c.code); got.Status != c.status || got.Indent != c.indent {
			t.Errorf("IsComplete(%q): got %+v, want %q with indent %q", c.code, got, c.status, c.indent)
		}
	}
}

// TestNotCounted checks that uncounted cells, which carry the number of another cell,
// leave that cell's state alone.
func TestNotCounted(t *testing.T) {
	s := newSession(t)
	evaluate := func(c eval.Cell) string {
		rec := &recorder{}
		return rec.text(s.Eval(context.Background(), c, rec))
	}
	evaluate(eval.Cell{Code: "x := 20\nfunc f() { panic(\"in f\") }\nx + 1", Count: 1})
	if got := evaluate(eval.Cell{Code: "x + 2", Count: 1, Silent: true}); got != "= 22\n" {
		t.Errorf("silent: got %q", got)
	}
	if got := evaluate(eval.Cell{Code: "x + 3", Count: 1}); got != "= 23\n" {
		t.Errorf("out of the history: got %q", got)
	}
	if got := evaluate(eval.Cell{Code: "nosuch", Count: 1, Silent: true}); !strings.Contains(got, "In[ ], line 1") {
		t.Errorf("error in a silent cell: got %q", got)
	}
	if got := evaluate(eval.Cell{Code: "fmt.Sprint(_, \"/\", Out[1], \"/\", In[1])", Count: 2}); !strings.HasPrefix(got, "= 21/21/x := 20") {
		t.Errorf("got %q, want the value and the text of In[1]", got)
	}
	if got := evaluate(eval.Cell{Code: "f()", Count: 3}); !strings.Contains(got, "In[1], line 2, in f\n    2 | func f()") {
		t.Errorf("got %q, want the line of In[1]", got)
	}
}

// TestTwoSessions checks that two sessions of one process share nothing.
func TestTwoSessions(t *testing.T) {
	a, b := newSession(t), newSession(t)
	evalFor(t, a, 1, "x := 1", "")
	if got := evalFor(t, b, 1, "x", ""); !strings.Contains(got, "undefined: x") {
		t.Errorf("the other session's x: got %q, want an error", got)
	}
	evalFor(t, b, 2, "x := \"b\"\ngo func() { for { time.Sleep(time.Millisecond) } }()", "")
	if got := evalFor(t, a, 2, "for {}", "20ms"); !strings.HasPrefix(got, "Interrupted") {
		t.Errorf("got %q, want an interrupt", got)
	}
	if got := evalFor(t, b, 3, "x", ""); got != "= b\n" {
		t.Errorf("got %q, want b", got)
	}
}

// TestDiagnosisOfTwoSessions checks that a diagnosis observes the operations of goroutines that earlier cells of its session have started, and none of
// another session's cells and their goroutines, which run meanwhile.
func TestDiagnosisOfTwoSessions(t *testing.T) {
	begun, done := filepath.Join(t.TempDir(), "begun"), filepath.Join(t.TempDir(), "done")
	waits := fmt.Sprintf(`import "os"
write := func(name string) { os.WriteFile(name, nil, 0o600) }
await := func(name string) { for { if _, err := os.Stat(name); err == nil { return }; time.Sleep(time.Millisecond) } }
begun, done := %q, %q`, begun, done)
	a, b := newSession(t), newSession(t)
	evalFor(t, a, 1, waits, "")
	evalFor(t, b, 1, waits, "")
	evalFor(t, a, 2, `todo, finished := make(chan *tensor.Tensor), make(chan bool)
go func() { for x := range todo { x.Neg(); finished <- true } }()`, "")
	other := make(chan string)
	go func() {
		other <- evalFor(t, b, 2, `x := tensor.Ones(2)
await(begun)
x.Neg(); x.Neg()
ended := make(chan bool)
go func() { x.Neg(); ended <- true }()
<-ended
write(done)`, "")
	}()
	got := evalFor(t, a, 3, `net, x := nn.NewLinear(2, 2), tensor.Ones(1, 2)
diagnose.Lint(net, func() { x.Neg(); write(begun); await(done); todo <- x; <-finished }).Operations`, "")
	if got != "= 4\n" {
		t.Errorf("Lint counts %q operations, want the 4 of two steps", got)
	}
	if got := <-other; got != "" {
		t.Errorf("the other session: %q", got)
	}
}

// TestLateOutput checks that output after the end of a cell goes to that cell.
func TestLateOutput(t *testing.T) {
	s := newSession(t)
	evaluate := func(n int, code string) *recorder {
		rec := &recorder{}
		if r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n}, rec); r.Err != nil {
			t.Fatal(r.Err)
		}
		return rec
	}
	first := evaluate(1, "c := make(chan bool)\ndone := make(chan bool)\ngo func() { <-c; fmt.Println(\"of the first\"); display.Show(1); done <- true }()")
	second := evaluate(2, "c <- true\n<-done\nfmt.Println(\"of the second\")")
	if got := first.text(eval.Result{}); got != "of the first\ndisplay 1\n" {
		t.Errorf("first cell: got %q", got)
	}
	if got := second.text(eval.Result{}); got != "of the second\n" {
		t.Errorf("second cell: got %q", got)
	}
}

// TestMemory checks that a redeclared variable is released, whatever its type, and so
// is the value of an expression that was shown. It is must-test 3.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s := newSession(t)
	evalFor(t, s, 1, "x := make([]byte, 64<<20)", "")
	for n := range 8 {
		evalFor(t, s, 2+2*n, "x := \"text\"", "")
		evalFor(t, s, 3+2*n, "x := make([]byte, 64<<20)\nlen(x)", "")
		evalFor(t, s, 4+2*n, "make([]byte, 64<<20)[:1]", "")
	}
	evalFor(t, s, 90, "x := 0", "")
	if more := int64(heap() - before); more > 100<<20 {
		t.Errorf("the heap grew by %d MB after 16 cells of 64 MB each, want at most the size of one", more>>20)
	}
}

// TestMemoryOfManyCells checks that ten thousand cells take less than 10 MB: a cell
// that runs again replaces its earlier run.
func TestMemoryOfManyCells(t *testing.T) {
	var grown uint64
	const cells = 500 // with fewer, the doubling of tables shows
	codes := []string{
		"a := %d\na + 1",
		"for i := range 3 {\n\ta += i + %d\n}\nfmt.Sprint(a)",
		"f := func(x int) int { return x + %d }\nf(2)",
		"func g(x int) int { return x * %d }\ng(3)",
	}
	for _, code := range codes {
		s := newSession(t)
		evalFor(t, s, 0, "a := 0", "")
		run := func(from, to int) (heap uint64) {
			for n := from; n < to; n++ {
				evalFor(t, s, n, fmt.Sprintf(code, n), "")
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := run(1, 100)
		if after := run(100, 100+cells); after > before {
			grown += after - before
		}
	}
	each := grown / uint64(cells*len(codes))
	t.Logf("%d bytes per cell", each)
	if each > 1000 {
		t.Errorf("%d bytes per cell, want at most 1000", each)
	}
}

// TestMemoryNative checks that each small cell takes less than 8 KB, and one that declares a type less than 10 KB, code and data
// included.
func TestMemoryNative(t *testing.T) {
	needNative(t)
	const warm = 40
	for _, code := range []string{
		"%d + 1",
		"a := %d\na + 1",
		"for i := range 3 {\n\tn += i + %d\n}\nfmt.Print(n)",
		"f := func(x int) int { return x + n + %d }\nf(2)",
		"func g(x int) int { return x * %d }\ng(3)",
		"go fmt.Sprint(n + %d)",
		"x := tensor.Ones(2, %d)\nx.Add(x)",
		"type T%d struct{ a int }\nfunc (t T%[1]d) M() int { return t.a + n }\nT%[1]d{%[1]d}.M()",
	} {
		s := newSessionOn(t, Compiled)
		evalFor(t, s, 0, "n := 0", "")
		used := func() int {
			runtime.GC()
			runtime.GC() // what finalizers release
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc) + s.engine.(*native.Engine).Size()
		}
		run := func(from, to int) {
			for n := from; n < to; n++ {
				evalFor(t, s, n, fmt.Sprintf(code, n), "")
			}
		}
		cells, most := 60, 8<<10
		if strings.HasPrefix(code, "type") {
			cells, most = 500, 10<<10 // the runtime's table of names and types doubles from time to time
		}
		run(1, warm)
		before := used()
		run(warm, warm+cells)
		each := (used() - before) / cells
		t.Logf("%q: %d bytes", code, each)
		if each > most {
			t.Errorf("%q: %d bytes per cell, want at most %d", code, each, most)
		}
	}
}

// TestInterruptedCompilation interrupts a cell that the compiler works on: the cell ends without effect, and the session goes on.
func TestInterruptedCompilation(t *testing.T) {
	needNative(t)
	s := newSessionOn(t, Compiled)
	evalFor(t, s, 1, "n := 1", "")
	var code strings.Builder // one long function, on which the compiler works many times as long as the front end
	code.WriteString("func long(x int) int { s := x\n")
	for i := range 3000 {
		fmt.Fprintf(&code, "if s > %d { s += x * %d } else { s ^= x }\n", i, i)
	}
	code.WriteString("return s }\nn = 2")
	cell := eval.Cell{Code: code.String(), Count: 2}
	start := time.Now()
	if _, err := s.examine(cell, &recorder{}); err != nil {
		t.Fatal(err)
	}
	before := s.engine.(*native.Engine).Compiled()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Since(start))
	defer cancel()
	r := s.Eval(ctx, cell, &recorder{})
	if r.Err == nil || r.Err.Name != "Interrupted" {
		t.Fatalf("got %v, want Interrupted", r.Err)
	}
	if n := s.engine.(*native.Engine).Compiled(); n != before {
		t.Errorf("%d units were compiled, want none", n-before)
	}
	if got := evalFor(t, s, 3, "n", ""); got != "= 1\n" {
		t.Errorf("after the interrupt: got %q, want 1", got)
	}
}

// TestInterruptedFrontEnd interrupts a cell that the type checker holds up: the cell ends without effect although the checker continues,
// and the next cell waits for it.
func TestInterruptedFrontEnd(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "x := 1", "")
	s.checking.Lock()
	for n := 2; n < 4; n++ { // the second one does not even begin
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		r := s.Eval(ctx, eval.Cell{Code: "x = 2\nheld := 3", Count: n}, &recorder{})
		if r.Err == nil || r.Err.Name != "Interrupted" {
			t.Fatalf("got %v, want Interrupted", r.Err)
		}
	}
	s.checking.Unlock()
	if got := evalFor(t, s, 4, "x", ""); got != "= 1\n" {
		t.Errorf("after the interrupt: got %q, want 1", got)
	}
	if got := evalFor(t, s, 5, "held", ""); !strings.Contains(got, "undefined: held") {
		t.Errorf("after the interrupt: got %q, want a name that is not declared", got)
	}
	if got := evalFor(t, s, 6, "held := x + 1\nheld", ""); got != "= 2\n" {
		t.Errorf("after the interrupt: got %q, want 2", got)
	}
}

// TestLongPanic checks that the text of a panic is shortened.
func TestLongPanic(t *testing.T) {
	got := evalFor(t, newSession(t), 1, `panic(strings.Repeat("x", 100<<20))`, "")
	if !strings.HasPrefix(got, "Panic\npanic: xxx") || len(got) > 100_000 {
		t.Errorf("got %d bytes, beginning with %q, want a panic with fewer", len(got), got[:min(20, len(got))])
	}
}

// TestGoroutinesEnd checks that goroutines of interrupted cells end. It is part of
// must-test 2.
func TestGoroutinesEnd(t *testing.T) {
	s := newSession(t)
	before := runtime.NumGoroutine()
	for n := range 5 {
		evalFor(t, s, n+1, "for range 4 { go func() { for {} }() }\nselect {}", "20ms")
	}
	if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
		t.Errorf("%d goroutines, want the initial %d", runtime.NumGoroutine(), before)
	}
}

// TestNeeds checks that the rewrites that an engine asks for exist.
func TestNeeds(t *testing.T) {
	known := map[string]bool{}
	for _, r := range lower.Rewrites {
		known[r.Name] = true
	}
	needs := newSession(t).engine.Needs().Rewrites
	if !slices.IsSorted(needs) {
		t.Errorf("needs are not sorted: %v", needs)
	}
	for _, name := range needs {
		if !known[name] {
			t.Errorf("unknown rewrite %q", name)
		}
	}
}

// TestCaptureProcessOutput checks that output of compiled code goes to the calling
// cell, before the cell ends.
func TestCaptureProcessOutput(t *testing.T) {
	s := newSession(t)
	restore, err := CaptureProcessOutput(s)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	s.support.Add(map[string]any{"Zero": func(string) { fmt.Println("compiled") }})
	evalFor(t, s, 1, "var x int", "")
	if got := evalFor(t, s, 2, "fmt.Println(1)\nvar x int\nfmt.Println(2)", ""); len(got) != len("1\n2\ncompiled\n") || !strings.Contains(got, "compiled\n") {
		t.Errorf("got %q", got)
	}
}

// BenchmarkCell takes the smallest cell through all steps, in a new session and in one
// with many declarations.
func BenchmarkCell(b *testing.B) {
	for _, declared := range []int{0, 1000} {
		b.Run(fmt.Sprintf("declarations=%d", declared), func(b *testing.B) {
			s := newSession(b)
			for n := range declared / 2 {
				evalFor(b, s, n+1, fmt.Sprintf("x%d := []int{%d}\nfunc f%d(i int) int { return x%d[i] }", n, n, n, n), "")
			}
			out := &recorder{}
			n := 0
			for b.Loop() {
				n++
				if r := s.Eval(context.Background(), eval.Cell{Code: "1 + 1", Count: n % 10}, out); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// BenchmarkCheckAndLower takes a cell of a training loop through all steps before the
// engine, in a session with a few declarations.
func BenchmarkCheckAndLower(b *testing.B) {
	s := newSession(b)
	evalFor(b, s, 1, "type P struct{ X, Y int }\nfunc (p P) Sum() int { return p.X + p.Y }\nfunc f(n int) int { return n }\nxs := []int{1, 2}\nm := map[string]P{}", "")
	code := "for i := range 10 {\n\tfor _, x := range xs {\n\t\tm[fmt.Sprint(i)] = P{x, f(i)}\n\t\tif m[\"1\"].Sum() > 3 {\n\t\t\tbreak\n\t\t}\n\t}\n}"
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		files := &front.Files{}
		if _, err := s.prepare(request{ctx: b.Context(), out: &recorder{}}, s.front.Input(2, code, files, false)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		s.front.Release(files)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}

func BenchmarkSession(b *testing.B) {
	for b.Loop() {
		newSession(b)
	}
}
