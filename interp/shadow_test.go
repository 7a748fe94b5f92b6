package interp

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// shadowed are names that a cell can give a new meaning: a declaration, an expression that uses the name, and what fmt.Println prints for that.
var shadowed = []struct{ name, decl, use, shown string }{
	{"sl", "type sl []int", "sl{1, 2}", "[1 2]"},
	{"st", "type st struct{ X int }", "st{1}", "{1}"},
	{"sp", "type sp struct{ X int }\nfunc (s *sp) Inc() int { s.X++; return s.X }\nfunc (s sp) Get() int { return s.X }", "sp{1}", "{1}"},
	{"mp", "type mp map[string]int", `mp{"a": 1}`, "map[a:1]"},
	{"ar", "type ar [2]int", "ar{1, 2}", "[1 2]"},
	{"ft", "type ft func() int", "ft(func() int { return 3 })()", "3"},
	{"it", "type it interface{ M() int }", "it(nil) == nil", "true"},
	{"nt", "type nt int\nfunc (n nt) M() int { return int(n) }", "nt(5)", "5"},
	{"al", "type al = []string", `al{"a"}`, "[a]"},
	{"gt", "type gt[T any] struct{ V T }", "gt[int]{5}", "{5}"},
	{"gm", "type gm[T any] struct{ V T }\nfunc (g gm[T]) Get() T { return g.V }", `gm[string]{"s"}.Get()`, "s"},
	{"rc", "type rc struct{ next *rc }", "rc{}.next == nil", "true"},
	{"fn", "func fn() int { return 7 }", "fn()", "7"},
	{"gf", "func gf[T any](x T) T { return x }", "gf(8)", "8"},
	{"vr", "var vr = 9", "vr", "9"},
	{"ct", "const ct = 10", "ct", "10"},
	{"strings", `import "strings"`, `strings.ToUpper("x")`, "X"},
	{"tensor", "", "tensor.Ones(2).Sum().Item()", "2"},
	{"len", "", `len("abc")`, "3"},
	{"int", "", "int(3.0)", "3"},
}

// shadows are statements that give a name N another meaning and print; U is an expression that uses the old one, and u what it prints.
var shadows = []struct{ code, want string }{
	{"N := U; fmt.Println(N)", "u"},
	{"N := U; g := func() any { return N }; fmt.Println(g())", "u"},
	{"{ { N := U; fmt.Println(N) }; fmt.Println(U) }", "u u"},
	{"if N := (U); true { fmt.Println(N) }; fmt.Println(U)", "u u"},
	{"for range 2 { N := U; fmt.Println(N) }", "u u"},
	{"for N := range 2 { fmt.Println(N) }; fmt.Println(U)", "0 1 u"},
	{`for N, e := range []string{"a", "b"} { fmt.Println(N, e) }`, "0 a 1 b"},
	{"for N := 0; N < 2; N++ { func() { fmt.Println(N) }() }", "0 1"},
	{"switch N := any(U).(type) { case string: fmt.Println(N); default: fmt.Println(N) }", "u"},
	{"switch N := (U); { default: fmt.Println(N) }", "u"},
	{"func() { N := U; fmt.Println(N) }()", "u"},
	{"func(N int) { fmt.Println(N); N++; fmt.Println(N) }(4)", "4 5"},
	{`fmt.Println(func() (N string) { defer func() { N += "!" }(); N = "r"; return }())`, "r!"},
	{`c := make(chan string, 1); c <- "m"; select { case N := <-c: fmt.Println(N) }`, "m"},
	{"var N = U; fmt.Println(N)", "u"},
	{"const N = 12; fmt.Println(N)", "12"},
	{`type N struct{ Y string }; fmt.Println(N{"y"})`, "{y}"},
	{`{ type N = string; var q N = "q"; fmt.Println(q) }; fmt.Println(U)`, "q u"},
	{"N, q := U, 2; fmt.Println(N, q)", "u 2"},
	{"q, N := 1, U; N, r := N, 3; fmt.Println(q, N, r)", "1 u 3"},
	{"s := struct{ N int }{3}; fmt.Println(s.N, U)", "3 u"},
	{"defer func(N any) { fmt.Println(N) }(U)", "u"},
	{`{ N := "sh"; _ = N; N = "t"; p := &N; fmt.Println(*p) }; fmt.Println(U)`, "t u"},
	{`func() { defer func() { N := recover(); fmt.Println(N) }(); panic("p") }()`, "p"},
}

// note is what the session writes about declarations that a cell did not change.
var note = regexp.MustCompile(`(?m)^(stderr: )?note: .*\n`)

func withoutNotes(shown string) string { return note.ReplaceAllString(shown, "") }

