package front

import (
	"fmt"
	"go/token"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// session takes cells through the front end as a session does, without an engine.
type session struct {
	*State
	env *Env
	n   int
}

func newSession() *session {
	return &session{State: NewState(token.NewFileSet(), engine.Needs{}, exports.Importer()), env: NewEnv()}
}

// bind takes a cell up to Bind, and its environment if no stage refuses it.
func (s *session) bind(code string) (*Bound, error) {
	s.n++
	files := &Files{}
	c, err := s.stages(s.Input(s.n, code, files, false))
	if err != nil {
		s.Release(files)
		return nil, err
	}
	s.Take(c.Slots)
	s.Accept(c, &Lowered{})
	s.env = c.Env
	return c, nil
}

func (s *session) stages(in Input) (*Bound, error) {
	p, err := Parse(in, s.env)
	if err != nil {
		return nil, err
	}
	k, err := p.Check(map[*Source]bool{})
	if err != nil {
		return nil, err
	}
	return k.Bind()
}

// after returns a session in which cells have been accepted.
func after(t *testing.T, cells ...string) *session {
	t.Helper()
	s := newSession()
	for _, code := range cells {
		if _, err := s.bind(code); err != nil {
			t.Fatalf("%s: %v", code, err)
		}
	}
	return s
}

// TestParse cuts cells into items.
func TestParse(t *testing.T) {
	kinds := map[syntax.Kind]string{syntax.Import: "import", syntax.Decl: "decl", syntax.Statement: "statement", syntax.Package: "package"}
	for _, tt := range []struct{ name, code, want string }{
		{"empty", "", ""},
		{"statements", "x := 1\nx++", "statement statement"},
		{"one line", "x := 1; y := 2", "statement statement"},
		{"declarations", "type T int\nconst c = 1\nfunc f() {}\nfunc (t T) m() {}", "decl decl decl decl"},
		{"variables are statements", "var x = 1\nvar (\n\ty int\n)", "statement statement"},
		{"function literal", "func() {}()", "statement"},
		{"imports", "import \"os\"\nimport (\n\tr \"math/rand/v2\"\n)\nos.Getpid()", "import import statement; os=os r=math/rand/v2"},
		{"preloaded package by its name", "import \"tensor\"", "import; tensor=halfnote/tensor"},
		{"dot import", "import . \"strings\"", "import; .=strings"},
		{"suppressed", "1 + 2;", "statement; suppressed"},
		{"program", "package main\nvar b = a + 1\nvar a = 1\nfunc main() {}", "package decl statement statement"},
	} {
		s := newSession()
		p, err := Parse(s.Input(1, tt.code, &Files{}, false), s.env)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, it := range p.Pieces.Items {
			got = append(got, kinds[it.Kind])
		}
		text := strings.Join(got, " ")
		var imports []string
		for _, name := range slices.Sorted(maps.Keys(p.Env.Imports)) {
			imports = append(imports, name+"="+p.Env.Imports[name])
		}
		for _, path := range p.Env.Dots {
			imports = append(imports, ".="+path)
		}
		if len(imports) > 0 {
			text += "; " + strings.Join(imports, " ")
		}
		if p.Pieces.Suppressed {
			text += "; suppressed"
		}
		if text != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
		}
		if len(s.env.Imports)+len(s.env.Dots) > 0 {
			t.Errorf("%s: the environment of the session has changed", tt.name)
		}
	}
}

