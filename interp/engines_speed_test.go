package interp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// speedRows are the computations of TestCompareSpeed. The declarations and the statements are
// those of a cell and, with the statements in main, those of a program. python does the same.
var speedRows = []struct{ name, declarations, statements, python string }{
	{"fib(30)", "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }", "r := fib(30)",
		"def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\ndef run(): return fib(30)"},
	{"fib(30) in two goroutines", "func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }\nfunc both(n int) int { c := make(chan int); for range 2 { go func() { c <- fib(n) }() }; return <-c + <-c }", "r := both(30)",
		"from concurrent.futures import ThreadPoolExecutor\ndef fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\ndef run():\n with ThreadPoolExecutor(2) as pool: return sum(pool.map(fib, [30, 30]))"},
	{"10M additions in a function", "func add(n int) (s int) { for i := 0; i < n; i++ { s += i }; return s }", "r := add(10_000_000)",
		"def run():\n s = 0\n for i in range(10_000_000): s += i\n return s"},
	{"sum of 1/k², 5M", "func zeta(n int) (s float64) { for k := 1; k <= n; k++ { s += 1 / (float64(k) * float64(k)) }; return s }", "r := zeta(5_000_000)",
		"def run():\n s = 0.0\n for k in range(1, 5_000_001): s += 1 / (k * k)\n return s"},
	{"sieve of 2M", "func sieve(n int) (c int) { no := make([]bool, n); for i := 2; i < n; i++ { if no[i] { continue }; c++; for j := 2 * i; j < n; j += i { no[j] = true } }; return c }", "r := sieve(2_000_000)",
		"def run():\n n = 2_000_000\n no = bytearray(n)\n c = 0\n for i in range(2, n):\n  if no[i]: continue\n  c += 1\n  for j in range(2 * i, n, i): no[j] = 1\n return c"},
	{"product of matrices, 120", "func product(n int) float64 { m := func() [][]float64 { a := make([][]float64, n); for i := range a { a[i] = make([]float64, n); for j := range a[i] { a[i][j] = float64(i + j) } }; return a }; a, b, c := m(), m(), m(); for i := range n { for j := range n { s := 0.0; for k := range n { s += a[i][k] * b[k][j] }; c[i][j] = s } }; return c[n-1][n-1] }", "r := product(120)",
		"def run():\n n = 120\n m = lambda: [[float(i + j) for j in range(n)] for i in range(n)]\n a, b, c = m(), m(), m()\n for i in range(n):\n  for j in range(n):\n   s = 0.0\n   for k in range(n): s += a[i][k] * b[k][j]\n   c[i][j] = s\n return c[-1][-1]"},
	{"1M calls of closures", "func closures(n int) (s int) { f := func(i int) { s += i }; for i := range n { f(i) }; return s }", "r := closures(1_000_000)",
		"def run():\n s = 0\n def f(i):\n  nonlocal s\n  s += i\n for i in range(1_000_000): f(i)\n return s"},
	{"1M calls of interfaces", "type shape interface { area() float64 }\ntype square struct{ a float64 }\ntype disc struct{ r float64 }\nfunc (s square) area() float64 { return s.a * s.a }\nfunc (d *disc) area() float64 { return 3 * d.r * d.r }\nfunc areas(n int) (s float64) { list := []shape{square{2}, &disc{1}}; for i := range n { s += list[i%2].area() }; return s }", "r := areas(1_000_000)",
		"class S:\n def __init__(s, a): s.a = a\n def area(s): return s.a * s.a\nclass D(S):\n def area(s): return 3 * s.a * s.a\ndef run():\n list = [S(2.0), D(1.0)]\n s = 0.0\n for i in range(1_000_000): s += list[i % 2].area()\n return s"},
	{"1M fields of structs", "type point struct{ x, y int }\nfunc fields(n int) int { p := point{}; for i := range n { p.x += i; p.y += p.x & 1 }; return p.x + p.y }", "r := fields(1_000_000)",
		"class P: pass\ndef run():\n p = P()\n p.x = p.y = 0\n for i in range(1_000_000):\n  p.x += i\n  p.y += p.x & 1\n return p.x + p.y"},
	{"at the top level: 10M additions", "", "r := 0\nfor i := 0; i < 10_000_000; i++ { r += i }",
		atTop + "r = 0\nfor i in range(10_000_000): r += i''', {})"},
	{"at the top level: sum of 1/k²", "", "r := 0.0\nfor k := 1; k <= 5_000_000; k++ { r += 1 / (float64(k) * float64(k)) }",
		atTop + "r = 0.0\nfor k in range(1, 5_000_001): r += 1 / (k * k)''', {})"},
	{"at the top level: sieve of 2M", "", "n := 2_000_000\nno := make([]bool, n)\nr := 0\nfor i := 2; i < n; i++ { if no[i] { continue }; r++; for j := 2 * i; j < n; j += i { no[j] = true } }",
		atTop + "n = 2_000_000\nno = bytearray(n)\nr = 0\nfor i in range(2, n):\n if no[i]: continue\n r += 1\n for j in range(2 * i, n, i): no[j] = 1''', {})"},
	{"at the top level: product of matrices", "func matrix(n int) [][]float64 { a := make([][]float64, n); for i := range a { a[i] = make([]float64, n); for j := range a[i] { a[i][j] = float64(i + j) } }; return a }",
		"n := 120\na, b, c := matrix(n), matrix(n), matrix(n)\nfor i := range n { for j := range n { s := 0.0; for k := range n { s += a[i][k] * b[k][j] }; c[i][j] = s } }\nr := c[n-1][n-1]",
		atTop + "n = 120\nm = lambda: [[float(i + j) for j in range(n)] for i in range(n)]\na, b, c = m(), m(), m()\nfor i in range(n):\n for j in range(n):\n  s = 0.0\n  for k in range(n): s += a[i][k] * b[k][j]\n  c[i][j] = s''', {})"},
	{"at the top level: calls of closures", "", "r := 0\nf := func(i int) { r += i }\nfor i := range 1_000_000 { f(i) }",
		atTop + "r = 0\ndef f(i):\n global r\n r += i\nfor i in range(1_000_000): f(i)''', {})"},
	{"at the top level: calls of interfaces", "type shape interface { area() float64 }\ntype square struct{ a float64 }\ntype disc struct{ r float64 }\nfunc (s square) area() float64 { return s.a * s.a }\nfunc (d *disc) area() float64 { return 3 * d.r * d.r }", "list := []shape{square{2}, &disc{1}}\nr := 0.0\nfor i := range 1_000_000 { r += list[i%2].area() }",
		atTop + "class S:\n def __init__(s, a): s.a = a\n def area(s): return s.a * s.a\nclass D(S):\n def area(s): return 3 * s.a * s.a\nlist = [S(2.0), D(1.0)]\nr = 0.0\nfor i in range(1_000_000): r += list[i % 2].area()''', {})"},
	{"at the top level: fields of structs", "type point struct{ x, y int }", "p := point{}\nfor i := range 1_000_000 { p.x += i; p.y += p.x & 1 }\nr := p.x + p.y",
		atTop + "class P: pass\np = P()\np.x = p.y = 0\nfor i in range(1_000_000):\n p.x += i\n p.y += p.x & 1''', {})"},
}

