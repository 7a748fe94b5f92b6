package dynamic

import (
	"os"
	slash "path"
	"strings"
	"testing"
)

// TestReflective checks that the script of each row of the table uses what the row is about.
func TestReflective(t *testing.T) {
	uses := func(script, name string) bool {
		text, err := os.ReadFile("../../testdata/" + script + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		_, base, _ := strings.Cut(slash.Base(name), ".") // a function or method
		if i := strings.LastIndexByte(base, '.'); i >= 0 {
			base = base[i+1:]
		}
		if base == "" {
			return strings.Contains(string(text), slash.Base(name)+".")
		}
		return strings.Contains(string(text), base+"(")
	}
	for name, r := range reflective {
		if !uses(r.script, name) {
			t.Errorf("%s.txtar does not use %s", r.script, name)
		}
	}
}
