package amp

import (
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestTable checks that the table is sorted and contains exactly the operations, each once.
func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(table[:], func(a, b row) int { return strings.Compare(a.op, b.op) }) {
		t.Error("the table is not sorted")
	}
	missing := map[string]bool{}
	for _, i := range slices.Concat(tensor.Ops(), wholes) {
		missing[i.Name] = true
	}
	for _, r := range table {
		if !missing[r.op] {
			t.Errorf("%s is in the table twice, or not in the list of tensor/ops.go", r.op)
		}
		delete(missing, r.op)
		if r.cpu == Banned || max(r.cuda, r.cpu, r.apex) > Banned {
			t.Errorf("%s: got the categories %v, %v and %v", r.op, r.cuda, r.cpu, r.apex)
		}
	}
	for op := range missing {
		t.Errorf("%s is not in the table of lists.go", op)
	}
}
