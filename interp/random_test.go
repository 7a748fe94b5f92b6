package interp

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

// randomShare is the number of random programs in one Go program.
const randomShare = 8

// TestRandomNative runs random programs as cells, on Yaegi and compiled, and as a Go program: all three print
// the same. The compiled cells run while a goroutine allocates and the collector runs without rest. It runs as long
// as TestCollectorNative.
func TestRandomNative(t *testing.T) {
	needNative(t)
	cells, programs := 0, 0
	for end := time.Now().Add(*collecting / 2); time.Now().Before(end); {
		seed := rand.Uint64() >> 11
		cmd := exec.Command(os.Args[0], "-test.run", "^TestRandomChild$", "-test.v")
		cmd.Env = append(os.Environ(), fmt.Sprint("HALFNOTE_TEST_SEED=", seed), "GOGC=1", "GODEBUG=clobberfree=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, out)
		}
		n := 0
		_, count, _ := strings.Cut(string(out), "cells: ")
		fmt.Sscan(count, &n)
		cells += n
		programs += randomShare
	}
	t.Logf("%d cells of %d programs", cells, programs)
}

// TestRandomChild is the child process of TestRandomNative.
func TestRandomChild(t *testing.T) {
	seed := uint64(0)
	if _, err := fmt.Sscan(os.Getenv("HALFNOTE_TEST_SEED"), &seed); err != nil {
		t.Skip("runs only as a child process of TestRandomNative")
	}
	programs, want := randomPrograms(t, seed)
	n := 0
	for _, engine := range []string{Compiled, Engines[0]} {
		if engine != Compiled {
			debug.SetGCPercent(100)
		}
		s := newSessionOn(t, engine)
		evalAll(t, s, randomPrelude, "stop, kept := make(chan bool), [][]string{}\ngo func() { for { select { case <-stop: return; case <-time.After(time.Millisecond): kept = append(kept[max(0, len(kept)-9):], strings.Fields(\"a b c\")) } } }()")
		n += compareRandom(t, s, engine, seed, programs, want)
		evalFor(t, s, n+3, "close(stop)", "")
	}
	t.Logf("cells: %d", n)
}

var (
	firstSeed = flag.Uint64("seed", 1, "the first seed of TestRandomPrograms")
	seeds     = flag.Int("seeds", 0, "the number of seeds of TestRandomPrograms, if it is not the usual one")
)

// TestRandomPrograms runs random programs of a fixed seed, or of 40 if HALFNOTE_REQUIRE lists long: they print what compiled Go prints. Compiled cells
// are for TestRandomNative.
func TestRandomPrograms(t *testing.T) {
	count := uint64(1)
	if testenv.Requires("long") {
		count = 40
	} else if newest() {
		t.Skip("HALFNOTE_REQUIRE=long tries the forms of Go 1.27")
	}
	if *seeds > 0 {
		count = uint64(*seeds)
	}
	engine := Engines[0]
	for seed := *firstSeed; seed < *firstSeed+count; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			programs, want := randomPrograms(t, seed*randomShare)
			s := newSessionOn(t, engine)
			evalAll(t, s, randomPrelude)
			t.Logf("%d cells", compareRandom(t, s, engine, seed*randomShare, programs, want))
		})
	}
}

// randomPrograms returns the programs of a seed, and what each cell prints in a Go program.
func randomPrograms(t *testing.T, seed uint64) (programs []*randomProgram, want map[string]string) {
	var decls, calls strings.Builder
	for i := range uint64(randomShare) {
		p := newRandomProgram(seed+i, fmt.Sprintf("P%d", i))
		programs = append(programs, p)
		d, c := p.source()
		decls.WriteString(d)
		calls.WriteString(c)
	}
	return programs, compiledOutput(t, "package main\n\nimport (\"fmt\"; \"strings\")\n\nvar _ = strings.ToUpper\n\n"+randomPrelude+`
func ended() { if r := recover(); r != nil { fmt.Println("panic:", r) } }
`+decls.String()+"\nfunc main() {\n"+calls.String()+"}\n")
}

// compareRandom runs the programs as cells of a session, and returns the number of cells.
func compareRandom(t *testing.T, s *Session, engine string, seed uint64, programs []*randomProgram, want map[string]string) (n int) {
	for _, p := range programs {
		for i, cell := range p.cells {
			n++
			rec := &recorder{}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			r := s.Eval(ctx, eval.Cell{Code: cell, Count: n + 2}, rec)
			cancel()
			got := rec.printed()
			if r.Err != nil && r.Err.Name == "Panic" {
				got += "panic: " + r.Err.Value + "\n"
			} else if r.Err != nil {
				got += r.Err.Name + ": " + r.Err.Value + "\n"
			}
			want := want[fmt.Sprintf("%s.%d", p.name, i)]
			if got != want {
				t.Fatalf("%s, program %s of seed %d, cell %d:\n%s\ngot:\n%s\nwant, as compiled Go prints:\n%s\nthe cells before:\n%s",
					engine, p.name, seed, i, cell, got, want, strings.Join(p.cells[:i], "\n\n"))
			}
		}
	}
	return n
}

// compiledOutput builds and runs a Go program. It returns what the program prints after each line that begins with a zero
// byte, by the rest of that line.
func compiledOutput(t *testing.T, source string) map[string]string {
	dir := t.TempDir()
	file, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "main")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", exe, file).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%.3000s\n%s", err, out, source)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(exe)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%.3000s\n%s", err, &stderr, source)
	}
	parts := map[string]string{}
	for _, part := range strings.Split(string(out), "\x00")[1:] {
		name, printed, _ := strings.Cut(part, "\n")
		parts[name] = printed
	}
	return parts
}
