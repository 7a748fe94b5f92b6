package yaegi_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"

	"halfnote/display"
	halfnote "halfnote/interp"
	"halfnote/kernel/eval"
)

// BenchmarkSpeed runs small programs alternately as cells and in plain Yaegi, and reports the
// ratio of their times: the cost of interrupts, of positions and messages of panics, and of
// corrections to Yaegi.
func BenchmarkSpeed(b *testing.B) {
	for _, p := range []struct{ name, decls, call string }{
		{"recursion", "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }", "fib(16)"},
		{"call", "func add(a, b int) int { return a + b }\nfunc calls() int { s := 0; for i := 0; i < 2000; i++ { s = add(s, i) }; return s }", "calls()"},
		{"method", "type acc struct{ n int }\nfunc (a *acc) add(k int) { a.n += k }\nfunc methods() int { a := &acc{}; for i := 0; i < 2000; i++ { a.add(i) }; return a.n }", "methods()"},
		{"interface", "type adder interface { inc(int) int }\ntype one struct{ k int }\nfunc (o one) inc(n int) int { return n + o.k }\nfunc ifaces() int { var a adder = one{1}; s := 0; for i := 0; i < 2000; i++ { s = a.inc(s) }; return s }", "ifaces()"},
		{"closure", "func closures() int { s := 0; f := func(k int) { s += k }; for i := 0; i < 2000; i++ { f(i) }; return s }", "closures()"},
		{"loop", "func loop() int { s := 0; for i := 0; i < 20000; i++ { s += i }; return s }", "loop()"},
		{"index", "func index() int { x := make([]int, 1000); s := 0; for k := 0; k < 10; k++ { for i := 0; i < len(x); i++ { x[i] = x[i] + i; s += x[i] } }; return s }", "index()"},
		{"matrix", "func matrix(n int) int { x := make([][]int, n); for i := range x { x[i] = make([]int, n) }; s := 0; for i := 0; i < n; i++ { for j := 0; j < n; j++ { x[i][j] = i * j; s += x[j][i] } }; return s }", "matrix(80)"},
		{"field", "type pt struct{ x, y int }\nfunc fields() int { p := &pt{}; for i := 0; i < 10000; i++ { p.x += i; p.y = p.x }; return p.y }", "fields()"},
		{"slice", "func slices() int { x := make([]int, 100); s := 0; for i := 0; i < 5000; i++ { s += len(x[i%50:]) }; return s }", "slices()"},
		{"append", "func appends() int { var x []int; for i := 0; i < 5000; i++ { x = append(x, i) }; return len(x) }", "appends()"},
		{"map", "func maps() int { m := map[int]int{}; for i := 0; i < 5000; i++ { m[i%100] += i }; return len(m) }", "maps()"},
		{"defer", "func one(k *int) { defer func() { *k++ }() }\nfunc defers() int { k := 0; for i := 0; i < 500; i++ { one(&k) }; return k }", "defers()"},
	} {
		b.Run(p.name, func(b *testing.B) {
			s, err := halfnote.NewSession(halfnote.Options{})
			if err != nil {
				b.Fatal(err)
			}
			plain := interp.New(interp.Options{})
			n := 0
			cell := func(code string) {
				n++
				if r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n}, silent{}); r.Err != nil {
					b.Fatal(r.Err.Value)
				}
			}
			evaluate := func(code string) {
				if _, err := plain.Eval(code); err != nil {
					b.Fatal(err)
				}
			}
			cell(p.decls)
			evaluate(p.decls)
			code := "for i := 0; i < 20; i++ { _ = " + p.call + " }"
			var cells, evals time.Duration
			for b.Loop() {
				start := time.Now()
				cell(code)
				cells += time.Since(start)
				start = time.Now()
				evaluate(code)
				evals += time.Since(start)
			}
			b.ReportMetric(float64(cells)/float64(evals), "x-yaegi")
			b.ReportMetric(float64(cells.Nanoseconds())/float64(b.N), "ns/cell")
		})
	}
}

// silent is an output of cells that discards everything.
type silent struct{}

func (silent) Display(display.Bundle) {}
func (silent) Update(display.Bundle)  {}
func (silent) Clear(bool)             {}
func (silent) Stdout() io.Writer      { return io.Discard }
func (silent) Stderr() io.Writer      { return io.Discard }
