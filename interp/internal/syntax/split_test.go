package syntax

import (
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestSplit checks how a cell is split into declarations and statements.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a; b\nc\n// d\n", []string{"a", "b", "c"}},
		{"import \"fmt\"\nfmt.Println()", []string{"import: import \"fmt\"", "fmt.Println()"}},
		{"func f() {\n}\nf()", []string{"decl: func f() {\n}", "f()"}},
		{"func (t T) M() {}", []string{"decl: func (t T) M() {}"}},
		{"func (t T) M[P any, Q []P](p P) {}\nx", []string{"decl: func (t T) M[P any, Q []P](p P) {}", "x"}},
		{"func(int) List[int] { return nil }(1)", []string{"func(int) List[int] { return nil }(1)"}},
		{"func(int) List[int] { return nil }(1)[f(2)](3)", []string{"func(int) List[int] { return nil }(1)[f(2)](3)"}},
		{"func() {}()", []string{"func() {}()"}},
		{"func(int) string { return \"\" }(1)", []string{"func(int) string { return \"\" }(1)"}},
		{"type (\n A int\n B int\n)\nvar x A", []string{"decl: type (\n A int\n B int\n)", "var x A"}},
		{"for i := 0; i < 3; i++ { a; b }; c", []string{"for i := 0; i < 3; i++ { a; b }", "c"}},
		{"for i := 0; ; { a }", []string{"for i := 0; ; { a }"}},
		{"for ;; { a }; b", []string{"for ;; { a }", "b"}},
		{"if x := f(); x > 0 { a } else if y := g(); y { b } else { c }; d", []string{"if x := f(); x > 0 { a } else if y := g(); y { b } else { c }", "d"}},
		{"if f := func() bool { return true }; f() { a }\nb", []string{"if f := func() bool { return true }; f() { a }", "b"}},
		{"switch x := any(1).(type) { case struct{}: }; b", []string{"switch x := any(1).(type) { case struct{}: }", "b"}},
		{"switch x := 1; { case x > 0: }", []string{"switch x := 1; { case x > 0: }"}},
		{"loop: for i := 0; ; i++ { break loop }; b", []string{"loop: for i := 0; ; i++ { break loop }", "b"}},
		{"a /* of\ntwo lines */ b", []string{"a", "b"}},
		{"package main\nfunc main() {}", []string{"package: package main", "decl: func main() {}"}},
	} {
		var got []string
		for _, it := range Split(c.in).Items {
			prefix := map[Kind]string{Import: "import: ", Decl: "decl: ", Package: "package: "}[it.Kind]
			got = append(got, prefix+it.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("split(%q)\ngot  %q\nwant %q", c.in, got, c.want)
		}
	}
}

// FuzzSplit checks that the items of any text are at their stated places, in order, with
// only space, comments and semicolons between them, and that splitting an item again
// returns that item.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"a; b\nc\n// d\n", "import \"fmt\"\nfmt.Println()", "func (t T) M() {}\nfunc() {}()", "for i := 0; i < 3; i++ { a; b }; c",
		"if f := func() bool { return true }; f() { a }\nb", "loop: for { break loop }", "x := `raw\n` + \"\\\"\" /* c */; 'x'",
		"//line x.go:9\na", "a /* \n */ b", "}{)(", "\xff\x00", "%time x", "\r\na\r\nb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) {
		p := Split(code)
		end := 0
		gap := func(to int) {
			for _, l := range Lex(code[end:to]) {
				if l.Tok != token.COMMENT && l.Tok != token.SEMICOLON {
					t.Errorf("token %q is missing from the items of %q", l.Lit, code)
				}
			}
		}
		for _, it := range p.Items {
			at := OffsetOf(code, it.Line, it.Col)
			if at != it.Off || at < end || !strings.HasPrefix(code[at:], it.Text) {
				t.Fatalf("item %q is not at %d:%d of %q, or not after the previous one", it.Text, it.Line, it.Col, code)
			}
			gap(at)
			end = at + len(it.Text)
		}
		gap(len(code))
		lines := 1 + strings.Count(code, "\n")
		for _, e := range p.Errs {
			if e.Line < 1 || e.Line > lines || e.Col < 1 {
				t.Errorf("got %q at %d:%d of %q, which has %d lines", e.Msg, e.Line, e.Col, code, lines)
			}
		}
		if len(p.Errs) > 0 {
			return
		}
		for _, it := range p.Items {
			if again := Split(it.Text); len(again.Items) != 1 || again.Items[0].Text != it.Text || again.Items[0].Kind != it.Kind {
				t.Errorf("splitting again gave %+v for the item %q of %q", again.Items, it.Text, code)
			}
		}
	})
}
