//go:build unix

package interp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/tensor/driver"
)

// TestHostileCells runs each cell of testdata/hostile/cells.txtar in a separate process
// with little memory. It checks that the output contains one of the lines that follow the cell,
// and that the state of the session is intact for the next cells. A default run has a
// share of the cells.
func TestHostileCells(t *testing.T) {
	a, err := txtar.ParseFile("testdata/hostile/cells.txtar")
	if err != nil {
		t.Fatal(err)
	}
	share := testenv.Share(t, 20)
	for _, engine := range tested(t) {
		for i := share / 2 * 2; i+1 < len(a.Files); i += 2 * share {
			cell, want := a.Files[i], strings.TrimSpace(string(a.Files[i+1].Data))
			if engine == Compiled && want == "printed" { // package fmt reads the map of the cell itself
				want = "fatal error: concurrent map iteration and map write"
			}
			t.Run(fmt.Sprintf("%s/%d", engine, i/2+1), func(t *testing.T) {
				t.Parallel()
				got, err := hostileChild(t, engine, cell, 6000000, false)
				if err != nil {
					t.Errorf("%s\nthe process died: %v\n%s", cell.Data, err, got[:min(len(got), 600)])
				} else if !slices.ContainsFunc(strings.Split(want, "\n"), func(line string) bool { return strings.Contains(got, line) }) {
					t.Errorf("%s\ngot %.400s\nwant one of:\n%s", cell.Data, got, want)
				}
			})
		}
	}
}

// hostileChild runs a cell in a child that may use kib KiB of addresses, and returns its output. The session's limit of memory is
// that of a kernel, or else small. The name of the cell may hold the time of an interrupt.
func hostileChild(t *testing.T, engine string, cell txtar.File, kib int, kernel bool) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a busy machine takes long to end 100,000 goroutines
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" -test.run '^TestHostileChild$'`, kib), os.Args[0])
	_, after, _ := strings.Cut(cell.Name, " ")
	cmd.Env = append(os.Environ(), "MALLOC_ARENA_MAX=1" /* as in kernel specs */, "HALFNOTE_HOSTILE="+engine, "HALFNOTE_CELL="+string(cell.Data), "HALFNOTE_AFTER="+after, fmt.Sprintf("HALFNOTE_KERNEL=%v", kernel))
	out, err := cmd.CombinedOutput()
	if _, text, ok := strings.Cut(string(out), "BEGIN\n"); ok && err == nil {
		text, _, ok = strings.Cut(text, "END\n")
		if !ok {
			return string(out), fmt.Errorf("the next cells did not run")
		}
		return text, nil
	}
	return string(out), fmt.Errorf("%v", err)
}

// TestHostileChild is the child process of TestHostileCells.
func TestHostileChild(t *testing.T) {
	engine := os.Getenv("HALFNOTE_HOSTILE")
	if engine == "" {
		t.Skip("runs only as a child process of TestHostileCells")
	}
	after, grace := "15s", 10*time.Second
	if own := os.Getenv("HALFNOTE_AFTER"); own != "" {
		after, grace = own, time.Second
	}
	memory, setBy := int64(256<<20), ""
	if os.Getenv("HALFNOTE_KERNEL") == "true" { // as package main does
		memory, setBy = driver.Limit()
		memory = memory / 10 * 9
		debug.SetMemoryLimit(memory)
	}
	s, err := NewSession(Options{Engine: engine, Memory: memory, MemorySetBy: setBy, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	evalAll(t, s, "kept := map[string]int{\"a\": 41}\nsurvives := func() int { kept[\"a\"]++; return kept[\"a\"] }")
	fmt.Print("BEGIN\n", evalFor(t, s, 2, os.Getenv("HALFNOTE_CELL"), after))
	for _, name := range []string{"m", "s", "l", "n", "c", "p", "x"} { // self-referential values can be inspected
		s.Complete(name+".", 2)
		s.Inspect(name, 1, 1)
	}
	s.Variables()
	if got := evalFor(t, s, 3, "survives()", ""); got != "= 42\n" {
		t.Fatalf("the next cell: got %s", got)
	}
	fmt.Print("END\n")
}
