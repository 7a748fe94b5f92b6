package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// ResidueRow is the sum of the terms in one order.
type ResidueRow struct {
	Order string
	Sum   float64
	Lost  float64 // what all additions lost: the exact sum minus Sum
}

// ResidueReport is the result of [Residue].
type ResidueReport struct {
	Report
	Orders []ResidueRow
}

// Residue adds terms one at a time in dtype d, in three orders: as given, from the smallest magnitude to
// the largest, and from the largest to the smallest. Each term is rounded to d first. The result shows what
// each addition lost to rounding, added up: for float16, bfloat16 and float32 terms within 2^29 of each other
// these numbers are exact. It panics for a dtype that is not a floating-point one, or that is for storage only.
func Residue(terms []float64, d tensor.DType) *ResidueReport {
	within("Residue", "the number of terms", len(terms), 1, 100*mostSteps)
	r := &ResidueReport{}
	r.Header = []string{"order", "sum", "lost"}
	list := tensor.NewAs(d, terms)
	given := list.Float64s()
	var shown []chart.Series
	for _, o := range []struct {
		name string
		sort int
	}{{"as given", 0}, {"smallest first", 1}, {"largest first", -1}} {
		order := ordered(given, o.sort)
		sum, series := tensor.ZerosAs(d), chart.Series{Name: o.name}
		row := ResidueRow{Order: o.name}
		for _, x := range order {
			before := sum.Item()
			sum.AddAssign(tensor.NewAs(d, []float64{x}).Reshape())
			row.Sum = sum.Item()
			lost := before + x - row.Sum
			row.Lost += lost
			series.Values = append(series.Values, lost)
		}
		shown, r.Orders = append(shown, series), append(r.Orders, row)
		r.row(o.name, row.Sum, row.Lost)
	}
	r.Figure = chart.Residue(shown)
	r.Says = fmt.Sprintf("In %v the sum of %d terms is %.9g as given, %.9g with the smallest first, %.9g with the largest first.", d, len(terms), r.Orders[0].Sum, r.Orders[1].Sum, r.Orders[2].Sum)
	return r
}

// ordered returns list, or a copy in ascending or descending order of magnitudes.
func ordered(list []float64, sign int) []float64 {
	if sign == 0 {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b float64) int { return sign * cmp.Compare(math.Abs(a), math.Abs(b)) })
	return list
}