// atTop begins a Python function whose code runs at the top level of a module.
const atTop = "def run(): exec('''"

// timed is the text around the statements of a row: it prints the milliseconds that they take.
const timed = "start := time.Now()\n%s\nfmt.Println(time.Since(start).Seconds()*1000, r != 0)"

// TestCompareSpeed times the rows as a compiled program, on every engine, and in CPython, and
// prints how many times as long as the program each takes. It asserts nothing, so it runs only
// with -compare; -v shows the table. -run selects engines and rows, such as CompareSpeed/native/fib.
func TestCompareSpeed(t *testing.T) {
	if !*compare {
		t.Skip("needs the flag -compare")
	}
	program := map[string]float64{}
	for _, name := range append(slices.Clone(Engines), "CPython") {
		t.Run(name, func(t *testing.T) {
			var s *Session
			if name != "CPython" {
				s = newSessionOn(t, name)
			}
			for _, row := range speedRows {
				t.Run(row.name, func(t *testing.T) {
					if program[row.name] == 0 {
						program[row.name] = least(func(int) string { return compiledProgram(t, row.declarations, fmt.Sprintf(timed, row.statements)) })
					}
					ms := least(func(pass int) string {
						if s == nil {
							return python(t, row.python+"\nimport time\nt = time.perf_counter()\nrun()\nprint((time.perf_counter() - t) * 1000)")
						}
						code := fmt.Sprintf(timed, row.statements)
						if pass == 0 {
							code = row.declarations + "\n" + code
						}
						return evalFor(t, s, 1, code, "")
					})
					t.Logf("%9.2f ms, %.1f times a program", ms, ms/program[row.name])
				})
			}
		})
	}
}

// python returns what a Python program prints.
func python(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", program).Output()
	if err != nil {
		t.Skip(err)
	}
	return string(out)
}

// least returns the least number at the start of five outputs.
func least(run func(pass int) string) float64 {
	best := 0.0
	for pass := range 5 {
		first, _, _ := strings.Cut(strings.TrimSpace(run(pass)), " ")
		if ms, err := strconv.ParseFloat(first, 64); err == nil && (best == 0 || ms < best) {
			best = ms
		}
	}
	return best
}

// compiledProgram runs a program of declarations and a main function, which it builds once.
func compiledProgram(t *testing.T, declarations, statements string) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "halfnote-speed-"+strconv.Itoa(os.Getpid()))
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	source := "package main\nimport (\"fmt\"; \"time\")\n" + declarations + "\nfunc main() {\n" + statements + "\n}\n"
	file, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if old, err := os.ReadFile(file); err != nil || string(old) != source {
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", exe, file)
		cmd.Env = append(os.Environ(), "GOWORK=off", "GO111MODULE=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	out, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
