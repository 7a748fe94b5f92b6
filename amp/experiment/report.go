package experiment

import (
	"fmt"
	"html"

	"halfnote/display"
	"halfnote/display/chart"
)

// Report is the display form of an experiment's result: a sentence, a table, and optionally a
// chart.
type Report struct {
	Says   string   // result in a sentence or two
	Header []string // header of the table
	Rows   [][]string
	Figure *chart.Figure // chart, or nil
}

// row adds a row of values.
func (r *Report) row(cells ...any) {
	var row []string
	for _, c := range cells {
		if f, ok := c.(float64); ok {
			c = fmt.Sprintf("%.9g", f)
		}
		row = append(row, fmt.Sprint(c))
	}
	r.Rows = append(r.Rows, row)
}

func (r Report) table() display.Bundle {
	rows := make([][]any, len(r.Rows))
	for i, row := range r.Rows {
		for _, text := range row {
			rows[i] = append(rows[i], text)
		}
	}
	return display.Table(r.Header, rows)
}

// String returns the sentence and the table as text.
func (r Report) String() string { return r.Says + "\n" + r.table().String() }

// HTML returns the sentence, the table and the chart.
func (r Report) HTML() string { return r.page(r.Figure) }

// InTheme implements display.Themed.
func (r Report) InTheme(name string) any {
	figure := r.Figure
	if figure != nil {
		figure = figure.InTheme(name).(*chart.Figure)
	}
	return display.Bundle{Data: map[string]any{"text/html": r.page(figure), "text/plain": r.String()}}
}

func (r Report) page(f *chart.Figure) string {
	figure := ""
	if f != nil {
		figure = f.HTML()
	}
	return fmt.Sprintf("<div><p style=\"padding:0 8px\">%s</p>%s%s</div>", html.EscapeString(r.Says), r.table().Data["text/html"], figure)
}

func percent(x float64) string {
	switch p := 100 * x; {
	case p >= 1:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.2f %%", p)
	}
}
