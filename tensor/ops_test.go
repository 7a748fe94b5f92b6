package tensor

import (
	"slices"
	"strings"
	"testing"
)

func TestOpsSorted(t *testing.T) {
	if !slices.IsSortedFunc(Ops(), func(a, b Info) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("operations are not sorted by name")
	}
	seen := map[string]bool{}
	for _, op := range Ops() {
		if seen[op.Name] || !strings.HasPrefix(op.Torch, "torch.") {
			t.Errorf("%s is listed twice or its torch function %q is missing", op.Name, op.Torch)
		}
		seen[op.Name] = true
	}
}

// TestOpsWithExplicitDType checks that operations whose dtype the caller names are marked as such.
func TestOpsWithExplicitDType(t *testing.T) {
	for _, op := range []Op{sum{given: true}, prod{given: true}, cumsum{as: Float32}, cumprod{as: Float32}, softmax{given: true}, logSoftmax{given: true},
		norm{given: true}, vectorNorm{norm{given: true}}, matrixNorm{given: true}, frobeniusNorm{matrixNorm{given: true}}, nuclearNorm{matrixNorm{given: true}}} {
		if !op.Info().GivenDType {
			t.Errorf("%s with an explicit dtype: GivenDType is false", op.Info().Name)
		}
	}
	for _, op := range Ops() {
		if op.GivenDType {
			t.Errorf("%s without an explicit dtype: GivenDType is true", op.Name)
		}
	}
}

// NeverCast returns the names of the operations for which casters are not called.
func NeverCast() map[string]bool {
	names := map[string]bool{}
	for _, op := range ops {
		if _, ok := op.(fixed); ok {
			names[op.Info().Name] = true
		}
	}
	return names
}
