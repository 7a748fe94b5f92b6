package torchtest

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
)

// edges are the results of PyTorch where operands are at the edges: family/case → run → result → codes of elements. A run is
// named by the edge and the operands that it changes. See make_edges.py.
type edges struct {
	Torch string
	Cases map[string]map[string]map[string]json.RawMessage
}

func readEdges(t *testing.T) (e edges) {
	f, err := os.Open(filepath.Join("testdata", "edges.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&e); err != nil {
		t.Fatal(err)
	}
	return e
}

// keptEdge is a kind of difference from PyTorch at edges that is kept, a row of testdata/differences.md.
type keptEdge struct {
	ops, results, edges, here, torch []string // "any" stands for all
	used                             map[string]bool
}

func readDifferences(t *testing.T) (rows []keptEdge) {
	text, err := os.ReadFile(filepath.Join("testdata", "differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.NewReplacer("`", "", ",", "").Replace(line), "|")
		if len(cells) != 8 || strings.TrimSpace(cells[1]) == "operations" || strings.HasPrefix(cells[1], "-") {
			continue
		}
		f := func(i int) []string { return strings.Fields(cells[i]) }
		rows = append(rows, keptEdge{f(1), f(2), f(3), f(4), f(5), map[string]bool{}})
	}
	return rows
}

// covers reports whether the row describes the difference d of an operation at an edge.
func (r *keptEdge) covers(op, edge string, d edgeDifference) bool {
	has := func(list []string, s string) bool { return list[0] == "any" || slices.Contains(list, s) }
	return has(r.ops, op) && has(r.edges, edge) && has(r.results, d.what[:1]) && has(r.here, d.here) && has(r.torch, d.torch)
}

// TestEdges compares results and both derivatives of the cases of all families with PyTorch's where operands are zeros, equal, tiny,
// huge or not finite, one operand at a time and all together: the class of each element, its sign and its magnitude. Differences that are kept
// are in testdata/differences.md, which is part of OPS.md.
func TestEdges(t *testing.T) {
	want, rows := readEdges(t), readDifferences(t)
	share, turn, runs, kept, results := testenv.Share(t, 8), 0, 0, 0, 0
	files := map[string]*fixtures{}
	for _, id := range slices.Sorted(maps.Keys(want.Cases)) {
		family, name, _ := strings.Cut(id, "/")
		f := files[family]
		if f == nil {
			var err error
			if f, err = readFixtures(family); err != nil {
				t.Fatal(err)
			}
			files[family] = f
		}
		at := slices.IndexFunc(f.cases, func(c fixture) bool { return c.Name == name })
		if at < 0 {
			t.Errorf("%s has no case: run make_edges.py", id)
			continue
		}
		for _, run := range slices.Sorted(maps.Keys(want.Cases[id])) {
			if turn++; turn%share != 0 {
				continue
			}
			got, failed := edgeRun(f, f.cases[at], bodyOf(family, f.cases[at]), run)
			op := f.cases[at].op()
			edge, _, _ := strings.Cut(run, " ")
			diffs := edgeDifferences(got, failed, want.Cases[id][run])
			runs, results = runs+1, results+len(diffs)
			if len(diffs) > 0 {
				kept++
			}
			for _, d := range diffs {
				i := slices.IndexFunc(rows, func(r keptEdge) bool { return r.covers(op, edge, d) })
				if i < 0 {
					t.Errorf("%s, %s: %s: %s", id, run, d.what, d.text)
					continue
				}
				rows[i].used[op] = true
			}
		}
	}
	t.Logf("%d of %d runs differ, in %d results, for the reasons of %d rows", kept, runs, results, len(rows))
	for i, r := range rows {
		for _, op := range r.ops {
			if share == 1 && !r.used[op] && (op != "any" || len(r.used) == 0) {
				t.Errorf("row %d of differences.md: %s agrees with PyTorch, or an earlier row holds it; delete it", i+1, op)
			}
		}
	}
}

// edgeRun returns the results of a run: y, the gradients g0, g1, … and their gradients h0, h1, …, or the text of a panic as "error".
func edgeRun(f *fixtures, c fixture, body func([]T) T, name string) (results map[string]T, failed string) {
	results = map[string]T{}
	defer func() {
		if p := recover(); p != nil {
			failed = fmt.Sprint(p)
		}
	}()
	r := run{errorf: func(string, ...any) {}, f: f, c: c, dtype: "float32"}
	in := r.operands()
	edge, which, _ := strings.Cut(name, " ")
	for _, s := range strings.Split(which, "+") {
		i, _ := strconv.Atoi(s)
		x := atEdge(in[i].Detach(), edge)
		if in[i].RequiresGrad() {
			x.RequireGrad()
		}
		in[i] = x
	}
	r.each(body, in, func(what string, _ int, got, _ T) { results[what] = got })
	return results, ""
}

var cycle = []float64{0, math.Copysign(0, -1), 1e-40, 0x1p-126, 1, -1, 1e30, -1e30}

// atEdge returns x changed as make_edges.py changes it.
func atEdge(x T, edge string) T {
	first := func(v float64) T {
		y := x.Clone().Reshape(-1)
		if y.Numel() > 0 {
			y.Set(v, 0)
		}
		return y.Reshape(x.Shape()...)
	}
	switch edge {
	case "zeros":
		return tensor.ZerosLike(x)
	case "ones":
		return tensor.OnesLike(x)
	case "equal":
		if x.Numel() == 0 {
			return x.Clone()
		}
		return x.Reshape(-1).Slice(0, 0, 1).Expand(x.Numel()).Clone().Reshape(x.Shape()...)
	case "nan":
		return first(math.NaN())
	case "inf":
		return first(math.Inf(1))
	case "-inf":
		return first(math.Inf(-1))
	case "cycle":
		data := make([]float64, x.Numel())
		for i := range data {
			data[i] = cycle[i%len(cycle)]
		}
		return tensor.NewAs(x.DType(), data, len(data)).Reshape(x.Shape()...)
	}
	factor, err := strconv.ParseFloat(edge, 64)
	if err != nil {
		panic(err)
	}
	return x.MulScalar(factor)
}

// Codes of elements, as in make_edges.py.
const (
	codeNaN      = 9999
	codeInfinity = 9998
	codeOne      = 3000
)

func code(v float64) int {
	switch {
	case v != v:
		return codeNaN
	case v == 0:
		return 0
	}
	c := codeInfinity
	if !math.IsInf(v, 0) {
		c = max(1, codeOne+int(math.RoundToEven(8*math.Log2(math.Abs(v))))) // float64 has smaller numbers
	}
	if v < 0 {
		return -c
	}
	return c
}

// codes returns the codes of at most 8 elements of x, evenly spaced.
func codes(x T) []int {
	flat := x.Detach().Float64s()
	n := len(flat)
	c := make([]int, min(n, 8))
	for i := range c {
		c[i] = code(flat[i*n/len(c)])
	}
	return c
}

// edgeDifference is a difference of a result from PyTorch's. here and torch are "refused", or the classes of the first elements that differ.
type edgeDifference struct{ what, here, torch, text string }

// edgeDifferences returns the first difference of each result of a run.
func edgeDifferences(got map[string]T, failed string, want map[string]json.RawMessage) (diffs []edgeDifference) {
	if text, refused := want["error"]; refused {
		if failed == "" {
			return []edgeDifference{{"y", "number", "refused", fmt.Sprintf("PyTorch refuses it: %s", text)}}
		}
		return nil
	}
	if failed != "" {
		return []edgeDifference{{"y", "refused", "number", "panic: " + failed}}
	}
	for _, what := range slices.Sorted(maps.Keys(got)) {
		var w []int
		if raw, ok := want[what]; ok {
			if err := json.Unmarshal(raw, &w); err != nil {
				return []edgeDifference{{what, "refused", "refused", err.Error()}}
			}
		}
		if d := differenceAt(what, got[what], w); d.text != "" {
			diffs = append(diffs, d)
		}
	}
	return diffs
}

// differenceAt returns the first difference of a result from PyTorch's codes.
func differenceAt(what string, x T, w []int) (none edgeDifference) {
	switch {
	case x == nil && w == nil || x != nil && !x.DType().IsFloat():
		return none
	case x == nil:
		x = tensor.Zeros(len(w))
	}
	g := codes(x)
	if w == nil {
		w = make([]int, len(g))
	}
	if len(g) != len(w) {
		return edgeDifference{what, "number", "number", fmt.Sprintf("got %d elements, want %d", len(g), len(w))}
	}
	largest := 0
	for _, c := range w {
		if c = max(c, -c); c < codeInfinity {
			largest = max(largest, c)
		}
	}
	for i := range w {
		if what[0] == 'h' && w[i] == codeNaN {
			continue // PyTorch's second derivative multiplies 0 by an infinity
		}
		if !agree(g[i], w[i], largest, what[0] != 'y') {
			return edgeDifference{what, classOf(g[i]), classOf(w[i]),
				fmt.Sprintf("element %d of %d: got %s, want %s", i, len(w), described(g[i]), described(w[i]))}
		}
	}
	return none
}

func classOf(code int) string {
	switch max(code, -code) {
	case codeNaN:
		return "NaN"
	case codeInfinity:
		return "Inf"
	case 0:
		return "0"
	}
	return "number"
}

// agree reports whether two codes agree: in class and sign, and in magnitude to a fifth. Numbers agree that are subnormal, or 2⁻¹⁸ of the
// largest of the tensor, which float32 loses in a sum; and derivatives below 2⁻²², since they start from numbers near 1.
func agree(a, b, largest int, derivative bool) bool {
	if max(a, -a) >= codeInfinity || max(b, -b) >= codeInfinity {
		return a == b
	}
	negligible := max(codeOne-8*126, largest-8*18)
	if derivative {
		negligible = max(negligible, codeOne-8*22)
	}
	if max(a, -a) <= negligible && max(b, -b) <= negligible {
		return true
	}
	return a*b > 0 && max(a-b, b-a) <= 2
}

func described(c int) string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	switch c {
	case codeNaN:
		return "NaN"
	case codeInfinity:
		return sign + "Inf"
	case 0:
		return "0"
	}
	return fmt.Sprintf("%s%.2g", sign, math.Exp2(float64(c-codeOne)/8))
}
