package dynamic

import (
	"os"
	"testing"
)

// TestReflective checks that each row of the table has its script.
func TestReflective(t *testing.T) {
	for name, r := range reflective {
		if _, err := os.Stat("../../testdata/" + r.script + ".txtar"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
