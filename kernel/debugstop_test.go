package kernel

import (
	"slices"
	"testing"
)

// TestMurmur2 compares hashes with those of ipykernel 7.4's murmur2_x86 for the same seed.
func TestMurmur2(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint32
	}{
		{"", 275646681},
		{"a", 2731586172},
		{"ab", 316155434},
		{"abc", 479470107},
		{"abcd", 2971317748},
		{"x := 1\nx", 2865879035},
		{"für ½ a cell — with more text", 2628813390},
	} {
		if got := murmur2([]byte(test.text), hashSeed); got != test.want {
			t.Errorf("%q: got %d, want %d", test.text, got, test.want)
		}
	}
}

func TestPathOf(t *testing.T) {
	for text, want := range map[string][]string{
		"x": {"x"}, " x.F ": {"x", "F"}, "x[0]": {"x", "[0]"}, `a.B[1][2].C`: {"a", "B", "[1]", "[2]", "C"},
		`m["a.b"]`: {"m", `["a.b"]`}, "": {""},
	} {
		if got := pathOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
