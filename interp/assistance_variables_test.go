package interp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/eval"
)

// tree formats variables and their parts, down to a depth.
func tree(list []eval.Variable, depth int) string {
	var b strings.Builder
	for _, v := range list {
		fmt.Fprintf(&b, "%s %s = %s\n", v.Name, v.Type, v.Value)
		if v.Children != nil && depth > 0 {
			b.WriteString("\t" + strings.ReplaceAll(strings.TrimSuffix(tree(v.Children(), depth-1), "\n"), "\n", "\n\t") + "\n")
		}
	}
	return b.String()
}

// TestVariables checks the names, types and values of variables and of their parts.
func TestVariables(t *testing.T) {
	tests := []struct{ name, cell, want string }{
		{"nothing", "", ""},
		{"basic", "n := 3\nf := 0.5\nok := true\ns := \"text\"", "f float64 = 0.5\nn int = 3\nok bool = true\ns string = text\n"},
		{"no functions and types", "const c = 1\ntype T int\nfunc f() {}\nvar t T = 3", "t T = 3\n"},
		{"struct", "type P struct { X int; name string }\np := P{1, \"a\"}", "p P = P{X:1 name:a}\n\tX int = 1\n\tname string = a\n"},
		{"pointer", "type P struct { X int; next *P }\np := &P{1, &P{2, nil}}", "p *P = &P{X:1 next:&P{X:2 next:<nil>}}\n\tX int = 1\n\tnext *P = &P{X:2 next:<nil>}\n\t\tX int = 2\n\t\tnext *P = <nil>\n"},
		{"nil", "var p *int\nvar l []int\nvar m map[string]int\nvar e error", "e error = <nil>\nl []int = []\nm map[string]int = map[]\np *int = <nil>\n"},
		{"pointer to a number", "n := 3\np := &n", "n int = 3\np *int = 0x…\n\t* int = 3\n"},
		{"slice", "l := []string{\"a\", \"b\"}", "l []string = [a b]\n\t[0] string = a\n\t[1] string = b\n"},
		{"array of structs", "type P struct{ X int }\na := [2]P{{1}, {2}}", "a [2]P = [P{X:1} P{X:2}]\n\t[0] P = P{X:1}\n\t\tX int = 1\n\t[1] P = P{X:2}\n\t\tX int = 2\n"},
		{"map", "m := map[string]int{\"b\": 2, \"a\": 1}", "m map[string]int = map[a:1 b:2]\n\t[\"a\"] int = 1\n\t[\"b\"] int = 2\n"},
		{"map with numbers", "m := map[int]bool{10: true, 9: false}", "m map[int]bool = map[9:false 10:true]\n\t[9] bool = false\n\t[10] bool = true\n"},
		{"interface", "var v any = []int{3}\nvar w any = 3\nvar s fmt.Stringer = time.Second", "s fmt.Stringer = 1s\nv any = [3]\n\t[0] int = 3\nw any = 3\n"},
		{"method of the value", "d := 1500 * time.Millisecond", "d time.Duration = 1.5s\n"},
		{"compiled struct", "p := display.Text(\"a\")\nq := &p.ID", "p display.Bundle = a\n\tData map[string]any = map[text/plain:a]\n\t\t[\"text/plain\"] any = a\n\tMetadata map[string]any = map[]\n\tID string =\nq *string = 0x…\n\t* string =\n"},
		{"tensor", "x := tensor.Ones(2, 2).To(tensor.Float16)", "x *tensor.Tensor = float16 (2, 2) tensor([[1., 1.], [1., 1.]], dtype=float16)\n\tDType() driver.DType = float16\n\tDevice() tensor.Device = cpu\n\tGrad() *tensor.Tensor = <nil>\n\tNumel() int = 4\n\tRequiresGrad() bool = false\n\tShape() []int = [2 2]\n\t\t[0] int = 2\n\t\t[1] int = 2\n"},
		{"function", "f := func(n int) int { return n }", "f func(n int) int = func(n int) int\n"},
		{"channel", "c := make(chan int, 3)", "c chan int = 0x…\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t)
			if got := evalFor(t, s, 1, tt.cell, ""); got != "" {
				t.Fatal(got)
			}
			var lines []string
			for line := range strings.Lines(tree(s.Variables(), 2)) {
				line, _, _ := strings.Cut(line, " = 0x")
				lines = append(lines, strings.TrimRight(line, " \n"))
			}
			want := strings.ReplaceAll(tt.want, " = 0x…", "")
			if got := strings.Join(lines, "\n"); got != strings.TrimRight(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestVariablesLong checks that a long list is shown in ranges, whose elements are computed
// on request.
func TestVariablesLong(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "l := make([]int, 1_000_050)\nl[1_000_049] = 7", "")
	list := s.Variables()
	for list[0].Children != nil {
		parts := list[0].Children()
		if len(parts) > 101 {
			t.Fatalf("got %d parts at once", len(parts))
		}
		list = parts[len(parts)-1:]
	}
	if got := tree(list, 0); got != "[1000049] int = 7\n" {
		t.Errorf("got %s", got)
	}
}

// TestVariablesWhileRunning checks that the list shows current values, and none while a
// cell runs.
func TestVariablesWhileRunning(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "m := map[string]int{\"a\": 1}\nl := []int{1}\nvar p = &l", "")
	before := s.Variables()
	evalFor(t, s, 2, "l[0] = 2", "")
	if got := tree(before[0].Children(), 0); got != "[0] int = 2\n" {
		t.Errorf("got %s, want the current value", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan bool)
	go func() {
		s.Eval(ctx, eval.Cell{Code: "for i := 0; ; i++ { m[fmt.Sprint(i%100)] = i }", Count: 3}, &recorder{})
		close(done)
	}()
	for tree(s.Variables(), 0) != "l []int = (a cell is running)\nm map[string]int = (a cell is running)\np *[]int = (a cell is running)\n" {
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		s.Complete("m[\"", 3)
		s.Inspect("m", 1, 0)
		s.Variables()
		if got := tree(before[1].Children(), 0); got != "…  = (a cell is running)\n" {
			t.Fatalf("got %s", got)
		}
	}
	cancel()
	<-done
}

// TestVariablesWithGoroutine checks maps that a goroutine outliving its cell may be
// writing to.
func TestVariablesWithGoroutine(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "m := map[int]int{}\nn := 3\nstop := make(chan bool)\ngo func() { for i := 0; ; i++ { m[i%100] = i; select { case <-stop: return; default: } } }()", "")
	for range 50 {
		got := tree(s.Variables(), 1)
		if !strings.Contains(got, "m map[int]int = (a goroutine may be changing it)\n") || !strings.Contains(got, "n int = 3\n") {
			t.Fatalf("got %s", got)
		}
		s.Inspect("m", 1, 0)
	}
	evalFor(t, s, 2, "stop <- true", "")
	if !eventually(func() bool { return strings.Contains(tree(s.Variables(), 0), "m map[int]int = map[") }) {
		t.Errorf("got %s after the goroutine has ended", tree(s.Variables(), 0))
	}
}
