package interp

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/lower/core"
	"halfnote/kernel/eval"
)

var coreReport = flag.String("core", "", "append what is not in the core, in the units of all sessions, to this file")

var coreMu sync.Mutex

// reportCore makes a session write what is not in the core to the file of -core.
func reportCore(s *Session) {
	if *coreReport == "" {
		return
	}
	check := s.core
	s.core = func(u *lower.Unit) error {
		coreMu.Lock()
		defer coreMu.Unlock()
		f, err := os.OpenFile(*coreReport, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		core.Report(u, func(r core.Refusal) {
			fmt.Fprintf(f, "%s\t%s\t%s\t%q\n", r.Form, r.What, u.Fset.Position(r.Pos), lower.Print(r.Node))
		})
		if check == nil {
			return nil
		}
		return check(u)
	}
}

// BenchmarkCheck runs the cells of scripts, and reports the share of the time of a cell that the check of the core takes.
func BenchmarkCheck(b *testing.B) {
	var cells []string
	for _, name := range []string{"programs", "language", "basics", "generics"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			b.Fatal(err)
		}
		for _, f := range a.Files {
			if code := string(f.Data); f.Name == "cell" && !mayHoldMagicLine(code) {
				cells = append(cells, strings.TrimSuffix(code, "\n"))
			}
		}
	}
	var checks, whole time.Duration
	for b.Loop() {
		s := newSession(b)
		s.core = func(u *lower.Unit) error {
			start := time.Now()
			defer func() { checks += time.Since(start) }()
			return core.Check(u)
		}
		start := time.Now()
		for i, code := range cells {
			s.Eval(b.Context(), eval.Cell{Code: code, Count: i + 1}, &recorder{})
		}
		whole += time.Since(start)
	}
	n := float64(b.N * len(cells))
	b.ReportMetric(float64(checks.Nanoseconds())/n/1e3, "µs/check")
	b.ReportMetric(float64(whole.Nanoseconds())/n/1e3, "µs/cell")
	b.ReportMetric(100*float64(checks)/float64(whole), "%/cell")
}
