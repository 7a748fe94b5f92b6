package text

import "testing"

// TestCut checks that a text keeps at most max code points, the last an ellipsis if some are missing.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äö…"}, {"ab", 1, "…"}, {"a\xffb", 2, "a…"}} {
		if got := Cut(c.text, c.max); got != c.want {
			t.Errorf("Cut(%q, %d): got %q, want %q", c.text, c.max, got, c.want)
		}
	}
}