// TestProgramOrder puts the variables of a pasted program into the order of their initialization.
func TestProgramOrder(t *testing.T) {
	s := newSession()
	p, err := Parse(s.Input(1, "package main\nvar b = a + 1\nvar a = f()\nfunc f() int { return 1 }", &Files{}, false), s.env)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, it := range p.Pieces.Items {
		if it.Kind == syntax.Statement {
			got = append(got, it.Text)
		}
	}
	if want := []string{"var a = f()", "var b = a + 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRefused lists the mistakes for which a cell is refused: their places, messages and hints.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []string // cells
		code   string
		want   string // the problems in lines
	}{
		{"syntax", nil, "x := (1", "1:6: ( is never closed"},
		{"incomplete statement", nil, "x :=", "1:5: the statement is not complete: expected operand, found its end"},
		{"two mistakes of syntax", nil, "x := 1 +/ 2\ny := 2\nz := 2 */ 1", "1:9: expected operand, found '/'\n3:9: expected operand, found '/'"},
		{"Python", nil, "for i in range(3):\n\tprint(i)", "1:7: expected '{', found in | for i := range 10 { … } counts from 0 to 9"},
		{"unknown package", nil, "import \"nowhere/else\"", `1:8: package "nowhere/else" is not available in cells`},
		{"package of Python", nil, "import \"numpy\"", `1:8: package "numpy" is not available in cells | tensors take the place of NumPy's arrays: tensor.Arange(0, 10)`},
		{"undefined", nil, "x := y", "1:6: undefined: y"},
		{"nested", nil, strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), "1:1997: nested too deeply, in more than 2000 levels of Go's syntax; give inner parts variables or functions of their own"},
		{"doubling", []string{"type A struct{ a, b int }\ntype B struct{ a, b, c, d, e, f, g, h, i, j A }\ntype C struct{ a, b, c, d, e, f, g, h, i, j B }"},
			"type D struct{ a, b, c, d, e, f, g, h, i, j C }\ntype E struct{ a, b, c, d, e, f, g, h, i, j [2]D }\ntype F struct{ a, b, c, d, e, f, g, h, i, j E }",
			"3:6: type F holds more than 100000 types in its fields, counted as often as they occur; hold some of them by pointer"},
		{"two mistakes", nil, "x := y\nz := w", "1:6: undefined: y\n2:6: undefined: w"},
		{"in the body of a function", nil, "func f() int {\n\treturn \"a\"\n}", "2:9: cannot use \"a\" (untyped string constant) as int value in return statement"},
		{"later line", nil, "x := 1\n\n\tx.y", "3:4: x.y undefined (type int has no field or method y)"},
		{"variable of an earlier cell", []string{"x := 1"}, "var s string = x", "1:16: cannot use x (variable of type int) as string value in variable declaration"},
		{"earlier mistakes have no effect", []string{"x := 1"}, "x = \"a\"", "1:5: cannot use \"a\" (untyped string constant) as int value in assignment"},
		{"replaced type", []string{"type T struct{ A int }\nt := T{}", "type T struct{ B int }"}, "t = T{}", "1:5: cannot use T{} (value of struct type T) as T (of In[1]) value in assignment"},
		{"no value yet", nil, "_ + 1", "1:1: _ is the value of an earlier cell, and no cell has shown one yet"},
		{"no such cell", nil, "Out[3]", "1:1: cell 3 showed no value, or one that is not kept"},
		{"computed cell", []string{"n := 1"}, "Out[n]", "1:1: the index of Out must be a literal cell number, such as Out[3]: the values of cells have different types"},
		{"mistake behind a mistake", []string{"x := tensor.Ones(2)"}, "y := x.Numl()\nz := (x * 2).Sum().Itm()",
			"1:8: x.Numl undefined (type *tensor.Tensor has no field or method Numl) | did you mean Numel?\n" +
				"2:7: invalid operation: x * 2 (mismatched types *tensor.Tensor and untyped int) | write x.MulScalar(2)\n" +
				"2:20: x.MulScalar(2).Sum().Itm undefined (type *tensor.Tensor has no field or method Itm) | did you mean Item?"},
		{"slice for several arguments", []string{"x := tensor.Ones(2)\nlist := []*tensor.Tensor{x, x}"}, "tensor.Cat(0, list)",
			"1:15: cannot use list (variable of type []*tensor.Tensor) as *tensor.Tensor value in argument to tensor.Cat | tensor.Cat takes the elements of a slice with dots: tensor.Cat(list...)"},
		{"unused label", nil, "L:\nfor {}", "1:1: label L declared and not used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := after(t, tt.before...)
			env := s.env
			_, err := s.bind(tt.code)
			r, ok := err.(*syntax.Rejected)
			if !ok {
				t.Fatalf("got %v, want a rejection", err)
			}
			var got []string
			for _, p := range r.Problems {
				text := fmt.Sprintf("%d:%d: %s", p.Line, p.Col, p.Msg)
				if p.Hint != "" {
					text += " | " + strings.ReplaceAll(p.Hint, "\n", " | ")
				}
				if p.Cell != len(tt.before)+1 {
					t.Errorf("got the cell %d", p.Cell)
				}
				got = append(got, text)
			}
			if got := strings.Join(got, "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if s.env != env {
				t.Error("the environment has changed")
			}
		})
	}
}

