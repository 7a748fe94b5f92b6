package testenv

import "testing"

func TestLowContrast(t *testing.T) {
	for _, c := range []struct {
		text string
		low  bool
	}{
		{`<td style="color:#B00020">x</td>`, true}, // red, unreadable on black
		{`<td style="color:#6CB6FF">x</td>`, true}, // light blue, unreadable on white
		{`<span style="background:#B00020;color:#FFFFFF">x</span>`, false},
		{`<span style="background:#B00020">x</span>`, true},
		{`<span style="font-weight:600">x</span>`, false},
		{"\x1b[31mx\x1b[0m", true},
		{"\x1b[1mx\x1b[0m", false},
		{"\x1b[1;38;5;231;48;5;124mx\x1b[0m", false},
		{"\x1b[38;5;124mx\x1b[0m", true},
	} {
		if low := LowContrast(c.text); len(low) > 0 != c.low {
			t.Errorf("%q: got %q, want low contrast %v", c.text, low, c.low)
		}
	}
	if r := contrast("#000000", "#ffffff"); r < 20.99 || r > 21.01 { // the maximum, by WCAG's definition
		t.Errorf("got %v, want 21", r)
	}
}
