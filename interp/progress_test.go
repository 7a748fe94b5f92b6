package interp

import (
	"regexp"
	"testing"
)

// TestTrackInterrupt checks that an interrupt ends a loop of display.Track, that the bar shows its final
// state, and that variables keep their values.
func TestTrackInterrupt(t *testing.T) {
	s := newSession(t)
	for i, body := range []string{"n++", "time.Sleep(time.Minute)", "for {}", ""} {
		code := `n := 0
for range display.Track(1<<40, "steps") { ` + body + ` }`
		want := regexp.MustCompile(`(?s)^display steps \[·{20}\] 0/1099511627776\n(update .* left\n)*update steps .*/1099511627776, stopped after .*s(, .*/s)?\nInterrupted\n`)
		if got := evalFor(t, s, i+1, code, "50ms"); !want.MatchString(got) {
			t.Errorf("%s: got %q, want %v", body, got, want)
		}
	}
	if got := evalFor(t, s, 9, "n >= 0", ""); got != "= true\n" {
		t.Errorf("got %q, want the variable", got)
	}
}
