package diagnose

import (
	"fmt"
	"strings"

	"halfnote/display/chart"
)

// Loss shows the losses of the run and its forks. Each fork includes the run's steps up to its
// start.
func (r *Rewind) Loss() *chart.Figure {
	return chart.Loss(r.series(func(b *Branch) []float64 { return b.Losses }))
}

// Scales shows the loss scales of the run and its forks.
func (r *Rewind) Scales() *chart.Figure {
	return chart.Lines("loss scale", r.series(func(b *Branch) []float64 { return b.Scales }))
}

func (r *Rewind) series(of func(*Branch) []float64) []chart.Series {
	var list []chart.Series
	for _, b := range r.Branches() {
		y := of(b)
		if b != r.trunk {
			y = append(append([]float64{}, of(r.trunk)[:min(b.From, len(of(r.trunk)))]...), y...)
		}
		list = append(list, chart.Series{Name: b.Name, Values: y})
	}
	return list
}

// bad returns the first step with a loss that is not finite, or nil.
func (b *Branch) bad() any {
	for i, loss := range b.Losses {
		if loss-loss != 0 {
			return b.From + i
		}
	}
	return nil
}

func (b *Branch) skipped() (n int) {
	for _, s := range b.Skipped {
		if s {
			n++
		}
	}
	return n
}

// String returns a sentence on the branch.
func (b *Branch) String() string {
	if len(b.Losses) == 0 {
		return fmt.Sprintf("%s: no steps from step %d", b.Name, b.From)
	}
	text := fmt.Sprintf("%s: %s from step %d on, loss %.6g to %.6g", b.Name, steps(len(b.Losses)), b.From, b.Losses[0], b.Losses[len(b.Losses)-1])
	if at := b.bad(); at != nil {
		text += fmt.Sprintf(", not finite from step %v on", at)
	}
	if n := b.skipped(); n > 0 {
		text += fmt.Sprintf(", %d skipped", n)
	}
	if b.Broken {
		text += ", ended by a panic"
	}
	return text
}

// String returns lines on the run, its forks and the kept states.
func (r *Rewind) String() string {
	var lines []string
	for _, b := range r.Branches() {
		lines = append(lines, b.String())
	}
	return strings.Join(append(lines, fmt.Sprintf("%d states kept in %.1f MiB", len(r.kept), float64(r.Bytes())/(1<<20))), "\n")
}

// HTML returns the sentences and the chart of losses.
func (r *Rewind) HTML() string { return page(r.String(), r.Loss()) }

// InTheme implements display.Themed.
func (r *Rewind) InTheme(name string) any {
	return themed(r, page(r.String(), inTheme(r.Loss(), name)))
}
