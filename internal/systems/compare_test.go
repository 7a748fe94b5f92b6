package systems

import (
	"bytes"
	"cmp"
	"fmt"
	"go/build"
	"go/build/constraint"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// accepted holds the names that differ between systems on purpose, with the reason. A key is a package below the module,
// a dot and the name; a package alone stands for all its names.
var accepted = map[string]string{
	"interp/internal/native/object.builtins": "the list of a release has its own length, and is only indexed",
}

// unchecked holds the files that no system of the table builds, with the reason.
var unchecked = map[string]string{}

// difference is a name that a file under a build constraint declares, and which other systems lack or declare differently.
type difference struct {
	name  string              // package and name
	texts map[string][]string // variants by what they declare, "" for nothing
}

func (d difference) accepted() bool {
	pkg, _, _ := strings.Cut(d.name, ".")
	return accepted[d.name] != "" || accepted[pkg] != ""
}

func (d difference) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not the same on all systems:", d.name)
	for _, text := range slices.Sorted(maps.Keys(d.texts)) {
		fmt.Fprintf(&b, "\n\t%s: %s", strings.Join(d.texts[text], ", "), cmp.Or(text, "not declared"))
	}
	return b.String()
}

// differences compares the names that packages declare in files under build constraints, between the systems that have the package.
// Names that only their own file uses are not compared. An unexported name that a system lacks is not a difference: if something used
// it there, the types would not be right.
func differences(all []*checked) (list []difference) {
	slices.SortFunc(all, func(a, b *checked) int { return strings.Compare(a.variant.String(), b.variant.String()) })
	names := map[[2]string]bool{}
	for _, c := range all {
		for pkg, symbols := range c.packages {
			for name, s := range symbols {
				if s.used {
					names[[2]string{pkg, name}] = true
				}
			}
		}
	}
	for n := range names {
		constrained := false
		d := difference{strings.TrimPrefix(n[0], "halfnote/") + "." + n[1], map[string][]string{}}
		for _, c := range all {
			symbols, ok := c.packages[n[0]]
			if !ok || len(symbols) == 0 { // a package that has only its comment replaces nothing
				continue
			}
			s, ok := symbols[n[1]]
			if !ok && !('A' <= n[1][0] && n[1][0] <= 'Z') {
				continue
			}
			d.texts[s.text] = append(d.texts[s.text], c.variant.String())
			if !ok {
				continue
			}
			for _, other := range all {
				_, has := other.packages[n[0]]
				constrained = constrained || has && !other.files[s.file]
			}
		}
		if constrained && len(d.texts) > 1 {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b difference) int { return strings.Compare(a.name, b.name) })
	return list
}

// leftOut returns the Go files of the module, without tests and programs that go generate runs, that are in none of the builds.
func leftOut(t *testing.T, all []*checked) (list []string) {
	t.Helper()
	for _, file := range testenv.Tracked(t, root) {
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		if slices.ContainsFunc(all, func(c *checked) bool { return c.files[file] }) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if !forAnother(text) {
			list = append(list, file)
		}
	}
	return list
}

// forAnother reports whether no system builds a file with this release of Go: it is a program that go generate runs, or for another
// release, whose own run of the tests checks it.
func forAnother(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !constraint.IsGoBuild(string(line)) {
			continue
		}
		expr, err := constraint.Parse(string(bytes.TrimSpace(line)))
		if err != nil {
			return false
		}
		var free []string // tags that some system has and another lacks
		walk(expr, func(tag string) {
			if !strings.HasPrefix(tag, "go1.") && tag != "ignore" && !slices.Contains(free, tag) {
				free = append(free, tag)
			}
		})
		for set := range 1 << len(free) {
			if expr.Eval(func(tag string) bool {
				if i := slices.Index(free, tag); i >= 0 {
					return set>>i&1 != 0
				}
				return slices.Contains(build.Default.ReleaseTags, tag)
			}) {
				return false
			}
		}
		return true
	}
	return false
}

// walk calls f for each tag of an expression.
func walk(expr constraint.Expr, f func(tag string)) {
	switch e := expr.(type) {
	case *constraint.TagExpr:
		f(e.Tag)
	case *constraint.NotExpr:
		walk(e.X, f)
	case *constraint.AndExpr:
		walk(e.X, f)
		walk(e.Y, f)
	case *constraint.OrExpr:
		walk(e.X, f)
		walk(e.Y, f)
	}
}

// TestStale damages files for other systems in memory, in the ways in which they have fallen behind or can.
func TestStale(t *testing.T) {
	const (
		loader = "interp/internal/native/loader/other.go"
		shell  = "interp/internal/shell/group_windows.go"
	)
	for _, test := range []struct{ name, path, old, new, want string }{
		{"nothing", loader, "", "", ""},
		{"a type is missing", loader, "type Var struct{}", "type unused struct{}", "undefined: Var"},
		{"an option has its old name", loader, "Names ", "Objects ", "unknown field Names"},
		{"a result without a use", shell, "func interrupt(*exec.Cmd) {}", "func interrupt(*exec.Cmd) int { return 0 }", "interp/internal/shell.interrupt is not the same"},
		{"a name for one system", shell, "func interrupt", "func Extra() {}\n\nfunc interrupt", "interp/internal/shell.Extra is not the same"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, test.path))
			if err != nil {
				t.Fatal(err)
			}
			src := newSources(t)
			damaged := strings.Replace(string(text), test.old, test.new, 1)
			if damaged == string(text) && test.want != "" {
				t.Fatalf("%s has no %q; damage something else", test.path, test.old)
			}
			src.replace = map[string]string{test.path: damaged}
			var all []*checked
			var found []string
			for _, system := range []string{"linux", "windows"} {
				c, err := check(Variant{GOOS: system, GOARCH: "amd64"}, []string{"./interp/internal/native", "./interp/internal/shell"}, false, src)
				if err != nil {
					t.Fatal(err)
				}
				all, found = append(all, c), append(found, c.errs...)
			}
			for _, d := range differences(all) {
				found = append(found, d.String())
			}
			if len(found) > 0 != (test.want != "") || !strings.Contains(strings.Join(found, "\n"), test.want) {
				t.Errorf("got %q, want one with %q", found, test.want)
			}
		})
	}
}
