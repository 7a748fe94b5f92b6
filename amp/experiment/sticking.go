package experiment

import (
	"fmt"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// AccumulationRow is a running sum in one dtype.
type AccumulationRow struct {
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
// term is less than half a unit in the last place (section 3.3 of the paper).
func Accumulation(n int, value float64) *AccumulationReport {
	within("Accumulation", "n", n, 0, 100*mostSteps)
	r := &AccumulationReport{Exact: float64(n) * value}
	r.Header = []string{"dtype", "sum", "stuck from addition"}
	var series []chart.Series
	for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16, tensor.Float32} {
		row := AccumulationRow{DType: d, Stuck: -1}
		sum, by := tensor.ZerosAs(d), tensor.Scalar(value).To(d)
		line := chart.Series{Name: d.String(), DType: d.String()}
		for i := range n {
			before := sum.Item()
			sum.AddAssign(by)
			if row.Sum = sum.Item(); row.Sum != before {
				row.Stuck = -1
			} else if row.Stuck < 0 {
				row.Stuck = i
			}
			if i%max(n/200, 1) == 0 {
				line.Values = append(line.Values, row.Sum)
			}
		}
		r.Sums, series = append(r.Sums, row), append(series, line)
		stuck := "never"
		if row.Stuck >= 0 {
			stuck = fmt.Sprint(row.Stuck)
		}
		r.row(d, row.Sum, stuck)
	}
	r.row("exact", r.Exact, "")
	r.Figure = chart.Lines("running sum", series)
	r.Says = fmt.Sprintf("%d additions of %g make %g; a running sum in float16 ends at %g, in bfloat16 at %g, in float32 at %.7g.",
		n, value, r.Exact, r.Sums[0].Sum, r.Sums[1].Sum, r.Sums[2].Sum)
	return r
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
