//go:build unix

package interp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
)

// survivalLimits are the addresses that a process of TestSurvival may use, in KiB, as for ulimit -v.
var survivalLimits = []struct {
	name string
	kib  int
}{{"6GiB", 6 << 20}, {"2GiB", 2 << 20}}

// TestSurvival runs each cell of testdata/hostile/survival.txtar in a separate process, on each engine and with each limit of
// addresses, and interrupts what runs long. The session must survive each, apart from those that survivalEnds lists. A
// default run has few of the cells, HALFNOTE_REQUIRE=long a share, and HALFNOTE_REQUIRE=survival all.
func TestSurvival(t *testing.T) {
	cells := survivalCells(t)
	share := 97
	switch {
	case testenv.Requires("survival"):
		share = 1
	case testenv.Requires("long"):
		share = 20
	}
	var mu sync.Mutex
	died := map[string]int{}
	t.Run("cells", func(t *testing.T) {
		for _, engine := range tested(t) {
			for _, limit := range survivalLimits {
				for i := 0; i < len(cells); i += share {
					c := cells[i]
					class, _, _ := strings.Cut(c.Name, " ")
					t.Run(fmt.Sprintf("%s/%s/%s/%d", engine, limit.name, class, i), func(t *testing.T) {
						t.Parallel()
						got, err := hostileChild(t, engine, txtar.File{Name: "cell 6s", Data: c.Data}, limit.kib, true)
						if err == nil {
							return
						}
						mu.Lock()
						died[engine+" "+limit.name+" "+class]++
						mu.Unlock()
						if survivalEnds[string(c.Data)] == "" {
							t.Errorf("%s\nthe process died: %v\n%s", c.Data, err, got[:min(len(got), 1000)])
						}
					})
				}
			}
		}
	})
	for _, class := range slices.Sorted(maps.Keys(died)) {
		t.Logf("%s: %d deaths", class, died[class])
	}
	t.Logf("%d cells", len(cells))
}

// survivalEnds are the cells that still end the process, with the reasons.
var survivalEnds = map[string]string{}

// survivalCells reads the cells. The name of each begins with its class.
func survivalCells(t *testing.T) (cells []txtar.File) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/hostile/survival.txtar")
	if err != nil {
		t.Fatal(err)
	}
	acts := map[string][]string{}
	for _, f := range a.Files {
		class, kind, _ := strings.Cut(f.Name, " ")
		first := ""
		var lines []string
		for line := range strings.Lines(strings.TrimSpace(string(f.Data))) {
			line = strings.TrimSuffix(line, "\n")
			if rest, ok := strings.CutPrefix(line, "first "); ok {
				first = rest + "\n"
				continue
			}
			lines = append(lines, line)
		}
		add := func(code string) {
			cells = append(cells, txtar.File{Name: class, Data: []byte(first + code)})
		}
		switch kind {
		case "acts":
			acts[class] = lines
		case "ways":
			for _, way := range lines {
				for _, act := range acts[class] {
					add(strings.ReplaceAll(way, "$", act))
				}
			}
		case "cells":
			for _, line := range lines {
				add(line)
			}
		default:
			add(string(f.Data))
		}
	}
	return cells
}
