package torchtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

// tally counts comparisons.
var tally = counter{}

// counter counts tensors by operation, dtype and order of the derivative.
type counter map[string]*[3]count

type count struct{ compared, same int }

func (c counter) add(op, dtype string, order int, same bool) {
	key := op + " " + dtype
	if c[key] == nil {
		c[key] = &[3]count{}
	}
	n := &c[key][order]
	n.compared++
	if same {
		n.same++
	}
}

// TestCounts prints the number of compared tensors and the number of those that agree to the last bit.
// It fails for operations without a fixture.
func TestCounts(t *testing.T) {
	seen := map[string]bool{}
	stop := tensor.Observe(func(e tensor.Event) { seen[e.Op.Name] = true })
	clear(tally)
	total := 0
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f, err := readFixtures(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d cases, made with PyTorch %s", name, len(f.cases), f.torch)
		total += len(f.cases)
		for _, c := range f.cases {
			for _, d := range c.DTypes {
				r := run{errorf: func(string, ...any) {}, f: f, c: c, dtype: d}
				tensor.Try(func() { r.run(families[name][c.Name]) })
			}
		}
	}
	stop()
	var sum [3]count
	for _, key := range slices.Sorted(maps.Keys(tally)) {
		for i, n := range tally[key] {
			sum[i].compared, sum[i].same = sum[i].compared+n.compared, sum[i].same+n.same
		}
		t.Logf("%-44s %s", key, line(*tally[key]))
	}
	t.Logf("%-44s %s", fmt.Sprintf("all, %d cases", total), line(sum))
	for _, op := range tensor.Ops() {
		// alias starts the derivatives of composed operations and is not observed.
		if !seen[op.Name] && op.Name != "alias" {
			t.Errorf("%s: missing in the fixtures", op.Name)
		}
	}
}

// line returns "forward 3 (3 equal)  backward 6 (5)  double 9 (2)".
func line(n [3]count) string {
	var b strings.Builder
	for i, what := range []string{"forward", "backward", "double"} {
		fmt.Fprintf(&b, "%s %d (%d equal)  ", what, n[i].compared, n[i].same)
	}
	return strings.TrimSpace(b.String())
}
