package notebook

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestReporterOnATerminal(t *testing.T) {
	var b bytes.Buffer
	r := newReporter(&b)
	r.terminal = true
	cell := &Cell{Source: "\n\tx := \x1b[31m" + strings.Repeat("é", 100)}
	r.progress(Progress{Number: 3, Total: 17, Cell: cell})
	r.progress(Progress{Number: 3, Total: 17, Cell: cell, Done: true, Elapsed: 420 * time.Millisecond, Failed: true})
	want := "\r\x1b[K[ 3/17] x :=  [31m" + strings.Repeat("é", 45) + "…   0.42 s  failed\n"
	if got := b.String(); !strings.HasPrefix(got, "\r\x1b[K[ 3/17] x :=") || !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want a line that is redrawn and ends with %q", got, want)
	}
}

func TestFirstLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", ""},
		{"\n \n  a := 1\nb", "a := 1"},
		{"// why\nx", "// why"},
		{strings.Repeat("x", 56), strings.Repeat("x", 56)},
		{strings.Repeat("x", 57), strings.Repeat("x", 55) + "…"},
	} {
		if got := firstLine(test.in); got != test.want {
			t.Errorf("firstLine(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}
