package interp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// complete1 completes a cell at the mark | and returns the texts of the matches.
func complete1(s *Session, cell string) []string {
	code, cursor := at(cell)
	var list []string
	for _, m := range s.Complete(code, cursor).Matches {
		list = append(list, m.Text)
	}
	return list
}

// TestCompleteValues checks completion based on the current values of variables.
func TestCompleteValues(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "type T struct{ Table map[string]int }\nvar s fmt.Stringer = time.Second\nvar r any = strings.NewReader(\"a\")\nm := map[string]map[string]int{\"beta\": {\"inner\": 1}, \"alpha\": nil, \"a\\\"b\": nil}\nt := &T{m[\"beta\"]}\nlist := []any{t, 3, time.Now()}\nvar none any", "")
	for _, tt := range []struct {
		cell      string
		want, not []string
	}{
		{"m[\"|", []string{"a\\\"b", "alpha", "beta"}, nil},
		{"m[\"|\"]", []string{"alpha", "beta"}, nil},
		{"fmt.Println(m[\"al|", []string{"alpha"}, []string{"beta"}},
		{"m[`b|`]", []string{"beta"}, nil},
		{"m[`|`]", []string{"alpha"}, []string{"a\\\"b", `a\"b`}},
		{"m[\"beta\"][\"|", []string{"inner"}, nil},
		{"t.Table[\"|", []string{"inner"}, nil},
		{"s.|", []string{"String", "(time.Duration)", "(time.Duration).Seconds"}, []string{"Seconds"}},
		{"s.Sec|", []string{"(time.Duration).Seconds"}, nil},
		{"r.|", []string{"(*strings.Reader)", "(*strings.Reader).Len"}, []string{"Len", "s"}},
		{"list[2].|", []string{"(time.Time).Year"}, nil},
		{"r.(*strings.Reader).|", []string{"Len"}, nil},
		{"none.|", nil, []string{"(nil)"}},
		{"x := \"a|", nil, []string{"alpha"}},
		{"m[\"|\nx := 3", []string{"alpha"}, nil},
		{"func f() {\n\tm[\"|", []string{"alpha"}, nil},
		{"m := map[string]int{}\nm[\"|", nil, []string{"alpha"}},
	} {
		got := complete1(s, tt.cell)
		for _, w := range tt.want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: got %q, want %q", tt.cell, got, w)
			}
		}
		for _, w := range tt.not {
			if slices.Contains(got, w) {
				t.Errorf("%s: got %q, want no such match", tt.cell, w)
			}
		}
	}
}

// TestCompleteFiles checks completion of files where a file name is expected.
func TestCompleteFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"train.csv", "test.csv", ".hidden", "models/net.bin", "žluť.txt", "two words"} {
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HALFNOTE_TEST_NAME", "value")
	s := newSession(t)
	for _, tt := range []struct {
		cell  string
		want  []string
		start int
	}{
		{"import \"os\"\nos.Open(\"t|\")", []string{"test.csv", "train.csv", "two words"}, 21},
		{"import \"os\"\nos.ReadFile(\"models/|", []string{"net.bin"}, 32},
		{"os.ReadDir(\"mo|\")", []string{"models/"}, 12},
		{"strings.ToUpper(\"t|\")", nil, -1},
		{"os.Getenv(\"t|\")", nil, -1},
		{"%cd |", []string{"models/"}, 4},
		{"%load tr|", []string{"train.csv"}, 6},
		{"%%writefile models/n|", []string{"net.bin"}, 19},
		{"%load .|", []string{".hidden"}, 6},
		{"!ls -l models/|", []string{"net.bin"}, 14},
		{"!wc < tr|", []string{"train.csv"}, 6},
		{"%load ž|", []string{"žluť.txt"}, 6},
		{"%load nowhere/|", nil, -1},
		{"%env HALFNOTE_TEST_N|", []string{"HALFNOTE_TEST_NAME"}, 5},
		{"%cd " + dir + "/mo|", []string{"models/"}, 5 + len(dir)},
		{"%%writefile x.txt\nt|", nil, -1},
		{"%%bash\nt|", nil, -1},
		{"%lsm|", []string{"%lsmagic"}, 0},
		{"%pinfo tens|", []string{"tensor"}, 7},
	} {
		code, cursor := at(tt.cell)
		c := s.Complete(code, cursor)
		var got []string
		for _, m := range c.Matches {
			got = append(got, m.Text)
		}
		if !slices.Equal(got, tt.want) || tt.start >= 0 && c.Start != tt.start {
			t.Errorf("%s: got %q from %d, want %q from %d", tt.cell, got, c.Start, tt.want, tt.start)
		}
	}
}

