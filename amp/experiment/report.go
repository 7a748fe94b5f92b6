package experiment

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"

	"halfnote/display/chart"
)

// Report is the display form of an experiment's result: a sentence, a table, and optionally a
// chart.
type Report struct {
	Says   string   // the result, in a sentence or two
	Header []string // of the table
	Rows   [][]string
	Figure *chart.Figure // or nil
}

// row adds a row of values.
func (r *Report) row(cells ...any) {
	var row []string
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			row = append(row, fmt.Sprintf("%.9g", c))
		default:
			row = append(row, fmt.Sprint(c))
		}
	}
	r.Rows = append(r.Rows, row)
}

// String returns the sentence and the table as text.
func (r Report) String() string {
	var b strings.Builder
	b.WriteString(r.Says + "\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{r.Header}, r.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// HTML returns the sentence, the table and the chart. Its styles are inline, so that it also
// works in an untrusted notebook.
func (r Report) HTML() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<div style="font-size:13px"><p>%s</p><table style="border-collapse:collapse">`, html.EscapeString(r.Says))
	line := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for i, c := range cells {
			align := "right"
			if i == 0 {
				align = "left"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;padding:2px 14px 2px 0">%s</%s>`, tag, align, html.EscapeString(c), tag)
		}
		b.WriteString("</tr>")
	}
	line("th", r.Header)
	for _, row := range r.Rows {
		line("td", row)
	}
	b.WriteString("</table>")
	if r.Figure != nil {
		b.WriteString(r.Figure.HTML())
	}
	return b.String() + "</div>"
}

func percent(x float64) string {
	switch p := 100 * x; {
	case p >= 1:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.2f %%", p)
	}
}
