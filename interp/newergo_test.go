package interp

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestNewerLanguage checks that code of a newer Go than the program's is refused with the release that
// it needs, and that a program of that release runs it.
func TestNewerLanguage(t *testing.T) {
	const types = "type D struct{ x int }\ntype A struct{ D }\nfunc id[T any](x T) T { return x }\n"
	for _, c := range []struct{ name, code, what, place, want string }{
		{"method", "type T struct{}\nfunc (T) M[P any](x P) P { return x }\nT{}.M(5)", "generic methods", "line 2, column 11", "= 5\n"},
		{"two methods", "type T struct{}\nfunc (t *T) M[P any](x P) P { return t.N(x) }\nfunc (t *T) N[P any](x P) P {\n\treturn x\n}\nnew(T).M(5)", "generic methods", "line 2, column 14", "= 5\n"},
		{"promoted", types + "A{x: 5}.x", "promoted fields in struct literals", "line 4, column 3", "= 5\n"},
		{"nested", types + "[]*A{{x: 5}}[0].x", "promoted fields in struct literals", "line 4, column 7", "= 5\n"},
		{"literal", types + "[]func(int) int{id}[0](5)", "type arguments that follow from a literal, conversion or send", "line 4, column 17", "= 5\n"},
		{"field", types + "struct{ f func(int) int }{f: id}.f(5)", "type arguments that follow from a literal, conversion or send", "line 4, column 30", "= 5\n"},
		{"conversion", types + "(func(int) int)(id)(5)", "type arguments that follow from a literal, conversion or send", "line 4, column 17", "= 5\n"},
		{"send", types + "c := make(chan func(int) int, 1)\nc <- id\n(<-c)(5)", "type arguments that follow from a literal, conversion or send", "line 5, column 6", "= 5\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := evalFor(t, newSession(t), 1, c.code, "")
			if newest() {
				if got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
				return
			}
			want := "CompileError\nIn[1], " + c.place + ": " + c.what + " need a halfnote built with Go 1.27 or newer; this one is built with " + runtime.Version() + "\n"
			if !strings.HasPrefix(got, want) {
				t.Errorf("got %q, want it to begin with %q", got, want)
			}
		})
	}
}

// TestNewerModule checks that a module for a Go that does not exist yet is refused, whatever is in it.
func TestNewerModule(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.99.1\n", "a/a.go": "package a\n\nsyntax of the future\n"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got := evalFor(t, newSession(t), 1, `import "m/a"`, "")
	if want := "its go.mod says go 1.99.1, which needs a halfnote built with Go 1.99 or newer; this one is built with " + runtime.Version(); !strings.Contains(got, want) {
		t.Errorf("got %q, want a text that contains %q", got, want)
	}
}

// TestNewerAssistance checks completion, help and the debugger where cells use the newer language.
func TestNewerAssistance(t *testing.T) {
	if !newest() {
		t.Skip("needs a program built with Go 1.27 or newer")
	}
	s := newSession(t)
	evalFor(t, s, 1, `type List[E any] []E

// Map returns the results of f.
func (l List[E]) Map[F any](f func(E) F) List[F] {
	var out List[F]
	for _, x := range l {
		out = append(out, f(x))
	}
	return out
}

type Point struct{ X, Y int }
type Inner struct {
	Point
	name string
}
type Shape struct {
	Inner
	*List[int]
	kind rune
}

func (s *Shape) Tag[T any](t T, more ...T) T { return t }

l := List[string]{"a"}
sh := Shape{}`, "")
	has := func(cell string, want ...string) {
		t.Helper()
		code, cursor := at(cell)
		c := s.Complete(code, cursor)
		for _, w := range want {
			found := false
			for _, m := range c.Matches {
				found = found || strings.HasPrefix(m.Text+" "+m.Type+" "+m.Signature, w)
			}
			if !found {
				t.Errorf("%s: got %v, want %s", cell, c.Matches, w)
			}
		}
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
	has("l.M|", "Map method [F any](f func(string) F) List[F]")
	has("sh.|", "Tag method [T any](t T, more ...T) T", "Map method", "X field int", "Inner field")
	has("l.Map(func(s string) int { return len(s) }).Ma|", "Map method [F any](f func(int) F) List[F]")
	has("l.Map[bool](nil)[0] && strings.Has|", "HasPrefix function")
	has("func (l List[E]) Each[K comparable](key func(E) K) map[K]E {\n\tm := map[K]E{}\n\tl.Ma|\n}", "Map method")
	has("func (l List[E]) Each[K comparable](key func(E) K) map[K]E {\n\tm := map[K]E{}\n\tke|\n}", "key variable func(E) K")
	has("func (s *Shape) Also[K comparable](shape K) {\n\ts.na|", "name field string")
	has("Shape{|}", "Inner", "kind", "X", "name")
	has("Shape{na|}", "name")
	has("Shape{X: 1, k|}", "kind")
	says("l.Ma|p", "func (l List[E]) Map[F any](f func(E) F) List[F]", "Map returns the results of f.", "out = append(out, f(x))")
	says("l.Map(|", "Map[F any](f func(string) F) List[F]")
	says("l.Map[int](|", "Map")
	says("sh.Tag[string](|", "Tag")
	says("sh.Ta|g", "func (s *Shape) Tag[T any](t T, more ...T) T")
	says("Li|st", "type List[E any] []E", "Map[F any]")
	if got := evalFor(t, s, 2, "func (s *Shape) Half[T any](t T, n int) int {\n\tm := 1 / n\n\treturn m\n}\nsh.Half(\"x\", 0)", ""); !strings.Contains(got, "In[2], line 2, in (*Shape).Half\n") || !strings.Contains(got, "%debug shows n\n") {
		t.Errorf("traceback: got %s", got)
	}
	const code = "func (s *Shape) Double[T any](t T, n int) int {\n\tm := 2 * n\n\treturn m\n}\nsh.Double(true, 4)"
	s.SetBreakpoints(code, []int{3})
	if got, want := debugged(t, s, 3, code, "stepOut"), "breakpoint at (*Shape).Double:3 < In[3]:5 s="; !strings.HasPrefix(got, want) || !strings.Contains(got, " t=true n=4 m=8\n") {
		t.Errorf("debugger: got %s, want %s", got, want)
	}
	s.Debug(nil)
	if got, err := Format("func (s *Shape)Tag[ T any ](t T)T{return t}\nx:=Shape{X:1,name:\"n\"}"); err != nil || got != "func (s *Shape) Tag[T any](t T) T { return t }\nx := Shape{X: 1, name: \"n\"}" {
		t.Errorf("format: got %q, %v", got, err)
	}
}
