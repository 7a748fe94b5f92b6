package apex

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"
)

// propertyNames are Apex's properties in its order.
var propertyNames = []string{"cast_model_type", "patch_torch_functions", "keep_batchnorm_fp32", "master_weights", "loss_scale"}

// LevelTable compares levels. As a cell's value it is shown as a table.
type LevelTable struct{ Levels []OptLevel }

// OptLevels returns a table of levels with their properties: O0 to O3, or those given. It is
// the table of Apex's documentation.
func OptLevels(levels ...OptLevel) LevelTable {
	if len(levels) == 0 {
		levels = []OptLevel{O0, O1, O2, O3}
	}
	return LevelTable{levels}
}

// rows returns the rows of the table, header first.
func (t LevelTable) rows() [][]string {
	head, purpose := []string{"property"}, []string{"what it is"}
	for _, l := range t.Levels {
		head, purpose = append(head, l.name), append(purpose, about[l.name])
	}
	rows := [][]string{head, purpose}
	for _, name := range propertyNames {
		row := []string{name}
		for _, l := range t.Levels {
			row = append(row, l.Properties()[name])
		}
		rows = append(rows, row)
	}
	return rows
}

// String returns the table.
func (t LevelTable) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range t.rows() {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	w.Flush()
	return strings.TrimRight(b.String(), "\n")
}

// HTML returns the table.
func (t LevelTable) HTML() string {
	var b strings.Builder
	b.WriteString("<table>\n")
	for i, row := range t.rows() {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		b.WriteString("<tr>")
		for j, text := range row {
			if c := cell; j == 0 {
				fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(text))
			} else {
				fmt.Fprintf(&b, "<%s>%s</%s>", c, html.EscapeString(text), c)
			}
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>")
	return b.String()
}
