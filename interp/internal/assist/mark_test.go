package assist

import (
	"strings"
	"testing"
)

// TestMark checks which part of a declaration is underlined for an argument.
func TestMark(t *testing.T) {
	for _, c := range []struct {
		decl string
		i    int
		want string // the underlined part; "" for none
	}{
		{"func Randn(size ...int) *Tensor", 0, "size ...int"},
		{"func Randn(size ...int) *Tensor", 3, "size ...int"},
		{"func NewLinear(in, out int, options ...Option) *Linear", 0, "in"},
		{"func NewLinear(in, out int, options ...Option) *Linear", 1, "out int"},
		{"func NewLinear(in, out int, options ...Option) *Linear", 5, "options ...Option"},
		{"func (t *Tensor) MatMul(other *Tensor) *Tensor", 0, "other *Tensor"},
		{"func (*Net).Forward(x int) int", 0, "x int"},
		{"func Max[S ~[]E, E cmp.Ordered](x S) E", 0, "x S"},
		{"func (l List[E]) Map[F any](f func(a, b E) F, n int) List[F]", 0, "f func(a, b E) F"},
		{"func (l List[E]) Map[F any](f func(a, b E) F, n int) List[F]", 1, "n int"},
		{"var f func(x int, y map[string]struct{ a, b int }) func(z int)", 1, "y map[string]struct{ a, b int }"},
		{"type Point\nfunc (p Point) Add(žluť Point)", 0, "žluť Point"},
		{"func Now() time.Time", 0, ""},
		{"func Long(\n\ta int,\n)", 0, ""},
		{"type Float16 uint16", 0, ""},
		{"func", 0, ""},
	} {
		got, line := "", ""
		for next := range strings.SplitSeq(mark(c.decl, c.i), "\n") {
			if text := strings.TrimLeft(next, " "); text != "" && strings.Trim(text, "^") == "" {
				got = string([]rune(line)[len(next)-len(text) : len(next)])
			}
			line = next
		}
		if got != c.want {
			t.Errorf("%s, argument %d: got %q, want %q:\n%s", c.decl, c.i, got, c.want, mark(c.decl, c.i))
		}
		if again := strings.ReplaceAll(strings.ReplaceAll(mark(c.decl, c.i), "^", ""), " ", ""); strings.ReplaceAll(again, "\n", "") != strings.ReplaceAll(strings.ReplaceAll(c.decl, " ", ""), "\n", "") {
			t.Errorf("%s: the declaration changes: %s", c.decl, mark(c.decl, c.i))
		}
	}
}
