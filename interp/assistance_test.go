package interp

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"halfnote/interp/internal/exports"
)

// at removes the mark of the cursor, a |, from a cell and returns its offset in code points.
func at(cell string) (code string, cursor int) {
	before, after, _ := strings.Cut(cell, "|")
	return before + after, len([]rune(before))
}

// TestCompleteInSession checks that the current declarations of earlier cells are
// visible.
func TestCompleteInSession(t *testing.T) {
	s := newSession(t)
	n := 0
	run := func(code string) {
		t.Helper()
		n++
		evalFor(t, s, n, code, "")
	}
	has := func(cell, want string) {
		t.Helper()
		code, cursor := at(cell)
		c := s.Complete(code, cursor)
		for _, m := range c.Matches {
			if strings.HasPrefix(m.Text+" "+m.Type+" "+m.Signature, want) {
				return
			}
		}
		t.Errorf("%s: got %v, want %s", cell, c.Matches, want)
	}
	says := func(cell string, want ...string) {
		t.Helper()
		code, cursor := at(cell)
		b, _ := s.Inspect(code, cursor, 1)
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("%s: got\n%s\nwant\n%s", cell, b, w)
			}
		}
	}
	run("import \"bytes\"\nx := 1\nbuf := new(bytes.Buffer)\n// Point is a place.\ntype Point struct{ X, Y int }\n\nfunc (p Point) Norm() int { return p.X }")
	run("p := Point{1, 2}\n// double doubles.\nfunc double(n int) int { return 2 * n }\nconst top = 9\ntype List[T any] struct{ Head T }\nvar l List[Point]\nfunc pair[A any](a A) []A { return []A{a, a} }")
	has("p.|", "X field int")
	has("p.N|", "Norm method () int")
	has("l.Head.|", "Y field int")
	has("pair(p)[0].|", "Norm method")
	has("buf.Wri|", "WriteString method")
	has("bytes.NewB|", "NewBuffer function")
	has("dou|", "double function (n int) int")
	has("strings.Fie|", "Fields function")
	says("dou|ble(1)", "func double(n int) int", "double doubles.", "{ return 2 * n }")
	says("p.No|rm()", "Norm() int", "{ return p.X }")
	says("Poi|nt{}", "Point is a place.")
	says("to|p", "const top = 9")
	says("bytes.NewBuf|fer(nil)", "NewBuffer creates and initializes")

	run("x := \"text\"\ntype Point struct{ Z string }")
	has("x|", "x variable string")
	has("Point{}.|", "Z field string")
	has("p.|", "X field int")
	has("p|", "p variable Point")
	run("d := tensor.Float16")
	has("d.Str|", "String method () string")
	says("d.Str|ing()", "func (d DType) String() string")
	run("wrong := 1 + \"\"") // a rejected cell
	code, cursor := at("wro|")
	if c := s.Complete(code, cursor); len(c.Matches) > 0 {
		t.Errorf("got %v from a rejected cell, want no matches", c.Matches)
	}
}

// TestCompleteWhileRunning checks that completion and help work while cells are checked
// and run.
func TestCompleteWhileRunning(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "type T struct{ A int }\nvar v T", "")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				s.Complete("v.", 2)
				s.Inspect("v", 1, 1)
				s.Complete("http.DefaultClient.", 19)
				s.Inspect("tensor.Ones(2).Sum", 18, 0)
			}
		}
	})
	paths := exports.Packages()
	for i := range 30 {
		evalFor(t, s, 40+i, fmt.Sprintf("import _ %q\nimport \"net/http\"\nvar r http.Handler\ns := tensor.Ones(2)", paths[3*i]), "")
		evalFor(t, s, 2+i, fmt.Sprintf("type T struct{ A int; B%d string }\nfunc f() T { return T{} }\nw := f()\nfor i := range 1000 { _ = i }", i), "")
	}
	close(stop)
	wg.Wait()
}
