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
		want := regexp.MustCompile(`(?s)^display steps \[·{20}\] 0/1099511627776\n(update .* left\n)*update steps .*/1099511627776, stopped( after .*s(, .*/s)?)?\nInterrupted\n`)
		if got := evalFor(t, s, i+1, code, "50ms"); !want.MatchString(got) {
			t.Errorf("%s: got %q, want %v", body, got, want)
		}
	}
	if got := evalFor(t, s, 9, "n >= 0", ""); got != "= true\n" {
		t.Errorf("got %q, want the variable", got)
	}
}

// TestProgressAfterError checks that bars without Finish show their last state when a cell ends with an
// error or an interrupt.
func TestProgressAfterError(t *testing.T) {
	s := newSession(t)
	for i, tt := range []struct{ end, after, want string }{
		{"var none []int; none[0] = 1", "", "Panic"},
		{"for {}", "50ms", "Interrupted"},
		{"", "", ""},
	} {
		code := `p, q := display.NewProgress(9, "outer"), display.NewProgress(3, "inner")
p.Add(2)
q.Add(1)
` + tt.end
		want := regexp.MustCompile(`(?s)^display outer .* 0/9\ndisplay inner .* 0/3\n(update .* left\n)*` +
			`update outer \[████·+\] 2/9, stopped[^\n]*\nupdate inner \[██████·+\] 1/3, stopped[^\n]*\n` + tt.want)
		if got := evalFor(t, s, i+1, code, tt.after); !want.MatchString(got) {
			t.Errorf("%s: got %q, want %v", tt.end, got, want)
		}
	}
}
