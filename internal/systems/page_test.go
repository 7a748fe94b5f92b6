package systems

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table to docs/testing.md")

// TestPage compares the table with the one in docs/testing.md, between two comments.
func TestPage(t *testing.T) {
	const begin, end = "<!-- The table of systems is internal/systems.Table -->\n", "<!-- End of the table of systems -->\n"
	path := filepath.Join(root, "docs", "testing.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(text), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s lacks %q or %q", path, begin, end)
	}
	var want strings.Builder
	want.WriteString("\n| system | checked | compiled and linked | what runs there |\n|---|---|---|---|\n")
	for _, s := range Table {
		checked, built := "all packages", "the program"
		if s.Packages[0] != "./..." {
			checked = "`" + strings.Join(s.Packages, "`, `") + "`"
		}
		if s.Program == "" {
			built = "no: " + s.Why
		} else if s.Program != program {
			built = "`" + s.Program + "`"
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s |\n", s.Name(), checked, built, s.Runs)
	}
	want.WriteString("\n")
	if got == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s is not the table; go test ./internal/systems -run TestPage -update writes it", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
