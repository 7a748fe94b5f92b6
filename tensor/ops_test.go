package tensor

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite OPS.md")

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

// TestCategories compares the categories with torch's lists in testdata/oplists.json.
func TestCategories(t *testing.T) {
	text, err := os.ReadFile("testdata/oplists.json")
	if err != nil {
		t.Fatal(err)
	}
	var lists struct{ CUDA map[string][]string }
	if err := json.Unmarshal(text, &lists); err != nil {
		t.Fatal(err)
	}
	want := map[string]Category{}
	for list, category := range categories {
		if len(lists.CUDA[list]) == 0 {
			t.Errorf("there is no list %s", list)
		}
		for _, name := range lists.CUDA[list] {
			want[name] = category
		}
	}
	want["lstm"] = Lower // cuDNN's layers are cast by their own code
	for _, op := range Ops() {
		if op.Category != want[op.Name] {
			t.Errorf("%s: got %v, want %v", op.Name, op.Category, want[op.Name])
		}
	}
	for _, op := range []Op{sum{given: true}, prod{given: true}, cumsum{given: true}, cumprod{given: true}, softmax{given: true}, logSoftmax{given: true},
		norm{given: true}, vectorNorm{norm{given: true}}, matrixNorm{given: true}, frobeniusNorm{matrixNorm{given: true}}, nuclearNorm{matrixNorm{given: true}}} {
		if c := op.Info().Category; c != Explicit {
			t.Errorf("%s with an explicit dtype: got %v, want %v", op.Info().Name, c, Explicit)
		}
	}
}

const opsHead = `# Operations

<!-- Written by "go test ./tensor -run TestOpsPage -update". Do not edit. -->

What float16 and bfloat16 do: operands are widened to float32, computed on there, and the result is rounded once, to nearest even;
subnormal numbers are kept. Sums and products are added in float32, in an order that depends on shapes alone, so the same call gives
the same bits on every run, with any number of workers and on every kind of CPU. In products of matrices, sums over K are taken in
blocks of 512 from 0, K ascending, with one rounding for each product and sum together (fused multiply-add), and the blocks' sums are
added in order. bfloat16's product is what the instruction TDPBF16PS of AMX computes: K is taken in blocks of 32, the last one filled
up with zeros. In a block the products of even K and those of odd K are summed separately, K ascending from 0, with one rounding for
each product and sum together; the two sums are added, and the result is added to that of the blocks before. Numbers below 2^-126 count
as zero in all of this. float64 is computed in float64, where products are rounded before they are added.

The integers int64, int32, int16, int8 and uint8 are computed in int64 and wrap around when the result is stored, as torch's do. Their sums and
products are int64. A uint8 with an int8 gives int16.

Under autocast, "lower_precision_fp" operations run in the policy's dtype, "fp32" ones in float32, and "promote" ones in the widest
dtype of their operands; the others take their operands as they come. "fp32 *" gives way to a dtype that the caller names. Casts and
views are never cast.

| operation | torch | autocast | derivatives | they read |
|---|---|---|---|---|
`

func TestOpsPage(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(opsHead)
	for _, op := range ops {
		info := op.Info()
		list := info.Category.String()
		switch op.(type) {
		case sum, prod, cumsum, cumprod, softmax, logSoftmax, norm, vectorNorm, matrixNorm, frobeniusNorm, nuclearNorm:
			list += " *"
		case fixed:
			list = "never cast"
		}
		derivatives := "first and second"
		if info.Reads == NoDerivative {
			derivatives = "none"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s | %s |\n", info.Name, info.Torch, list, derivatives,
			[...]string{"operands and result", "operands", "result", "shapes", "positions and masks", ""}[info.Reads])
	}
	if *update {
		if err := os.WriteFile("OPS.md", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("OPS.md")
	if err != nil || !bytes.Equal(got, b.Bytes()) {
		t.Errorf("OPS.md is out of date (%v): run go test ./tensor -run TestOpsPage -update", err)
	}
}
