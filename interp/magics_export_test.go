package interp

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/kernel/eval"
)

// TestExportedPrograms checks that a program exported from cells prints the same as the
// cells.
func TestExportedPrograms(t *testing.T) {
	gocmd, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	names := []string{"export", "float16", "generics", "programs", "wholeprogram"}
	if newest() {
		names = append(names, "go1.27/genericmethods", "go1.27/genericmethodforms", "go1.27/promotedfields", "go1.27/inference")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			s := newSession(t)
			var want bytes.Buffer
			n := 0
			for _, f := range a.Files {
				if f.Name != "cell" {
					continue
				}
				n++
				rec := &recorder{}
				r := s.Eval(t.Context(), eval.Cell{Code: strings.TrimSuffix(string(f.Data), "\n"), Count: n}, rec)
				if r.Err != nil || strings.HasPrefix(string(f.Data), "%") {
					continue
				}
				want.WriteString(rec.printed())
				if r.Value != nil {
					want.WriteString(r.Value.String() + "\n")
				}
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "main.go")
			if got := evalFor(t, s, n+1, "%export "+file, ""); got != "writing "+file+"\n" && !strings.Contains(got, "require halfnote") {
				t.Fatalf("got %q", got)
			}
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			exe := filepath.Join(dir, "main.exe")
			if out, err := exec.Command(gocmd, "build", "-o", exe, file).CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s\n%s", err, out, src)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var stderr bytes.Buffer
			cmd := exec.CommandContext(ctx, exe)
			cmd.Stderr = &stderr
			got, err := cmd.Output()
			if err != nil || string(got) != want.String() {
				t.Errorf("%v\n%s\ngot:\n%s\nwant:\n%s\nof the program\n%s", err, &stderr, got, &want, src)
			}
		})
	}
}

// TestGoModHint checks what an exported program's go.mod is told to require: the packages that cells import without one.
func TestGoModHint(t *testing.T) {
	const float16 = "\trequire github.com/x448/float16 " // and a version, which a test program may lack
	for _, c := range []struct{ mod, code, want string }{
		{"", "fmt.Println(1)", ""},
		{"", "fmt.Println(tensor.Ones(1))", "add to its go.mod, with the folder of halfnote's source for FOLDER:\n\trequire halfnote v1.2.3\n\treplace halfnote => FOLDER\n"},
		{"", "import \"github.com/x448/float16\"\nfmt.Println(float16.NaN())", "add to its go.mod:\n" + float16},
		{"", "import f \"github.com/x448/float16\"\nfmt.Println(tensor.Ones(int(f.Frombits(1))))", "FOLDER\n" + float16},
		{"module m\nrequire github.com/x448/float16 v0.8.4\n", "import \"github.com/x448/float16\"\nfmt.Println(float16.NaN())", ""},
		{"module m\nrequire halfnote v0.0.0\n", "import f \"github.com/x448/float16\"\nfmt.Println(tensor.Ones(int(f.Frombits(1))))", "add to its go.mod:\n" + float16},
	} {
		src, err := Export([]ExecutedCell{{Code: c.code, Count: 1}})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(c.mod), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := GoModHint(filepath.Join(dir, "main.go"), src, "1.2.3"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s\nnext to the go.mod %q: got\n%s\nwant\n%s\nfor\n%s", c.code, c.mod, got, c.want, src)
		}
	}
}

// TestExportErrors checks the errors of %export for unusable file names.
func TestExportErrors(t *testing.T) {
	s := newSession(t)
	for i, c := range []struct{ code, want string }{
		{"%export", "want a file name that ends in .go"},
		{"%export notes.txt", "want a file name that ends in .go"},
		{"%export no-such-folder/main.go", "no such file"},
	} {
		if got := evalFor(t, s, i+1, c.code, ""); !strings.HasPrefix(got, "MagicError") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got\n%s", c.code, got)
		}
	}
}

// TestExportComments checks that an omitted cell, or part of one, becomes a comment
// with the reason, and that %time is kept in the program.
func TestExportComments(t *testing.T) {
	src, err := Export([]ExecutedCell{
		{Code: "x := 1\nvar s string = 2", Count: 1, Failed: "CompileError"},
		{Code: "func half(n int) int { return 1 / n }\nhalf(0)", Count: 2, Failed: "Panic"},
		{Code: "%%time\nfmt.Println(half(1))", Count: 3},
		{Code: "%vars", Count: 4},
		{Code: "%%bash\nls\ncd /", Count: 5},
		{Code: "half?", Count: 6},
		{Code: "a := 1\n!ls\nb := a\n%time half(b)", Count: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"// In[1] is left out, because", "\n//\tx := 1\n//\tvar s string = 2\n",
		"// In[2] ended with Panic", "//\thalf(0)\n", "\nfunc half(n int) int { return 1 / n }\n",
		"\ttimed(cell3)\n", "start := time.Now()",
		"// In[4] has a magic with no meaning in a program: %vars\n", "//\tls\n//\tcd /\n", "// In[6] asked for help: half?\n",
		"\tcell7()\n\tcell7_2()\n\ttimed(cell7_3)\n",
	} {
		if !strings.Contains(string(src), want) {
			t.Errorf("no %q in\n%s", want, src)
		}
	}
}

// TestExportUnused checks that the program uses every local variable, wherever it is
// declared.
func TestExportUnused(t *testing.T) {
	code := `func f(a any) {
	n := 1
	var m, k int
	if z, ok := a.(int); ok { w := 2 }
	for i, v := range []int{1} {}
	for i := 0; ; {}
	switch t := a.(type) { case int: q := 3; case string: }
	switch s := 1; { default: }
	g := func() { inner := 4 }
	if b := 1; a != nil {} else if d := 2; a == nil {}
	select { case e := <-make(chan int): default: }
L:
	for { r := 1; break L }
	k = 3 // assigned to only
}`
	src, err := Export([]ExecutedCell{{Code: code, Count: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"n", "m", "k", "z", "w", "i", "v", "t", "q", "s", "g", "inner", "b", "d", "e", "r"} {
		if !strings.Contains(string(src), "_ = "+name+"\n") {
			t.Errorf("%s has no use in\n%s", name, src)
		}
	}
}

// TestExportOwnPackages checks that the program also imports packages of the working
// directory's module.
func TestExportOwnPackages(t *testing.T) {
	gocmd, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26\n",
		"stock/v2/stock.go": "package stock\n\nimport \"fmt\"\n\ntype Item struct{ Name string }\n\n" +
			"func Add(n string) Item { fmt.Println(\"added\", n); return Item{n} }\nfunc Of[T any](x T) []T { return []T{x} }\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := newSession(t)
	evalFor(t, s, 1, "import \"example.com/shop/stock/v2\"\nit := stock.Add(\"a\")\nlist := stock.Of(it)", "")
	evalFor(t, s, 2, "stock := len(list)\nfmt.Println(stock)", "")
	if got := evalFor(t, s, 3, "%export main.go", ""); got != "writing main.go\n" {
		src, _ := os.ReadFile("main.go")
		t.Fatalf("got %q\n%s", got, src)
	}
	if got, err := exec.Command(gocmd, "run", "main.go").CombinedOutput(); err != nil || string(got) != "added a\n1\n" {
		t.Errorf("got %s, %v", got, err)
	}
}