// TestInspectValues checks that help shows the current value of a variable or a part of
// one.
func TestInspectValues(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "// Point is a place.\ntype Point struct{ X, Y int }\np := &Point{1, 2}\nl := []int{1, 2, 3}\nvar e any = time.Second\nm := map[string]Point{\"a\": {3, 4}}\nx := tensor.Ones(2)\nword := \"žluť\"\nconst c = 3\nfunc f(n int) int { return n }", "")
	for _, tt := range []struct{ cell, want string }{
		{"p|", "var p *Point\n\n= &Point{X:1 Y:2}"},
		{"fmt.Println(p.|X)", "field X int\n\n= 1"},
		{"m[\"a\"].Y|", "field Y int\n\n= 4"},
		{"l|", "var l []int\n\n= [1 2 3]\n// len 3, cap 3"},
		{"m|", "= map[a:Point{X:3 Y:4}]\n// len 1"},
		{"e|", "var e any\n\n= 1s\n// a time.Duration"},
		{"x|", "var x *tensor.Tensor\n\n= tensor([1., 1.])"},
		{"word|", "= žluť\n// 6 bytes"},
		{"c|", "const c untyped int = 3"},
		{"f|", "func f(n int) int"},
		{"l|ocal := 3", "var local int"},
		{"if l := 3; l| > 2 {\n}", "var l int"},
		{"os.Args|", "import \"os\"\n\nvar Args []string"},
	} {
		code, cursor := at(tt.cell)
		b, _ := s.Inspect(code, cursor, 0)
		if got := b.String(); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.cell, got, tt.want)
		}
	}
	for cell, want := range map[string]string{
		"p?":            "page var p *Point\n\n= &Point{X:1 Y:2}\n",
		"%pinfo l":      "page var l []int\n\n= [1 2 3]\n// len 3, cap 3\n",
		"%time?":        "page %time STATEMENT\n",
		"p??":           "// In[1]\ntype Point struct{ X, Y int }\n",
		"range?":        "page for k, v := range x",
		"tensor.Ones?":  "torch.ones",
		"nn.NewLinear?": "torch.nn.Linear",
	} {
		if got := evalFor(t, s, 2, cell, ""); !strings.Contains(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", cell, got, want)
		}
	}
	code, cursor := at("Poi|nt{}")
	b, _ := s.Inspect(code, cursor, 1)
	if got := b.String(); !strings.Contains(got, "Point is a place.") || !strings.Contains(got, "// In[1]\ntype Point struct{ X, Y int }") {
		t.Errorf("got %s", got)
	}
}

// TestCompleteModule checks completion and help for packages of the notebook's module.
func TestCompleteModule(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod":                "module example.org/notes\n\ngo 1.26\n",
		"shapes/shapes.go":      "// Package shapes has shapes.\npackage shapes\n\n// Square is a square.\ntype Square struct {\n\t// Side is its length.\n\tSide int\n}\n\n// Area returns its area.\nfunc (s Square) Area() int { return s.Side * s.Side }\n",
		"shapes/round/round.go": "package round\n",
		"testdata/x.go":         "package x\n",
		"empty/readme.md":       "",
	} {
		os.MkdirAll(filepath.Dir(name), 0o777)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t)
	for _, tt := range []struct {
		cell string
		want []string
	}{
		{"import \"example|", []string{"example.org/notes"}},
		{"import \"example.org/notes/|\"", []string{"example.org/notes/shapes"}},
		{"import \"example.org/notes/shapes/r|", []string{"example.org/notes/shapes/round"}},
		{"import \"example.org/notes/shapes\"\nshapes.|", []string{"Square"}},
		{"import \"example.org/notes/shapes\"\nshapes.Square{}.|", []string{"Side", "Area"}},
	} {
		if got := complete1(s, tt.cell); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.cell, got, tt.want)
		}
	}
	evalFor(t, s, 1, "import \"example.org/notes/shapes\"\ns := shapes.Square{3}", "")
	for cell, want := range map[string]string{
		"shapes.Square?": "Square is a square.", "s.Area?": "Area returns its area.", "s.Side?": "field Side int\n\n= 3\n\nSide is its length.",
		"s.Area??": "func (s Square) Area() int { return s.Side * s.Side }",
	} {
		if got := evalFor(t, s, 2, cell, ""); !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", cell, got, want)
		}
	}
}
