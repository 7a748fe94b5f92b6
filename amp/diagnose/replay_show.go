package diagnose

import (
	"fmt"
	"math"
	"strings"

	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/display/widget"
	"halfnote/internal/text"
)

// String returns a summary of the recording, and the safe scales in each format.
func (r *Replay) String() string {
	w := r.WhatIf(1, Float16)
	if w.Count == 0 {
		return "no gradients recorded"
	}
	lines := []string{fmt.Sprintf("%s recorded, %d gradients of %s elements in all", steps(w.Steps), len(w.Layers), text.Thousands(w.Count))}
	if w.NonFinite > 0 {
		lines[0] += fmt.Sprintf(", %d of them inf or NaN", w.NonFinite)
	}
	var b Band
	for _, f := range Formats() {
		b = r.Band(f)
		lines = append(lines, b.text())
	}
	if b.Lost >= safeFlush {
		lines = append(lines, b.unknown())
	}
	if !b.Activations {
		lines = append(lines, "Gradients of activations may need a larger scale: diagnose.WithActivations() records them, and diagnose.Gradients counts them.")
	}
	return strings.Join(lines, "\n")
}

// HTML returns the sentences and float16's chart.
func (r *Replay) HTML() string { return page(r.String(), r.Chart(Float16)) }

// InTheme implements display.Themed.
func (r *Replay) InTheme(name string) any {
	return themed(r, page(r.String(), inTheme(r.Chart(Float16), name)))
}

// Table lists, for the scales 1 to 2²⁴, the shares that are flushed to 0, become subnormal and
// overflow, and the number of steps that overflow. The default format is float16.
func (r *Replay) Table(formats ...Format) display.Bundle {
	if len(formats) == 0 {
		formats = []Format{Float16}
	}
	head := []string{"scale"}
	for _, f := range formats {
		head = append(head, f.name+" flushed", "subnormal", "overflow", "steps")
	}
	var rows [][]any
	for k := range maxScale + 1 {
		row := []any{scaleText(math.Exp2(float64(k)))}
		for _, f := range formats {
			w := r.WhatIf(math.Exp2(float64(k)), f)
			row = append(row, percent(w.FlushedShare()), percent(w.SubnormalShare()), percent(w.OverflowShare()), w.Overflowing)
		}
		rows = append(rows, row)
	}
	return display.Table(head, rows)
}

// Chart shows the shares over the scales 1 to 2²⁴, the band of safe scales, and the scales of
// the run.
func (r *Replay) Chart(f Format) *chart.Figure { return chart.ScaleSweep(r.sweep(f)) }

func (r *Replay) sweep(f Format) chart.Sweep {
	b := r.Band(f)
	s := chart.Sweep{DType: f.name, Low: b.Low, High: b.High}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) == 0 {
		return s
	}
	for k := range maxScale + 1 {
		w := r.whatIf(math.Exp2(float64(k)), f)
		s.Shares = append(s.Shares, chart.ScaleShare{Flushed: w.FlushedShare(), Subnormal: w.SubnormalShare(), Overflow: w.OverflowShare()})
	}
	for _, step := range r.steps {
		s.Taken = append(s.Taken, step.scale)
	}
	return s
}

// Slider returns a slider for the scale and a choice of formats above a chart that follows
// them, with the sentence of [Replay.WhatIf]. A page without a kernel shows the last state.
func (r *Replay) Slider() *widget.Box {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.name)
	}
	scale := widget.NewIntSlider(16, 0, maxScale, widget.Description("scale 2^"), widget.Lazy())
	format := widget.NewDropdown(Float16.name, names, widget.Description("format"))
	return widget.Show(func() []any {
		f := Formats()[format.Index()]
		s := r.sweep(f)
		s.At = math.Exp2(float64(scale.Value()))
		return []any{chart.ScaleSweep(s), r.WhatIf(s.At, f)}
	}, scale, format)
}
