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
		t.Errorf("got %q, want %q in it", got, want)
	}
}
