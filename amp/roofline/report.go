package roofline

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"halfnote/display"
	"halfnote/display/chart"
)

// Report compares predictions for a workload on several devices with measured times.
type Report struct {
	Workload Workload
	Rows     []Comparison
	Measured time.Duration // measured time of a step under autocast on this machine, or 0
	Against  time.Duration // measured time of a step in float32 on this machine, or 0
}

// Predict returns predictions for the named devices, by default for all. It panics if a name is
// unknown.
func (w Workload) Predict(names ...string) Report {
	var list []GPU
	for _, name := range names {
		list = append(list, GPUByName(name))
	}
	if len(list) == 0 {
		list = GPUs()
	}
	return w.PredictOn(list)
}

// PredictOn is Predict for GPU values, which may be your own.
func (w Workload) PredictOn(list []GPU) Report {
	r := Report{Workload: w}
	for _, g := range list {
		r.Rows = append(r.Rows, w.On(g))
	}
	return r
}

// note says what the predictions are made from.
func (r Report) note() string {
	measured := 0
	for _, c := range r.Rows {
		if c.GPU.Measured {
			measured++
		}
	}
	from := "the manufacturers' peak numbers"
	switch {
	case measured == 0:
	case measured == len(r.Rows):
		from = "measured rates"
	default:
		from += " and measured rates"
	}
	return "Predicted from " + from + ", for each operation separately: a lower bound, not a measurement. Real steps take longer, and real speed-ups are usually smaller."
}

func (r Report) head() string {
	var parts []string
	for _, c := range r.Rows {
		parts = append(parts, fmt.Sprintf("%s %.2f× (predicted)", c.GPU.Name, c.Speedup()))
	}
	text := fmt.Sprintf("%s under autocast against float32: %s", r.Workload.Name, strings.Join(parts, ", "))
	switch {
	case r.Measured > 0 && r.Against > 0:
		text += fmt.Sprintf("; measured here %.2f×, %s a step against %s", float64(r.Against)/float64(r.Measured), display.Duration(r.Measured), display.Duration(r.Against))
	case r.Measured > 0:
		text += fmt.Sprintf("; measured here %s a step under autocast", display.Duration(r.Measured))
	}
	return text + "."
}

func (r Report) table() display.Bundle {
	head := []string{"device", "float32, predicted", "with TF32", "autocast, predicted", "speed-up, predicted", "over TF32", "autocast is bound by"}
	var rows [][]any
	for _, c := range r.Rows {
		tf32, over := "–", "–"
		if c.GPU.Products["tf32"] > 0 {
			tf32, over = display.Duration(c.TF32.Total), fmt.Sprintf("%.2f×", c.OverTF32())
		}
		rows = append(rows, []any{c.GPU.Name, display.Duration(c.Full.Total), tf32, display.Duration(c.Mixed.Total), fmt.Sprintf("%.2f×", c.Speedup()), over, c.Mixed.bounds()})
	}
	if r.Measured > 0 {
		full, ratio := "–", "–"
		if r.Against > 0 {
			full, ratio = display.Duration(r.Against), fmt.Sprintf("%.2f×", float64(r.Against)/float64(r.Measured))
		}
		rows = append(rows, []any{"here, measured", full, "–", display.Duration(r.Measured), ratio, "–", ""})
	}
	return display.Table(head, rows)
}

// String returns the report as text.
func (r Report) String() string {
	return r.head() + "\n" + r.table().String() + "\n" + r.note()
}

// HTML returns the report as a table.
func (r Report) HTML() string {
	return fmt.Sprintf("<p style=\"padding:0 8px\">%s</p>%s<p style=\"padding:0 8px\">%s</p>", html.EscapeString(r.head()), r.table().Data["text/html"], html.EscapeString(r.note()))
}

// Ops lists the operations of the step under autocast on the device of row i, grouped by name and
// dtype, in order of predicted time. It panics if the row does not exist.
func (r Report) Ops(i int) display.Bundle {
	g := r.gpu(i)
	type kind struct{ name, dtype, bound string }
	times, counts := map[kind]time.Duration{}, map[kind]int{}
	var kinds []kind
	for _, op := range r.Workload.Mixed {
		t, bound := g.Time(op, false)
		k := kind{op.Name, op.DType, bound}
		if counts[k] == 0 {
			kinds = append(kinds, k)
		}
		times[k] += t
		counts[k] += max(op.Times, 1)
	}
	slices.SortStableFunc(kinds, func(a, b kind) int { return cmp.Compare(times[b], times[a]) })
	total := r.Rows[i].Mixed.Total
	var rows [][]any
	for _, k := range kinds {
		rows = append(rows, []any{k.name, k.dtype, counts[k], display.Duration(times[k]), fmt.Sprintf("%.1f %%", 100*float64(times[k])/float64(max(total, 1))), k.bound})
	}
	return display.Table([]string{"operation", "dtype", "kernels", "predicted on " + g.Name, "share", "bound by"}, rows)
}

// gpu returns the device of row i.
func (r Report) gpu(i int) GPU {
	if i < 0 || i >= len(r.Rows) {
		panic(fmt.Errorf("roofline: row %d; want 0 to %d", i, len(r.Rows)-1))
	}
	return r.Rows[i].GPU
}

// Chart shows the operations of the step under autocast below the roofs of the device of row i. It
// panics if the row does not exist.
func (r Report) Chart(i int) *chart.Figure {
	g := r.gpu(i)
	roofs := []chart.Roof{}
	for _, d := range []string{"float32", "float16", "bfloat16"} {
		if p := g.Products[d]; p > 0 {
			roofs = append(roofs, chart.Roof{DType: d, Rate: p})
		}
	}
	var points []chart.RoofPoint
	for _, op := range r.Workload.Mixed {
		if t, bound := g.Time(op, false); op.Bytes > 0 && op.FLOPs > 0 && t > 0 {
			points = append(points, chart.RoofPoint{Name: op.Name, DType: op.DType, FLOPs: op.FLOPs, Bytes: op.Bytes, Seconds: t.Seconds(), Bound: bound})
		}
	}
	return chart.Roofline(g.Name+" (predicted)", g.Bandwidth, roofs, points)
}