// TestAccepted takes cells that programs may not have.
func TestAccepted(t *testing.T) {
	for _, tt := range []struct{ name, code string }{
		{"unused variable", "x := 1"},
		{"unused import", "import \"os\""},
		{"unused value", "1 + 2"},
		{"variable used by a function above it", "func f() int { return x }\nx := 1"},
		{"functions that call each other", "func even(n int) bool { return n == 0 || odd(n-1) }\nfunc odd(n int) bool { return n != 0 && even(n-1) }"},
		{"type below its use", "t := T{}\ntype T struct{}"},
		{"shadowed package", "fmt := 1\nfmt++"},
		{"generic function", "func first[T any](list []T) T { return list[0] }\nfirst([]int{1})"},
		{"main", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1) }"},
	} {
		if _, err := newSession().bind(tt.code); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestNames lists the names that a session has after some cells.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells []string
		want  string // name, kind, type and name in the engine of each, and the types that old values keep
	}{
		{"kinds", []string{"x := 1\nconst c = 2\nfunc f(n int) {}\ntype T struct{ A int }"},
			"T type struct{A int} T; c constant untyped int c; f function func(n int) f; x variable int x"},
		{"blank", []string{"_, y := 1, 2"}, "y variable int y"},
		{"local", []string{"if x := 1; x > 0 {\n\ty := 2\n\t_ = y\n}"}, ""},
		{"same variable again", []string{"x := 1", "x := 2"}, "x variable int x"},
		{"variable of another type", []string{"x := 1", "x := \"a\""}, "x variable string x__2"},
		{"variable instead of a function", []string{"func x() {}", "x := 1"}, "x variable int x__2"},
		{"function again", []string{"func f() {}", "func f() int { return 1 }"}, "f function func() int f__2"},
		{"function again, word for word", []string{"func f() {}", "func f() {}"}, "f function func() f"},
		{"user of a function", []string{"func f() {}\nfunc g() { f() }", "func f() { println() }"}, "f function func() f__2; g function func() g__2"},
		{"user that no longer fits", []string{"func f() {}\nfunc g() { f() }", "func f(n int) {}"}, "f function func(n int) f__2; g function func() g"},
		{"type again", []string{"type T struct{ A int }\nvar t T", "type T struct{ B int }"}, "T type struct{B int} T__2; t variable T t; old T__1"},
		{"type again, without values", []string{"type T struct{ A int }", "type T struct{ B int }"}, "T type struct{B int} T__2"},
		{"method added", []string{"type T struct{}", "func (T) M() {}"}, "T type struct{} T"},
		{"method with another signature", []string{"type T struct{}\nfunc (T) M() {}", "func (T) M() int { return 1 }"}, "T type struct{} T__2"},
		{"names of Go", []string{"func len() {}\nnil := 1"}, "len function func() len__1; nil variable int nil__1"},
		{"name with a number", []string{"x__1 := 1"}, "x__1 variable int x__1__1"},
		{"main", []string{"func main() {}"}, "main function func() main__1"},
	} {
		s := after(t, tt.cells...)
		var got []string
		names := maps.Collect(s.env.Names())
		for _, name := range slices.Sorted(maps.Keys(names)) {
			b := names[name]
			got = append(got, fmt.Sprintf("%s %s %s %s", name, b.Kind, b.Typ, b.Slot))
		}
		for _, b := range s.env.Old {
			got = append(got, "old "+s.env.Of(b).Check)
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestDependants lists the declarations of earlier cells that are compiled again with a cell, and those that keep the old
// declarations.
func TestDependants(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []string
		code   string
		again  string
		pinned string
	}{
		{"none", []string{"func f() {}"}, "func g() {}", "", ""},
		{"user", []string{"func f() {}\nfunc g() { f() }\nfunc h() {}"}, "func f() { println() }", "g", ""},
		{"users of users", []string{"func f() {}\nfunc g() { f() }", "func h() { g() }"}, "func f() { println() }", "g h", ""},
		{"method", []string{"type T struct{}\nfunc (T) M() int { return f() }\nfunc f() int { return 1 }"}, "func f() int { return 2 }", "T.M", ""},
		{"type of a variable", []string{"x := 1\nfunc g() any { return x }"}, "x := \"a\"", "g", ""},
		{"value of a variable", []string{"x := 1\nfunc g() int { return x }"}, "x := 2", "", ""},
		{"no longer fits", []string{"func f() {}\nfunc g() { f() }"}, "func f(n int) {}", "", "g: not enough arguments in call to f\n\thave ()\n\twant (int)"},
		{"methods of a type", []string{"type T struct{ A int }\nfunc (t T) M() int { return t.A }"}, "type T struct{ A, B int }", "T.M", ""},
	} {
		s := after(t, tt.before...)
		c, err := s.bind(tt.code)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var again, pinned []string
		for _, f := range c.Decls {
			if f.Dependant {
				for _, b := range f.Src.Binds {
					again = append(again, b.Name)
				}
				for _, m := range f.Src.Methods {
					again = append(again, m.Typ.Name+"."+m.Name)
				}
			}
		}
		for src, why := range c.Pinned {
			pinned = append(pinned, src.Binds[0].Name+": "+why)
		}
		if got := strings.Join(again, " "); got != tt.again {
			t.Errorf("%s: compiled again: got %q, want %q", tt.name, got, tt.again)
		}
		if got := strings.Join(pinned, "; "); got != tt.pinned {
			t.Errorf("%s: not compiled again: got %q, want %q", tt.name, got, tt.pinned)
		}
	}
}

// TestUnit compares the units of cells for an engine that needs no rewrites.
func TestUnit(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before []string
		code   string
		want   string // declarations without imports
	}{
		{"variable", nil, "x := 1", "var x int\nfunc cell__1() {\n\tx = 1\n}"},
		{"variable without a value", nil, "var x int", "var x int\nfunc cell__1() {\n}"},
		{"value", nil, "1 + 2", "var out__1_0 int\nfunc cell__1() {\n\tout__1_0 = 1 + 2\n}"},
		{"two values", nil, "strings.Cut(\"a=b\", \"=\")", "var out__1_0 string\nvar out__1_1 string\nvar out__1_2 bool\nfunc cell__1() {\n\tout__1_0, out__1_1, out__1_2 = p__strings.Cut(\"a=b\", \"=\")\n}"},
		{"suppressed value", nil, "1 + 2;", "func cell__1() {\n\t_ = 1 + 2\n}"},
		{"printed", nil, "fmt.Println(1)", "func cell__1() {\n\tp__fmt.Println(1)\n}"},
		{"value in the middle", nil, "1\nprintln()", "func cell__1() {\n\t_ = 1\n\tprintln()\n}"},
		{"variable again", []string{"x := 1"}, "x := 2", "func cell__2() {\n\tx = 2\n}"},
		{"variable of another type", []string{"x := 1"}, "x := \"a\"", "var x__2 string\nfunc cell__2() {\n\tx__2 = \"a\"\n}"},
		{"shadowed variable", []string{"x := 1", "x := \"a\""}, "func(x int) {}(len(x))", "func cell__3() {\n\tfunc(x int) {\n\t}(len(x__2))\n}"},
		{"function", nil, "func f() int { return 1 }", "func f() int {\n\treturn 1\n}\nfunc cell__1() {\n}"},
		{"function called from a literal", []string{"func f() int { return 1 }"}, "g := func() int { return f() }",
			"var g func() int\nvar f__hook2 func() int\nfunc cell__2() {\n\tf__hook2 = f\n\tg = func() int {\n\t\treturn f__hook2()\n\t}\n}"},
	} {
		s := after(t, tt.before...)
		c, err := s.bind(tt.code)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		l, err := c.Lower(&Target{Generics: s.Generics, Included: s.Included, Labels: map[string]string{}, FirstMark: 1, Types: dynamic.NewSpace(), TypeLabel: func(*Generics) func(string, bool) string { return nil }})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, d := range l.Unit.File.Decls[1:] {
			got = append(got, lower.Print(d))
		}
		if got := strings.Join(got, "\n"); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestFits refuses values of types that do not fit into memory.
func TestFits(t *testing.T) {
	for _, tt := range []struct {
		code  string
		limit int64
		want  bool
	}{
		{"var x [1 << 20]int", 1 << 20, false},
		{"var x [1 << 20]int", 1 << 24, true},
		{"var x [1 << 20]int", 0, true},
		{"type T struct{ a, b [1 << 10]byte }\nvar x *T", 1 << 11, true},
		{"type T struct{ a, b [1 << 10]byte }\nvar x *T", 1<<11 - 1, false},
		{"var x [1 << 40][1 << 20]struct{ a, b [1 << 10]byte }", 1 << 62, true},
		{"x := make([]int, 1 << 30)", 1 << 20, true}, // only known when it runs
	} {
		s := newSession()
		p, err := Parse(s.Input(1, tt.code, &Files{}, false), s.env)
		if err != nil {
			t.Fatal(err)
		}
		k, err := p.Check(map[*Source]bool{})
		if err != nil {
			t.Errorf("%s: %v", tt.code, err)
			continue
		}
		if err := k.Fits(tt.limit, ""); (err == nil) != tt.want {
			t.Errorf("%s in %d bytes: got %v, want it accepted: %v", tt.code, tt.limit, err, tt.want)
		}
	}
}

// TestIsValue tells names that begin an expression from others.
func TestIsValue(t *testing.T) {
	s := after(t, "x := 1\ntype T int\nfunc f() {}\nimport \"os\"")
	for _, tt := range []struct {
		name      string
		beforeDot bool
		want      bool
	}{
		{"x", false, true}, {"f", false, true}, {"T", false, false}, {"T", true, false}, {"true", false, true},
		{"os", true, true}, {"os", false, false}, {"tensor", true, true}, {"tensor", false, false}, {"y", false, false},
	} {
		if got := s.env.IsValue(tt.name, tt.beforeDot); got != tt.want {
			t.Errorf("%s, before a dot %v: got %v, want %v", tt.name, tt.beforeDot, got, tt.want)
		}
	}
}

// TestInForce checks that a declaration in force is not compiled again, and that its place moves to the latest cell.
func TestInForce(t *testing.T) {
	s := after(t, "func f() int { return 1 }", "x := 1\n// again\nfunc f() int { return 1 }")
	src := s.env.Named("f").Src
	if src.Cell != 2 || src.Item.Line != 3 {
		t.Errorf("got the place In[%d], line %d, want In[2], line 3", src.Cell, src.Item.Line)
	}
	if n := len(s.env.Sources()); n != 1 {
		t.Errorf("got %d declarations, want 1", n)
	}
}

// TestMemoryOfDeclarations checks that the front end keeps less than 4 KB of a cell that declares a function, a variable and a type.
func TestMemoryOfDeclarations(t *testing.T) {
	s := newSession()
	used := func(from, to int) int {
		for n := from; n < to; n++ {
			if _, err := s.bind(fmt.Sprintf("type T%d struct{ a, b int }\nfunc f%[1]d(x int) int { return x + %[1]d }\nx%[1]d := f%[1]d(%[1]d)", n)); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const cells = 2000
	before := used(0, 200)
	each := (used(200, 200+cells) - before) / cells
	runtime.KeepAlive(s)
	t.Logf("%d bytes per cell", each)
	if each > 4<<10 {
		t.Errorf("%d bytes per cell, want at most 4096", each)
	}
}
