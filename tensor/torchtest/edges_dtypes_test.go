package torchtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/tensor"
)

// edgesOf are the edges of each dtype. Half has no numbers of size 1e30; where numbers are equal or large, float64 has not the rounding and the
// overflow of float32.
var edgesOf = map[string][]string{
	"float16":  {"zeros", "ones", "equal", "nan", "inf", "-inf", "3e4", "1e-7"},
	"bfloat16": {"zeros", "ones", "equal", "nan", "inf", "-inf", "1e30", "1e-30"},
	"float64":  {"zeros", "nan", "inf", "-inf"},
}

// own are operations whose results belong to the dtype: the largest number (also of the cases named signs), the default of eps, quantiles
// between two elements, and intermediate results in halves, of operations that torch too runs one by one.
var own = map[string]bool{
	"nan_to_num": true, "rms_norm": true, "quantile": true, "nanquantile": true, "pairwise_distance": true, "addbmm": true, "scatter_reduce": true,
}

// TestEdgesOfDTypes compares results and first derivatives of all families at edges in the other dtypes with those in float32, which
// TestEdges compares with PyTorch's: halves are computed in float32 and rounded once.
func TestEdgesOfDTypes(t *testing.T) {
	share, turn, runs := testenv.Share(t, 16), 0, 0
	seen := map[string]bool{}
	for _, family := range slices.Sorted(maps.Keys(families)) {
		f, err := readFixtures(family)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.cases {
			for _, dtype := range c.DTypes {
				for _, edge := range edgesOf[dtype] {
					if turn++; turn%share != 0 || own[c.op()] || strings.HasSuffix(c.Name, " signs") {
						continue
					}
					runs++
					seen[c.op()] = true
					compareDTypes(t, f, c, bodyOf(family, c), family, dtype, edge)
				}
			}
		}
	}
	t.Logf("%d runs of %d operations", runs, len(seen))
}

func compareDTypes(t *testing.T, f *fixtures, c fixture, body func([]T) T, family, dtype, edge string) {
	r := run{errorf: t.Errorf, f: f, c: c, dtype: dtype}
	c.Double = false
	r.c = c
	var narrow, wide []T
	for i, x := range r.operands() {
		grad := x.RequiresGrad()
		if x = x.Detach(); x.DType() == dtypes[dtype] && c.Operands[i].Cast {
			x = atEdge(x, edge)
		}
		w := x.Clone()
		if x.DType().IsFloat() && c.Operands[i].Cast {
			w = x.To(tensor.Float32)
		}
		if grad {
			x, w = x.RequireGrad(), w.RequireGrad()
		}
		narrow, wide = append(narrow, x), append(wide, w)
	}
	want, failed := resultsOf(&r, body, wide)
	got, why := resultsOf(&r, body, narrow)
	if failed != "" || why != "" {
		if (failed == "") != (why == "") && !strings.Contains(why, "want float32 or float64") {
			t.Errorf("%s/%s, %s at %s: got error %q, in float32 %q", family, c.Name, dtype, edge, why, failed)
		}
		return
	}
	for _, what := range slices.Sorted(maps.Keys(want)) {
		x := want[what]
		if x == nil || got[what] == nil || !x.DType().IsFloat() {
			continue
		}
		if got[what].DType() != tensor.Float64 {
			x = x.To(got[what].DType())
		}
		// A derivative may read the rounded result, and float64 has not the rounding of float32.
		eps := max(tensor.FInfo(got[what].DType()).Eps, tensor.FInfo(tensor.Float32).Eps)
		if (what[0] == 'g' || dtype == "float64") && tensor.AllClose(got[what].To(x.DType()), x, 0, 2*eps) {
			continue
		}
		d := differenceAt(what, got[what], codes(x))
		notFinite := (d.here == "NaN" || d.here == "Inf") && (d.torch == "NaN" || d.torch == "Inf")
		switch {
		case notFinite && (what[0] == 'g' || dtype == "bfloat16"): // sums, and in bfloat16 sums of products, are added in another order
			continue
		case c.op() == "gelu" && dtype == "float64" && d.torch == "NaN": // float32's kernel multiplies 0 by infinity
			continue
		case c.op() == "scaled_dot_product_attention" && dtype == "bfloat16" && edge == "1e30": // scores overflow before the mask is added
			continue
		}
		if d.text != "" {
			t.Errorf("%s/%s, %s at %s: %s: %s", family, c.Name, dtype, edge, what, d.text)
		}
	}
}

func resultsOf(r *run, body func([]T) T, in []T) (results map[string]T, failed string) {
	results = map[string]T{}
	defer func() {
		if p := recover(); p != nil {
			failed = fmt.Sprint(p)
		}
	}()
	r.each(body, in, func(what string, _ int, got, _ T) { results[what] = got })
	return results, ""
}
