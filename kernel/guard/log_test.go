package guard

import (
	"fmt"
	"testing"
)

func TestLogRateLimit(t *testing.T) {
	var got []string
	l := lines{print: func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }}
	for i := range 300 {
		l.printf("line %d", i)
	}
	if len(got) != perSpan || got[perSpan-1] != fmt.Sprintf("line %d", perSpan-1) {
		t.Errorf("got %d lines, %q, want the first %d", len(got), got, perSpan)
	}
	l.since = l.since.Add(-2 * span)
	l.printf("later")
	if want := []string{"guard: 290 lines omitted", "later"}; fmt.Sprint(got[perSpan:]) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got[perSpan:], want)
	}
	(&lines{}).printf("not printed")
}
