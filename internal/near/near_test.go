package near

import (
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name       string
		candidates []string
		want       []string
	}{
		{"lenght", []string{"length", "len", "width"}, []string{"length"}},
		{"ToUper", []string{"ToLower", "ToUpper", "Title"}, []string{"ToUpper"}},
		{"toupper", []string{"ToLower", "ToUpper"}, []string{"ToUpper"}},
		{"x", []string{"y", "X", "xs"}, []string{"X"}},
		{"same", []string{"same", "some", "some"}, []string{"some"}},
		{"nothing", []string{"like", "it"}, nil},
	} {
		if got := Names(c.name, c.candidates, 2); !slices.Equal(got, c.want) {
			t.Errorf("Names(%q, %q): got %q, want %q", c.name, c.candidates, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"retrun", "return", 1}, {"flaw", "lawn", 2}} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q): got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
