package e2e

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/interp"
	"halfnote/kernel/client"
)

var soaking = flag.Duration("soak", 30*time.Minute, "time for which TestSoak runs each engine")

// soaked are cells of a session that goes on for long. Those that do not end are interrupted. %d is a number that no earlier cell has had.
var soaked = []struct {
	code    string
	endless bool
}{
	{"1 + %d", false},
	{"type T%[1]d struct{ a, b int }\nfunc f%[1]d(x int) int { return x + %[1]d }\nx%[1]d := f%[1]d(1)\nT%[1]d{x%[1]d, 2}", false},
	{"func again(x int) int { return x * %d }\nagain(3)", false},
	{"held := make([]byte, 1<<20+%d)\nlen(held)", false},
	{"for i := range 1000 {\n\tfmt.Println(i, %d)\n}", false},
	{"w := tensor.Ones(64, 64).SetRequiresGrad(true)\nw.MatMul(w).Sum().Backward()\nw.Grad().MulScalar(%d)", false},
	{"chart.Loss([]chart.Series{{Name: \"run\", Values: []float64{3, 2, 1, %d}}})", false},
	{"done%[1]d := make(chan int)\ngo func() { done%[1]d <- %[1]d }()\n<-done%[1]d", false},
	{"panic(%d)", false},
	{"undefined%d", false},
	{"m := map[string][]int{}\nfor i := range 100 {\n\tm[fmt.Sprint(i %% 7)] = append(m[fmt.Sprint(i %% 7)], i+%d)\n}\nm", false},
	{"func down(n int) int { return down(n + %d) }\ndown(1)", false},
	{"!echo %d", false},
	{"%%%%time\nfmt.Sprint(%d)", false},
	{"for i := %d; ; i++ {\n}", true},
	{"time.Sleep(time.Hour + %d)", true},
	{"var never%[1]d chan int\ntime.AfterFunc(time.Hour, func() {})\n<-never%[1]d", true},
	{"for {\n\tfmt.Println(%d)\n}", true},
}

// TestSoak has one kernel on each engine run cells, complete and explain names, and be interrupted, for half an hour. Each request is answered, and the
// kernel holds no more goroutines and files at the end than after the first third of the time, and little more memory.
func TestSoak(t *testing.T) {
	if !testenv.Requires("soak") {
		t.Skipf("takes %v for each engine: HALFNOTE_REQUIRE=soak runs it, and -soak sets the time", *soaking)
	}
	for _, engine := range interp.Engines {
		t.Run(engine, func(t *testing.T) {
			if err := interp.CompiledCells(); err != nil && engine == interp.Compiled {
				testenv.Missing(t, "native", err)
			}
			soak(t, engine)
		})
	}
}

func soak(t *testing.T, engine string) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	spec := client.Spec{Language: "go", InterruptMode: "message", Argv: []string{exe, "kernel", "--engine", engine, "{connection_file}"}}
	k, err := client.Start(t.Context(), spec, client.Options{Env: []string{"HALFNOTE_HISTORY=" + filepath.Join(t.TempDir(), "h.sqlite")}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	cells, interrupts, others := 0, 0, 0
	step := func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if random.IntN(2) == 0 {
			others++
			kind, what := "complete_request", any(map[string]any{"code": "fmt.Spr", "cursor_pos": 7})
			if random.IntN(2) == 0 {
				kind, what = "inspect_request", map[string]any{"code": "tensor.Ones", "cursor_pos": 9, "detail_level": 1}
			}
			if m, err := k.Request(ctx, "shell", kind, what); err != nil || !strings.Contains(string(m.Content), `"status":"ok"`) {
				t.Fatalf("%s after %d cells: got %.300s, %v, want an answer", kind, cells, m.Content, err)
			}
			return
		}
		c := soaked[random.IntN(len(soaked))]
		cells++
		code := fmt.Sprintf(c.code, cells)
		if c.endless {
			interrupts++
			time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() { _ = k.Interrupt(ctx) })
		}
		// The interrupt may arrive before the cell runs.
		ended, stop := context.WithTimeout(ctx, 20*time.Second)
		defer stop()
		_, err := k.Execute(ended, code, client.ExecuteOptions{}, nil)
		for tries := 0; err != nil && c.endless && ctx.Err() == nil && tries < 5; tries++ {
			_ = k.Interrupt(ctx)
			_, err = k.Execute(ctx, "1", client.ExecuteOptions{}, nil)
		}
		if err != nil {
			t.Fatalf("cell %d did not end: %v\n%s", cells, err, code)
		}
	}
	if _, err := k.Execute(t.Context(), "func again(x int) int { return x }", client.ExecuteOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	var first holds
	begin := time.Now()
	for time.Since(begin) < *soaking {
		step()
		if first.cells == 0 && time.Since(begin) > *soaking/3 {
			first = held(t, k, cells)
		}
	}
	last := held(t, k, cells)
	t.Logf("%d cells, %d interrupts, %d other requests: %+v after a third of the time, %+v at the end", cells, interrupts, others, first, last)
	if more, most := last.kib-first.kib, 20<<10+16*(last.cells-first.cells); more > most {
		t.Errorf("the kernel grew by %d KiB in %d cells, want at most %d", more, last.cells-first.cells, most)
	}
	if last.files > first.files+5 || last.goroutines > first.goroutines+50 {
		t.Errorf("the kernel holds %d files and %d goroutines, after %d and %d", last.files, last.goroutines, first.files, first.goroutines)
	}
	if r, err := k.Execute(t.Context(), "again(7)", client.ExecuteOptions{}, nil); err != nil || r.Status != "ok" {
		t.Errorf("a function of the session: got %+v, %v", r, err)
	}
}

// holds is what a kernel holds after a number of cells.
type holds struct{ cells, kib, files, goroutines int }

// held asks the system and the kernel.
func held(t *testing.T, k *client.Kernel, cells int) holds {
	t.Helper()
	h := holds{cells: cells}
	proc := filepath.Join("/proc", strconv.Itoa(k.Pid()))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	h.kib, _ = strconv.Atoi(strings.Fields(rest)[0])
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	h.files = len(files)
	_, err = k.Execute(t.Context(), "import \"runtime\"\nruntime.GC()\nfmt.Println(runtime.NumGoroutine())", client.ExecuteOptions{}, func(m client.Message) {
		var s struct{ Text string }
		if m.Header.Type == "stream" && json.Unmarshal(m.Content, &s) == nil {
			fmt.Sscan(s.Text, &h.goroutines)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
