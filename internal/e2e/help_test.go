package e2e

import (
	"strings"
	"testing"
)

// TestHelp checks that help describes the commands as --help does.
func TestHelp(t *testing.T) {
	for _, tt := range []struct{ command, flag []string }{
		{[]string{"help"}, []string{"--help"}},
		{[]string{"help", "run"}, []string{"run", "--help"}},
	} {
		want, code := halfnote(t, tt.flag...)
		if code != 0 || !strings.HasPrefix(want, "Usage: halfnote ") {
			t.Fatalf("halfnote %v: got exit code %d and\n%s", tt.flag, code, want)
		}
		if got, code := halfnote(t, tt.command...); code != 0 || got != want {
			t.Errorf("halfnote %v: got exit code %d and\n%s\nwant\n%s", tt.command, code, got, want)
		}
	}
	if got, code := halfnote(t, "help", "nosuch"); code == 0 || !strings.Contains(got, "nosuch") {
		t.Errorf("halfnote help nosuch: got exit code %d and %q, want an error", code, got)
	}
}
