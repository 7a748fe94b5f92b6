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
	r.progress(Progress{Number: 4, Total: 17, Cell: cell, Live: func() string { return "training 3/4" }})
	r.progress(Progress{Number: 4, Total: 17, Cell: cell, Done: true, Live: func() string { return "training 4/4" }})
	before, after, _ := strings.Cut(b.String(), "failed\n")
	b.Reset()
	b.WriteString(before + "failed\n")
	if !strings.HasPrefix(after, "\r\x1b[K[ 4/17] training 3/4") || strings.Contains(after, "4/4") {
		t.Errorf("got %q, want the progress bar while the cell runs", after)
	}
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
