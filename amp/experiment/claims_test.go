package experiment_test

import (
	"strings"
	"testing"

	"halfnote/amp/experiment"
	"halfnote/tensor"
)

// Each claim has what is seen with its spread, and the claims that must hold in exact arithmetic do.
func TestFormatClaims(t *testing.T) {
	tensor.ManualSeed(7)
	want := tensor.Rand(1).Item()
	tensor.ManualSeed(7)
	r := experiment.FormatClaims()
	if got := tensor.Rand(1).Item(); got != want {
		t.Error("the default generator has moved")
	}
	if len(r.Claims) != 7 || len(r.Rows) != 7 {
		t.Fatalf("%d claims in %d rows, want 7", len(r.Claims), len(r.Rows))
	}
	for _, c := range r.Claims {
		t.Log(c.What, c.Seen, c.Verdict)
		if len(c.Seen) < 2 || c.Source == "" || c.Claimed == "" {
			t.Errorf("%s: nothing to compare, or no source", c.What)
		}
		for _, m := range c.Seen {
			if m.Mean < 0 || m.Mean != m.Mean {
				t.Errorf("%s: %s is %v", c.What, m.Name, m.Mean)
			}
		}
		for _, sure := range []string{"Weight decay", "Hadamard transform helps", "E4M3", "sampler and trainer"} {
			if strings.Contains(c.What, sure) && c.Verdict != "yes" {
				t.Errorf("%s: %v", c.What, c.Seen)
			}
		}
	}
	if html := r.HTML(); !strings.Contains(html, "arXiv 2509.25149") || !strings.Contains(html, "±") {
		t.Error("the page lacks a source or a spread")
	}
}
