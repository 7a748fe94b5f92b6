package interp

import (
	"slices"
	"testing"
)

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
		{"package main\nfunc main() {}", []string{"package: package main", "decl: func main() {}"}},
	} {
		var got []string
		for _, it := range split(c.in).items {
			prefix := map[itemKind]string{itemImport: "import: ", itemDecl: "decl: ", itemPackage: "package: "}[it.kind]
			got = append(got, prefix+it.text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("split(%q)\ngot  %q\nwant %q", c.in, got, c.want)
		}
	}
}