// TestShadowing gives names of the session, of packages and of Go another meaning, in a function of a cell and in the cell itself.
func TestShadowing(t *testing.T) {
	for _, engine := range tested(t) {
		for _, form := range shadows {
			s := newSessionOn(t, engine)
			n := 0
			eval := func(code string) string { n++; return evalFor(t, s, n, code, "") }
			for _, x := range shadowed {
				eval(x.decl)
			}
			for _, x := range shadowed {
				fill := strings.NewReplacer("N", x.name, "U", x.use)
				want := strings.Fields(strings.ReplaceAll(form.want, "u", x.shown))
				code := fill.Replace(form.code)
				for _, cell := range []string{fmt.Sprintf("func w%d() {\n%s\n}\nw%d()", n, code, n), code} {
					if got := strings.Fields(strings.ReplaceAll(withoutNotes(eval(cell)), "stdout:", "")); strings.Join(got, " ") != strings.Join(want, " ") {
						t.Errorf("%s: %s\n got %s\nwant %s", engine, cell, got, want)
					}
				}
			}
			s.Close()
		}
	}
}

// TestReplacedNames replaces what earlier cells declare by a variable of another type, in statements that read the old meaning O. Functions of the
// cell, and of earlier cells where they fit, see the variable.
func TestReplacedNames(t *testing.T) {
	kinds := []struct {
		decls []string
		old   string
	}{
		{[]string{"x := 3"}, "x"},
		{[]string{"x := 3\ng := func() int { return x }"}, "x"},
		{[]string{"x := []int{3}"}, "x[0]"},
		{[]string{"var x struct{ a int }\nx.a = 3"}, "x.a"},
		{[]string{"const x = 3"}, "x"},
		{[]string{"func x() int { return 3 }"}, "x()"},
		{[]string{"func x[T any](v T) T { return v }"}, "x(3)"},
		{[]string{"type x int"}, "int(x(3))"},
		{[]string{"type x []int", "func h(v x) int { return len(v) }", "type pair struct{ a, b x }", "type p = *x", "var y = x{3}"}, "y[0]"},
		{[]string{"type x struct{ n int }\nfunc (v x) N() int { return v.n }\nvar y = x{3}"}, "y.N()"},
		{[]string{"type x[T any] struct{ n T }\nfunc (v x[T]) N() T { return v.n }\nvar y = x[int]{3}"}, "x[int]{y.N()}.N()"},
		{[]string{"type x interface{ N() int }\ntype z int\nfunc (v z) N() int { return int(v) }\nvar y x = z(3)"}, "x(y).N()"},
		{[]string{"type x struct{ next *x; n int }\nvar y = &x{nil, 3}"}, "y.n"},
	}
	cells := []struct{ code, then, want string }{
		{"x := fmt.Sprint(O)", "x", "= 3\n"},
		{"var x = fmt.Sprint(O)", "x", "= 3\n"},
		{"x, q := fmt.Sprint(O), 2", "x", "= 3\n"},
		{"x := map[string]int{\"a\": O}", "x", "= map[a:3]\n"},
		{"x := fmt.Sprint(O)\nf := func() string { return x }", "f()", "= 3\n"},
		{"f := func() int { return O }\nx := \"a\"", "x + fmt.Sprint(f())", "= a3\n"},
		{"func f() string { return x }\nx := fmt.Sprint(O)", "f()", "= 3\n"},
		{"func f() string { return x }\nvar x = fmt.Sprint(O)\nx += \"a\"", "f()", "= 3a\n"},
		{"func f() *string { return &x }\nx := fmt.Sprint(O)", "*f()", "= 3\n"},
		{"type f struct{ x int }\nx := fmt.Sprint(f{O}.x)", "x", "= 3\n"},
	}
	for _, engine := range tested(t) {
		for _, kind := range kinds {
			for _, c := range cells {
				s := newSessionOn(t, engine)
				list := append(kind.decls[:len(kind.decls):len(kind.decls)], strings.ReplaceAll(c.code, "O", kind.old), c.then)
				for i, code := range list {
					got := withoutNotes(evalFor(t, s, i+1, code, ""))
					want := ""
					if i == len(list)-1 {
						want = c.want
					}
					if got != want {
						t.Errorf("%s: %q: %q: got %q, want %q", engine, list, code, got, want)
					}
				}
				s.Close()
			}
		}
	}
}

// TestImportInsteadOfType imports a package under the name of a type of which there are values.
func TestImportInsteadOfType(t *testing.T) {
	for _, engine := range tested(t) {
		s := newSessionOn(t, engine)
		for i, c := range [][2]string{
			{"type up struct{ A int }\nfunc (u up) Get() int { return u.A }\nvar v = up{1}", ""},
			{"func f(u up) up { u.A++; return u }", ""},
			{"import up \"strings\"", "stderr: note: up was redeclared; existing values keep the type from In[1]\n"},
			{"up.ToUpper(\"a\")", "= A\n"},
			{"v.Get() + f(v).A", "= 3\n"},
			{"func g() any { return v }\ng()", "= up{A:1}\n"},
		} {
			if got := evalFor(t, s, i+1, c[0], ""); got != c[1] {
				t.Errorf("%s: %s: got %q, want %q", engine, c[0], got, c[1])
			}
		}
	}
}
