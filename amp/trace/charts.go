package trace

import (
	"math"
	"slices"
	"strings"

	"halfnote/display/chart"
	"halfnote/tensor"
)

// LossScale shows the loss scale of each step, and the skipped steps.
func (r *Recorder) LossScale() *chart.Figure {
	var list []chart.ScaleStep
	for _, s := range r.Steps() {
		c := chart.ScaleStep{Scale: s.Scale, After: s.After, Skipped: s.Skipped}
		if s.Skipped {
			c.Why = s.Param
		}
		list = append(list, c)
	}
	return chart.LossScale(list)
}

// DTypes shows the dtype of each operation of a step, forward and backward.
func (r *Recorder) DTypes() *chart.Figure {
	var list []chart.OpDType
	for _, op := range r.Ops() {
		list = append(list, chart.OpDType{
			Name: op.Name, Module: op.Module, Phase: op.phase(),
			DType: op.ranIn().String(), Casts: op.Casts, Cached: op.Cached, Why: op.brief(),
		})
	}
	return chart.DTypes(list)
}

// Flushed shows the share of elements that rounding turned into zero, for each operation and
// step: in its casts, and with Shadow in the operation itself.
func (r *Recorder) Flushed() *chart.Figure {
	return r.heat("flushed to zero", func(c cell) (n, all int) { return c.flushed, c.rounded })
}

// NotFinite shows the share of inf and NaN elements, for each operation and step.
func (r *Recorder) NotFinite() *chart.Figure {
	return r.heat("inf or NaN", func(c cell) (n, all int) { return c.bad, c.elements })
}

func (r *Recorder) heat(what string, of func(cell) (n, all int)) *chart.Figure {
	defer r.read()()
	var list []chart.HeatRow
	at := map[string]int{}
	var cells [][]cell
	for _, row := range r.sums.rows {
		name := label(row.name, row.module, row.phase)
		i, ok := at[name]
		if !ok {
			i = len(cells)
			at[name] = i
			cells = append(cells, nil)
			list = append(list, chart.HeatRow{Name: name})
		}
		for k, c := range row.columns {
			if k == len(cells[i]) {
				cells[i] = append(cells[i], cell{})
			}
			cells[i][k].merge(c)
		}
	}
	var rows []chart.HeatRow
	for i, columns := range cells {
		known := false
		for k := range r.sums.steps {
			share := math.NaN()
			if k < len(columns) {
				if n, all := of(columns[k]); all > 0 {
					share, known = float64(n)/float64(all), true
				}
			}
			list[i].Values = append(list[i].Values, share)
		}
		if known {
			rows = append(rows, list[i])
		}
	}
	return chart.HeatMap(what, rows, r.sums.stride)
}

// label names an operation in a chart: "linear fc1", "matmul fc1, backward".
func label(name, module, phase string) string {
	text := strings.TrimSpace(name + " " + module)
	if phase != "forward" {
		text += ", " + phase
	}
	return text
}

// Ranges shows the magnitudes in the results of operations over float16's range, over
// all steps.
func (r *Recorder) Ranges() *chart.Figure {
	defer r.read()()
	var list []chart.ValueRange
	at := map[string]int{}
	for _, row := range r.sums.rows {
		if row.Counted == 0 {
			continue
		}
		name := label(row.name, row.module, row.phase)
		d := row.dtype.String()
		i, ok := at[name+d]
		if !ok {
			i = len(list)
			at[name+d] = i
			list = append(list, chart.ValueRange{Name: name, DType: d, Min: row.AbsMin, Max: row.AbsMax})
		}
		list[i].Min, list[i].Max = least(list[i].Min, row.AbsMin), -least(-list[i].Max, -row.AbsMax)
		list[i].Bad = list[i].Bad || row.Bad > 0
	}
	return chart.Ranges(list)
}

// CastTraffic shows the bytes that each module's operations read and wrote, and the part of
// them due to casts.
func (r *Recorder) CastTraffic() *chart.Figure {
	defer r.read()()
	var bars []chart.Bar
	at := map[string]int{}
	for _, row := range r.sums.rows {
		name := row.module
		if name == "" {
			name = row.phase
		}
		i, ok := at[name]
		if !ok {
			i = len(bars)
			at[name] = i
			bars = append(bars, chart.Bar{Name: name, Parts: []chart.Part{{Name: "operations", DType: "float32"}, {Name: "casts", DType: "float16"}}})
		}
		own := 0
		if row.name == "cast" {
			own = row.Bytes
		}
		bars[i].Parts[0].Value += float64(row.Bytes - own)
		bars[i].Parts[1].Value += float64(row.CastBytes + own)
	}
	return chart.Bars("bytes moved", "B", bars)
}

// Memory shows, for each dtype, the bytes of results needed during the largest step held: each
// result counts from the operation that computes it to the last one that reads it, including
// backward. It excludes results that the program keeps longer, such as a loss, temporary memory
// of operations, parameters and inputs.
func (r *Recorder) Memory() *chart.Figure {
	ops := r.Ops()
	at := map[int]int{}
	for _, op := range ops {
		at[op.Step]++
	}
	step, most := 0, 0
	for s, n := range at {
		if n > most || n == most && s < step {
			step, most = s, n
		}
	}
	ops = slices.DeleteFunc(ops, func(op OpRecord) bool { return op.Step != step })
	return chart.Needed("bytes of results", "B", needed(ops))
}

// needed returns the bytes that are needed after each of ops, by dtype.
func needed(ops []OpRecord) []chart.Series {
	type result struct {
		dtype       tensor.DType
		bytes       int
		made, spent int
	}
	results := map[int]*result{}
	add := func(id, i int, d tensor.DType, elements int) {
		if results[id] == nil {
			results[id] = &result{d, elements * d.Size(), i, i}
		}
	}
	for i, op := range ops {
		for _, c := range op.Cast {
			if !c.Promotion && c.Operand < len(op.InIDs) {
				add(op.InIDs[c.Operand], i, c.To, c.Elements)
			}
		}
		for _, id := range op.InIDs {
			if r := results[id]; r != nil {
				r.spent = i
			}
		}
		if !op.InPlace {
			add(op.ID, i, op.Out, elements(op.Shape))
		}
	}
	series, zeros := map[tensor.DType][]float64{}, make([]float64, len(ops))
	for _, r := range results {
		if series[r.dtype] == nil {
			series[r.dtype] = slices.Clone(zeros)
		}
		for i := r.made; i <= r.spent; i++ {
			series[r.dtype][i] += float64(r.bytes)
		}
	}
	var list []chart.Series
	for _, d := range tensor.DTypes() {
		if y := series[d]; y != nil {
			list = append(list, chart.Series{Name: d.String(), DType: d.String(), Values: y})
		}
	}
	return list
}
