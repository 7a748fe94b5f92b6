package experiment

import (
	"fmt"
	"slices"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// AccumulationRow is a running sum in one dtype.
type AccumulationRow struct {
	Name  string // way to add: the dtype for one term at a time, "float16 in pairs", "float16 into float32"
	DType tensor.DType
	Sum   float64
	Stuck int // first addition after which the sum no longer changed, or -1
}

// AccumulationReport is the result of [Accumulation].
type AccumulationReport struct {
	Report
	Exact float64 // n times value
	Sums  []AccumulationRow
}

// Accumulation adds value n times, one at a time, in float16, bfloat16 and float32. A float16 sum of
// 0.1 sticks at 256 and a counter of ones at 2048; a bfloat16 counter sticks at 256. From there on the
// term is less than half a unit in the last place (section 3.3 of the paper). Two more ways to add float16
// terms do not stick: in pairs, so that both terms of an addition have about the same size, and into a
// float32 sum, as tensor cores do.
func Accumulation(n int, value float64) *AccumulationReport {
	within("Accumulation", "n", n, 0, 100*mostSteps)
	r := &AccumulationReport{Exact: float64(n) * value}
	r.Header = []string{"added in", "sum", "grows until addition"}
	exact := chart.Series{Name: "exact"}
	every := max(n/sumPoints, 1)
	shown := func(i int) bool { return i%every == 0 || i == n-1 }
	for i := range n {
		if shown(i) {
			exact.X, exact.Values = append(exact.X, float64(i+1)), append(exact.Values, float64(i+1)*value)
		}
	}
	var sums []chart.Series
	for _, way := range []struct {
		name       string
		terms, sum tensor.DType
		pairs      bool
	}{
		{"float16", tensor.Float16, tensor.Float16, false},
		{"bfloat16", tensor.BFloat16, tensor.BFloat16, false},
		{"float32", tensor.Float32, tensor.Float32, false},
		{"float16 in pairs", tensor.Float16, tensor.Float16, true},
		{"float16 into float32", tensor.Float16, tensor.Float32, false},
	} {
		row := AccumulationRow{Name: way.name, DType: way.sum, Stuck: -1}
		line := chart.Series{Name: way.name, DType: way.sum.String(), X: exact.X}
		term := tensor.NewAs(way.terms, []float64{value}).Reshape().To(way.sum)
		if way.pairs {
			for i := range n {
				if shown(i) {
					line.Values = append(line.Values, inPairs(term, i+1))
				}
			}
			if n > 0 {
				row.Sum = line.Values[len(line.Values)-1]
			}
		} else {
			row.Sum, row.Stuck, line.Values = inTurn(term, n, shown)
		}
		r.Sums = append(r.Sums, row)
		if n > 0 && slices.Equal(line.Values, exact.Values) {
			exact.Name += ", " + line.Name // one line would hide the other
		} else {
			sums = append(sums, line)
		}
		stuck := "the end"
		if row.Stuck >= 0 {
			stuck = fmt.Sprint(row.Stuck)
		}
		r.row(row.Name, row.Sum, stuck)
	}
	r.row("exact", r.Exact, "")
	r.Figure = chart.RunningSum(exact, sums)
	r.Says = fmt.Sprintf("%d additions of %g make %g; a running sum in float16 ends at %g, in bfloat16 at %g, in float32 at %.7g. Added in pairs, float16 ends at %g, and into a float32 sum at %.7g.",
		n, value, r.Exact, r.Sums[0].Sum, r.Sums[1].Sum, r.Sums[2].Sum, r.Sums[3].Sum, r.Sums[4].Sum)
	return r
}

// sumPoints is the maximum number of points of a running sum in the chart, except for the last.
const sumPoints = 5000

// inTurn adds a term n times, one at a time. It returns the sum, the first addition after which it no
// longer changed or -1, and the sums after the additions that are shown.
func inTurn(term *tensor.Tensor, n int, shown func(i int) bool) (last float64, stuck int, list []float64) {
	sum := tensor.ZerosAs(term.DType())
	stuck = -1
	for i := range n {
		before := last
		sum.AddAssign(term)
		if last = sum.Item(); last != before {
			stuck = -1
		} else if stuck < 0 {
			stuck = i
		}
		if shown(i) {
			list = append(list, last)
		}
	}
	return last, stuck, list
}

// inPairs adds n equal terms in pairs, then the sums of pairs in pairs, and so on; what is left over is
// added at the end, the smallest sums first.
func inPairs(term *tensor.Tensor, n int) float64 {
	var sum *tensor.Tensor
	for block := term; n > 0; n, block = n/2, block.Add(block) {
		switch {
		case n%2 == 0:
		case sum == nil:
			sum = block
		default:
			sum = sum.Add(block)
		}
	}
	return sum.Item()
}

// MasterWeightsReport is the result of [MasterWeights].
type MasterWeightsReport struct {
	Report
	Half   float64 // float16 weight
	Master float64 // float32 master weight
	Update float64 // update in float16
}

// MasterWeights updates a weight of 1 several times by lr times a gradient of 1, rounded to float16. A
// float16 weight never moves, since the update is less than half of 2^-10, the distance from 1 to the
// next number; a float32 master weight takes every update. It is section 3.1 of the paper, whose
// speech model lost 80 % of its accuracy without master weights.
func MasterWeights(updates int, lr float64) *MasterWeightsReport {
	within("MasterWeights", "updates", updates, 0, 100*mostSteps)
	by := tensor.Scalar(lr).Half()
	half, master := tensor.OnesAs(tensor.Float16), tensor.Ones()
	var a, b []float64
	for i := range updates {
		half.AddAssign(by)
		master.AddAssign(by)
		if i%max(updates/200, 1) == 0 {
			a, b = append(a, half.Item()), append(b, master.Item())
		}
	}
	r := &MasterWeightsReport{Half: half.Item(), Master: master.Item(), Update: by.Item()}
	r.Header = []string{"weight", "after the updates"}
	r.row("float16", r.Half)
	r.row("float32 master", r.Master)
	r.row("exact", 1+float64(updates)*r.Update)
	r.Figure = chart.Lines("weight", []chart.Series{{Name: "float16", DType: "float16", Values: a}, {Name: "float32 master", DType: "float32", Values: b}})
	r.Says = fmt.Sprintf("After %d updates of %.9g a float16 weight of 1 is %g, a float32 master %.9g.", updates, r.Update, r.Half, r.Master)
	return r
}
