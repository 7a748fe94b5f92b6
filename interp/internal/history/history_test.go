package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestBegin checks the numbers of cells, and how many sources are kept.
func TestBegin(t *testing.T) {
	h := New()
	for _, c := range []struct {
		count  int
		silent bool
		want   int
	}{{1, false, 1}, {2, false, 2}, {2, false, -1}, {3, true, -2}, {3, false, 3}} {
		if got := h.Begin("code", c.count, c.silent); got != c.want {
			t.Errorf("%+v: got %d, want %d", c, got, c.want)
		}
	}
	for n := 4; n <= 3+maxSources; n++ {
		h.Begin(fmt.Sprint(n), n, false)
		h.Begin("aside", n, true)
	}
	for n, want := range map[int]bool{1: false, 3: false, 4: true, 3 + maxSources: true, -2: false, -2 - maxSources: true, -3 - maxSources + maxAsides: true, -2 - maxSources + maxAsides: false} {
		if _, ok := h.Source(n); ok != want {
			t.Errorf("the source of In[%d] is kept: got %v, want %v", n, ok, want)
		}
	}
	if in := h.Inputs(); len(in) != 4+maxSources || in[4] != "4" || in[0] != "" {
		t.Errorf("got %d inputs, want %d", len(in), 4+maxSources)
	}
}

// TestSelect checks which cells a list selects.
func TestSelect(t *testing.T) {
	h := New()
	if got, err := h.Select("3", 1); len(got) > 0 || err != nil {
		t.Errorf("without cells: got %v, %v", got, err)
	}
	for n := 2; n <= 6; n++ {
		h.Begin(fmt.Sprint("cell ", n, "\n\n"), n, false)
	}
	for _, c := range []struct {
		list string
		want []int
		err  string
	}{
		{"", []int{2, 3, 4, 5}, ""},
		{"3", []int{3}, ""},
		{"2-4 3", []int{2, 3, 4, 3}, ""},
		{"4-", []int{4, 5}, ""},
		{"5-99", []int{5, 6}, ""},
		{"1", nil, "the source of In[1] is not kept; there are In[2] to In[6]"},
		{"x", nil, "got x"},
		{"2-x", nil, "got 2-x"},
	} {
		got, err := h.Select(c.list, 5)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: got %v, %v, want %v, %q", c.list, got, err, c.want, c.err)
		}
	}
	if got := h.Text(3); got != "cell 3" {
		t.Errorf("got %q, want the text without line feeds", got)
	}
}
