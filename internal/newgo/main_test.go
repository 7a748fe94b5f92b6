package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

const top = "../.." // folder of the project

// TestRows checks that the rows are sorted and name files and tests that exist.
func TestRows(t *testing.T) {
	if !slices.IsSortedFunc(rows, func(a, b row) int { return cmp.Or(strings.Compare(a.pkg, b.pkg), strings.Compare(a.name, b.name)) }) {
		t.Error("the rows are not sorted by package and name")
	}
	for _, r := range rows {
		for _, f := range r.files {
			if _, err := os.Stat(filepath.Join(top, f)); err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
		}
		have := testNames(t, filepath.Join(top, r.pkg))
		for _, test := range r.tests {
			if !have[test] {
				t.Errorf("%s: package %s has no test %s", r.name, r.pkg, test)
			}
		}
	}
}

// testNames returns the names of the tests in a folder.
func testNames(t *testing.T, dir string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no tests, error %v", dir, err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil {
				names[d.Name.Name] = true
			}
		}
	}
	return names
}

// signs are texts of code that reaches what a package does not export.
var signs = []string{"//go:linkname ", `FieldByName("go116`}

// TestEveryReliance finds code that reaches unexported parts of Go or of modules, and asks for its row.
func TestEveryReliance(t *testing.T) {
	for name, text := range sources(t) {
		for _, sign := range signs {
			if strings.Contains(text, sign) && !inRow(name) {
				t.Errorf("%s has %q and is not among the files of a row in rows.go", name, sign)
			}
		}
	}
}

// sources returns the texts of the Go files of the project without tests, by path.
func sources(t *testing.T) map[string]string {
	texts := map[string]string{}
	for _, name := range testenv.Tracked(t, top) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/newgo/") || strings.Contains(name, "testdata/") {
			continue
		}
		b, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(b)
	}
	return texts
}

// metric matches the name of a metric of package runtime/metrics where it is read.
var metric = regexp.MustCompile(`Name: "(/[a-z/-]+:[a-z-]+)"`)

// TestMetrics checks that each metric that the project reads exists and is a number: a sample of
// another one panics.
func TestMetrics(t *testing.T) {
	kinds := map[string]metrics.ValueKind{}
	for _, d := range metrics.All() {
		kinds[d.Name] = d.Kind
	}
	found := 0
	for name, text := range sources(t) {
		for _, m := range metric.FindAllStringSubmatch(text, -1) {
			found++
			if kinds[m[1]] != metrics.KindUint64 {
				t.Errorf("%s reads the metric %s, which %s does not have as a number", name, m[1], runtime.Version())
			}
		}
	}
	if found < 5 {
		t.Errorf("found %d names of metrics in the sources, want at least 5", found)
	}
}

// inRow reports whether a row has a file, or a folder around it.
func inRow(name string) bool {
	return slices.ContainsFunc(rows, func(r row) bool {
		return slices.ContainsFunc(r.files, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
	})
}

// TestPage compares the page with the rows.
func TestPage(t *testing.T) {
	b, err := os.ReadFile(top + "/docs/new-go.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := page(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Error("docs/new-go.md is not that of the rows: run go generate ./internal/newgo")
	}
}

// TestResults reads output of go test -json for tests that pass, fail, are skipped and do not run.
func TestResults(t *testing.T) {
	o, err := read([]byte(`{"Action":"start"}
{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA/part","Output":"    a_test.go:1: words of a part\n"}
{"Action":"fail","Test":"TestA/part"}
{"Action":"fail","Test":"TestA"}
{"Action":"output","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Test":"TestB","Output":"    b_test.go:1: needs a thing\n"}
{"Action":"skip","Test":"TestB"}
{"Action":"pass","Test":"TestC"}
{"Action":"output","Output":"FAIL\n"}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tests []string
		want  verdict
		words string
	}{
		{[]string{"TestC"}, pass, ""},
		{[]string{"TestC", "TestB"}, notRun, "needs a thing"},
		{[]string{"TestB", "TestA"}, failed, "words of a part"},
		{[]string{"TestC", "TestD"}, failed, "TestD did not run"},
	} {
		got := o.of(row{tests: c.tests})
		if got.verdict != c.want || !strings.Contains(got.why, c.words) || strings.Contains(got.why, "===") {
			t.Errorf("%v: got %s with the words %q, want %s with %q", c.tests, got.verdict, got.why, c.want, c.words)
		}
	}
	if _, err := read([]byte("not JSON")); err == nil {
		t.Error("text that is not JSON: got no error")
	}
}

// TestRelease checks the names of releases.
func TestRelease(t *testing.T) {
	for version, want := range map[string]string{"1.27.4": "go1.27.4", "go1.28rc1": "go1.28rc1", "local": "local", "": ""} {
		if got := release(version); got != want {
			t.Errorf("release(%q): got %q, want %q", version, got, want)
		}
	}
}
