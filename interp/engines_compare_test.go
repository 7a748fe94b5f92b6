package interp

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/eval"
)

var compare = flag.Bool("compare", false, "measure the engines and print the table of docs/cells.md")

// compareVar is the environment variable with the engine that a child process measures.
const compareVar = "HALFNOTE_TEST_COMPARE"

// measure is one line of the table: a measurement of one engine, and its format.
type measure struct {
	Name, Value string
}

// TestCompareEngines measures the engines, each in a separate process, and prints a
// table. It asserts nothing, so it runs only with -compare.
func TestCompareEngines(t *testing.T) {
	if !*compare {
		t.Skip("needs the flag -compare")
	}
	columns := map[string][]measure{}
	for _, engine := range Engines {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCompareChild$", "-test.timeout=20m")
		cmd.Env = append(os.Environ(), compareVar+"="+engine)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(out), "measures: ")
		var list []measure
		if err := json.NewDecoder(strings.NewReader(text)).Decode(&list); err != nil {
			t.Fatal(err)
		}
		columns[engine] = append(list, measure{"Go's test programs that pass", passing(t, engine)})
	}
	for i, m := range columns[Engines[0]] {
		line := fmt.Sprintf("%-42s", m.Name)
		for _, engine := range Engines {
			line += fmt.Sprintf("%16s", columns[engine][i].Value)
		}
		fmt.Println(line)
	}
}

// TestCompareChild is the child process of TestCompareEngines.
func TestCompareChild(t *testing.T) {
	engine := os.Getenv(compareVar)
	if engine == "" {
		t.Skip("runs only as a child process of TestCompareEngines")
	}
	var list []measure
	add := func(name, format string, args ...any) {
		list = append(list, measure{name, fmt.Sprintf(format, args...)})
	}
	start := time.Now()
	s := newSessionOn(t, engine)
	n := 0
	evaluate := func(code string) time.Duration {
		n++
		start := time.Now()
		if r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n}, &recorder{}); r.Err != nil {
			t.Fatalf("%s: %s", code, r.Err.Value)
		}
		return time.Since(start)
	}
	evaluate("fmt.Sprint(1)")
	add("session and first cell", "%.0f ms", ms(time.Since(start)))
	evaluate("type P struct{ X int }\nfunc (p *P) Inc() { p.X++ }\n" +
		"func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\n" +
		"func adds(n int) int { s := 0; for i := 0; i < n; i++ { s += i }; return s }\n" +
		"func sqrts(n int) float64 { s := 0.0; for i := 0; i < n; i++ { s += math.Sqrt(2) }; return s }\n" +
		"func incs(n int) int { p := &P{}; for i := 0; i < n; i++ { p.Inc() }; return p.X }\n" +
		"func news(n int) int { m := map[string][]int{}; for i := 0; i < n; i++ { k := fmt.Sprint(i % 100); m[k] = append(m[k], i) }; return len(m) }")
	add("fib(30), 1.3 million calls", "%.2f s", best(3, func() time.Duration { return evaluate("fib(30)") }).Seconds())
	add("10 million additions in a loop", "%.2f s", best(3, func() time.Duration { return evaluate("adds(10_000_000)") }).Seconds())
	add("a call of a method, in a loop", "%.0f ns", float64(best(3, func() time.Duration { return evaluate("incs(1_000_000)") }))/1e6)
	add("a call of compiled code, in a loop", "%.0f ns", float64(best(3, func() time.Duration { return evaluate("sqrts(1_000_000)") }))/1e6)
	add("an iteration with fmt, a map and append", "%.0f ns", float64(best(3, func() time.Duration { return evaluate("news(100_000)") }))/1e5)
	add("the cell 1 + 1, median", "%.2f ms", ms(median(300, func() time.Duration { return evaluate("1 + 1") })))
	add("an interrupt, median", "%.1f ms", ms(median(20, func() time.Duration {
		ctx, cancel := context.WithCancel(context.Background())
		var at time.Time
		time.AfterFunc(20*time.Millisecond, func() { at = time.Now(); cancel() })
		n++
		s.Eval(ctx, eval.Cell{Code: "for { fib(3) }", Count: n}, &recorder{})
		return time.Since(at)
	})))
	for range 500 {
		evaluate("v := fmt.Sprint(3)\nv + \"!\"")
	}
	before := resident(t)
	for range 10_000 {
		evaluate("v := fmt.Sprint(3)\nv + \"!\"")
	}
	add("memory that 10 000 cells leave", "%.1f MB", float64(resident(t)-before)/(1<<20))
	add("total memory after that", "%.0f MB", float64(resident(t))/(1<<20))
	add("the cell 1 + 1 after that, median", "%.2f ms", ms(median(300, func() time.Duration { return evaluate("1 + 1") })))
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("measures: %s\n", data)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func best(n int, f func() time.Duration) time.Duration {
	d := f()
	for range n - 1 {
		d = min(d, f())
	}
	return d
}

func median(n int, f func() time.Duration) time.Duration {
	var list []time.Duration
	for range n {
		list = append(list, f())
	}
	slices.Sort(list)
	return list[n/2]
}

// passing returns the number of programs in an engine's list.
func passing(t *testing.T, engine string) string {
	file := "testdata/gotest/pass.txt"
	if engine != Engines[0] {
		file = "testdata/gotest/pass-" + engine + ".txt"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, of, _ := strings.Cut(strings.SplitN(string(text), "\n", 2)[0], " of ")
	_, of, _ = strings.Cut(of, ": ")
	_, of, _ = strings.Cut(of, " of ")
	of, _, _ = strings.Cut(of, ".")
	return fmt.Sprintf("%d of %s", len(readList(t, file)), of)
}

// resident returns the resident memory of the process after garbage collection.
func resident(t *testing.T) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("needs Linux: ", err)
	}
	var total, pages int64
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
