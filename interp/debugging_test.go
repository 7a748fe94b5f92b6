package interp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"halfnote/kernel/eval"
)

// debugged runs a cell under a debugger that responds to each stop with the next word of
// how. It returns the active calls and the variables of the innermost call at each stop,
// followed by the output of the cell.
func debugged(t *testing.T, s *Session, n int, code, how string) string {
	t.Helper()
	words := strings.Fields(how)
	events := make(chan eval.DebugEvent, 1)
	s.Debug(func(e eval.DebugEvent) {
		if e.Reason != "" {
			events <- e
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rec, ended := &recorder{}, make(chan eval.Result, 1)
	go func() { ended <- s.Eval(ctx, eval.Cell{Code: code, Count: n}, rec) }()
	var saw strings.Builder
	for {
		select {
		case r := <-ended:
			fmt.Fprint(&saw, rec.text(r))
			return saw.String()
		case e := <-events:
			var calls []string
			for _, f := range s.Stack(e.Thread) {
				calls = append(calls, fmt.Sprintf("%s:%d", f.Function, f.Line))
			}
			fmt.Fprint(&saw, strings.TrimSpace(e.Reason+" "+e.Text), " at ", strings.Join(calls, " < "))
			for _, v := range s.Stack(e.Thread)[0].Locals() {
				fmt.Fprintf(&saw, " %s=%s", v.Name, v.Value)
			}
			fmt.Fprintln(&saw)
			if len(words) == 0 {
				words = []string{"continue"}
			}
			if words[0] == "interrupt" {
				cancel()
			} else if err := s.Resume(e.Thread, words[0]); err != nil {
				t.Error(err)
			}
			words = words[1:]
		}
	}
}

// TestDebugger checks breakpoints, steps, and the variables at each stop.
func TestDebugger(t *testing.T) {
	s := newSession(t)
	const program = `type point struct{ X, y int }

func add(a, b int) int {
	sum := a + b
	return sum
}

// a comment
total := 0
for i := range 3 {
	p := point{i, 2 * i}
	total = add(total, p.y)
}
fmt.Println(total)
total`
	n := 0
	test := func(name, code string, lines []int, how, want string) {
		t.Helper()
		n++
		s.Debug(func(eval.DebugEvent) {})
		s.SetBreakpoints(code, lines)
		if got := debugged(t, s, n, code, how); got != want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", name, got, want)
		}
		s.Debug(nil)
	}
	test("no breakpoint", program, nil, "", "6\n= 6\n")
	test("in a loop", program, []int{12}, "", `breakpoint at In[2]:12 i=0 p=point{X:0 y:0}
breakpoint at In[2]:12 i=1 p=point{X:1 y:2}
breakpoint at In[2]:12 i=2 p=point{X:2 y:4}
6
= 6
`)
	test("steps", program, []int{12}, "stepIn next stepOut next next next", `breakpoint at In[3]:12 i=0 p=point{X:0 y:0}
step at add:4 < In[3]:12 a=0 b=0
step at add:5 < In[3]:12 a=0 b=0 sum=0
step at In[3]:11 i=1
step at In[3]:12 i=1 p=point{X:1 y:2}
step at In[3]:11 i=2
step at In[3]:12 i=2 p=point{X:2 y:4}
6
= 6
`)
	test("at a comment", program, []int{8}, "", "breakpoint at In[4]:9\n6\n= 6\n")
	n++
	s.SetBreakpoints(program, []int{5})
	if got, want := debugged(t, s, n, program, "interrupt"), "breakpoint at add:5 < In[5]:12 a=0 b=0 sum=0\nInterrupted\n"; !strings.HasPrefix(got, want) {
		t.Errorf("interrupt: got\n%s\nwant\n%s", got, want)
	}
	s.Debug(nil)
	test("an earlier function", "add(20, 22)", nil, "", "= 42\n")
	test("all kinds of statements", `var any0 any = 3
f := func(xs ...float64) (s float64, err error) {
	for _, x := range xs {
		if y := x * 2; y > 3 {
			s += y
		} else {
			s -= y
		}
	}
	switch v := any0.(type) {
	case int:
		s += float64(v)
	}
	select {
	default:
		m := map[string]int{"a": 1}
		m["b"]++
		_ = m
	}
	defer func() { s++ }()
	return s, nil
}
f(1, 2)`, []int{5, 7, 12, 17, 20}, "", `breakpoint at In[7] (function literal):7 < In[7]:23 xs=[1 2] s=0 err=<nil> x=1 y=2
breakpoint at In[7] (function literal):5 < In[7]:23 xs=[1 2] s=-2 err=<nil> x=2 y=4
breakpoint at In[7] (function literal):12 < In[7]:23 xs=[1 2] s=2 err=<nil>
breakpoint at In[7] (function literal):17 < In[7]:23 xs=[1 2] s=5 err=<nil> m=map[a:1]
breakpoint at In[7] (function literal):20 < In[7]:23 xs=[1 2] s=5 err=<nil>
= 6, <nil>
`)
	test("a goroutine", `done := make(chan int)
go func(n int) {
	done <- n + 1
}(6)
<-done`, []int{3}, "next", "breakpoint at In[8] (function literal):3 n=6\n= 7\n")
	twice, upTo := "twice:3 < ", ""
	if *engineName != Compiled { // upTo stays listed after its return
		upTo = "upTo:5 < "
	}
	test("methods, generics and range over functions", `type counter struct{ n int }
func (c *counter) add(by int) { c.n += by }
func twice[T any](f func(T), x T) { f(x); f(x) }
func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n { if !yield(i) { return } }
	}
}
c := &counter{}
twice(c.add, 2)
for i := range upTo(2) {
	c.add(i)
}
c.n`, []int{2, 12}, "", `breakpoint at (*counter).add:2 < `+twice+`In[9]:10 c=&counter{n:0} by=2
breakpoint at (*counter).add:2 < `+twice+`In[9]:10 c=&counter{n:2} by=2
breakpoint at In[9]:12 < upTo (function literal):6 < `+upTo+`In[9]:11 i=0
breakpoint at (*counter).add:2 < In[9]:12 < upTo (function literal):6 < `+upTo+`In[9]:11 c=&counter{n:4} by=0
breakpoint at In[9]:12 < upTo (function literal):6 < `+upTo+`In[9]:11 i=1
breakpoint at (*counter).add:2 < In[9]:12 < upTo (function literal):6 < `+upTo+`In[9]:11 c=&counter{n:4} by=1
= 5
`)
}

// TestBreakpointsInEarlierCells checks that breakpoints hold in functions and methods that
// were declared before a front end debugged, in earlier cells and in a cell that runs again.
func TestBreakpointsInEarlierCells(t *testing.T) {
	s := newSession(t)
	const functions = `type counter struct{ n int }
func (c *counter) add(by int) {
	c.n += by
}
func twice(n int) int {
	return 2 * n
}
func other(n int) int { return twice(n) }
c := &counter{}`
	if got := debugged(t, s, 1, functions, ""); got != "" {
		t.Fatal(got)
	}
	s.Debug(nil)
	step := func(n int, code string, lines []int, want string) {
		t.Helper()
		s.Debug(func(eval.DebugEvent) {})
		s.SetBreakpoints(functions, lines)
		if got := debugged(t, s, n, code, ""); got != want {
			t.Errorf("In[%d]: got\n%s\nwant\n%s", n, got, want)
		}
		s.Debug(nil)
	}
	step(2, "other(3)", nil, "= 6\n")
	step(3, "other(3)", []int{6}, "breakpoint at twice:6 < other:8 < In[3]:1 n=3\n= 6\n")
	step(4, "c.add(2)\nc.n", []int{3}, "breakpoint at (*counter).add:3 < In[4]:1 c=&counter{n:0} by=2\n= 2\n")
	step(5, functions, []int{6}, "")
	step(6, "twice(4)", []int{6}, "breakpoint at twice:6 < In[6]:1 n=4\n= 8\n")
}

// TestStopAtPanics checks that a panic stops its cell with the calls and variables that it
// had, if the front end asks for that, and that the cell then ends with the panic.
func TestStopAtPanics(t *testing.T) {
	s := newSession(t)
	const code = `func first(list []int) int {
	return list[0]
}
func safe(list []int) (n int) {
	defer func() { recover() }()
	return first(list)
}
n := safe(nil)
for i := range 2 {
	list := make([]int, 1-i)
	n += first(list)
}`
	run := func(n int, panics bool, want string) {
		t.Helper()
		s.Debug(func(eval.DebugEvent) {})
		s.StopAtPanics(panics)
		if got := debugged(t, s, n, code, ""); !strings.HasPrefix(got, want) {
			t.Errorf("In[%d]: got\n%s\nwant\n%s", n, got, want)
		}
		s.Debug(nil)
	}
	run(1, false, "Panic\npanic: runtime error: index out of range [0] with length 0\n")
	run(2, true, "exception runtime error: index out of range [0] with length 0 at first:2 < In[2]:11 list=[]\nPanic\n")
}
