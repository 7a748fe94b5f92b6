package interp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"halfnote/interp/internal/native"
)

// TestRerunNative checks that a cell that runs again is not compiled again, in its session or in a later one, and that
// its code still is that of the cell: panics are in its lines, its closures and its values are new ones.
func TestRerunNative(t *testing.T) {
	needNative(t)
	fresh := fmt.Sprintf("_ = %d; ", time.Now().UnixNano()) // no earlier run of the test has compiled the cells
	cells := []string{
		"var fs []func() int\nvar list []int\nn := 0\nfunc third() int { return list[n] }",
		fresh + "fs = append(fs, func() func() int { i := 10; return func() int { i++; return i } }())\nlen(fs)",
		fresh + "for i := range 3 {\n\tn += i\n}\nn",
		fresh + "list = []int{1, 2}",
		fresh + "n = 2\nfmt.Println(\"third\")\nthird()",
		fresh + "x := tensor.Ones(2, 2)\nx.Add(x).Sum()",
	}
	var texts [2][]string
	for session := range 2 {
		s := newSessionOn(t, Compiled)
		compiled := func() int { return s.engine.(*native.Engine).Compiled() }
		for i, code := range cells {
			texts[session] = append(texts[session], evalFor(t, s, i+1, code, ""))
		}
		if got := compiled(); session == 1 && got != 0 {
			t.Errorf("a second session compiles %d cells, want none", got)
		}
		before := compiled()
		for i, code := range cells[1:] {
			n := len(cells) + 1 + i
			text := evalFor(t, s, n, code, "")
			if line := fmt.Sprintf("In[%d], line 3", n); i == 3 && (!strings.Contains(text, line) || !strings.Contains(text, "In[1], line 4, in third")) {
				t.Errorf("the panic is not in %s: %s", line, text)
			}
			texts[session] = append(texts[session], text)
		}
		if got := compiled() - before; got != 0 {
			t.Errorf("session %d: %d cells that run again are compiled again, want none", session, got)
		}
		if got := evalFor(t, s, 90, "fmt.Print(fs[0](), fs[1](), fs[0](), fs[1]())", ""); got != "11 11 12 12⏎\n" {
			t.Errorf("the closures of two runs return %q, want two counters", got)
		}
	}
	for i, text := range texts[1] {
		if text != texts[0][i] {
			t.Errorf("cell %d: compiled: %s\nfrom the cache: %s", i, texts[0][i], text)
		}
	}
}
