package interp

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFaultsHaveTests checks that a script or the comment of a Go test names every fault
// and every requirement of testdata/faults.md. It is must-test 15.
func TestFaultsHaveTests(t *testing.T) {
	list, err := os.ReadFile("testdata/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"testdata/*.txtar", "*_test.go", "internal/*/*_test.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	named := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bY\d+\b|\bmust-test \d+\b`).FindAllString(string(text), -1) {
			named[name] = true
		}
	}
	rows := regexp.MustCompile(`(?m)^\| (Y\d+|must-test \d+) \|`).FindAllStringSubmatch(string(list), -1)
	if len(rows) != 47+15 {
		t.Errorf("faults.md has %d rows, want 47 faults and 15 requirements", len(rows))
	}
	for _, row := range rows {
		if !named[row[1]] {
			t.Errorf("no script or test names %s", row[1])
		}
	}
}
