package torchtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// counter counts tensors by operation, dtype and order of the derivative.
type counter map[string]*[3]count

type count struct{ compared, same int }

func (c counter) add(op, dtype string, order int, same bool) {
	if c == nil {
		return
	}
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

// log prints the counts.
func (c counter) log(t *testing.T) {
	var sum [3]count
	for _, key := range slices.Sorted(maps.Keys(c)) {
		for i, n := range c[key] {
			sum[i].compared, sum[i].same = sum[i].compared+n.compared, sum[i].same+n.same
		}
		t.Logf("%-44s %s", key, line(*c[key]))
	}
	t.Logf("%-44s %s", "all", line(sum))
}

// line returns "forward 3 (3 equal)  backward 6 (5)  double 9 (2)".
func line(n [3]count) string {
	var b strings.Builder
	for i, what := range []string{"forward", "backward", "double"} {
		fmt.Fprintf(&b, "%s %d (%d equal)  ", what, n[i].compared, n[i].same)
	}
	return strings.TrimSpace(b.String())
}
