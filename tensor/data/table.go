package data

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// What a table shows of itself.

// Types of columns.
const (
	int64Column   = "int64"
	float64Column = "float64"
	boolColumn    = "bool"
	textColumn    = "text"
)

// DTypes returns the types of the columns, in the order of Names: int64, float64, bool or text. Missing values make integers
// float64. They are pandas.DataFrame.dtypes.
func (t *Table) DTypes() []string {
	kinds := make([]string, len(t.names))
	for i, name := range t.names {
		kinds[i], _ = t.kind(name)
	}
	return kinds
}

// kind returns the type of a column and the number of its missing values.
func (t *Table) kind(name string) (kind string, missing int) {
	ints, floats, bools := true, true, true
	for _, text := range t.columns[name] {
		if t.isMissing(text) {
			missing++
			continue
		}
		if bools {
			_, bools = truths[text]
		}
		if ints {
			_, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			ints = err == nil
		}
		if floats && !ints {
			_, err := parseNumber(text)
			floats = err == nil
		}
	}
	switch {
	case t.rows == 0:
		return textColumn, 0
	case missing == t.rows:
		return float64Column, missing
	case bools:
		return boolColumn, missing
	case ints && missing == 0:
		return int64Column, 0
	case floats:
		return float64Column, missing
	}
	return textColumn, missing
}

// truths are pandas' true_values and false_values.
var truths = map[string]bool{"True": true, "TRUE": true, "true": true, "False": false, "FALSE": false, "false": false}

// Head returns the first n rows, or all if there are fewer. It panics if n is negative. It is pandas.DataFrame.head.
func (t *Table) Head(n int) *Table {
	if n < 0 {
		panic(&tensor.Error{Op: "table", Why: fmt.Sprintf("head of %d rows; want 0 or more", n)})
	}
	n = min(n, t.rows)
	out := &Table{names: slices.Clone(t.names), columns: map[string][]string{}, rows: n, missing: t.missing}
	for name, column := range t.columns {
		out.columns[name] = column[:n:n]
	}
	return out
}

// Describe returns a table with a row for each statistic of the columns of numbers: count of the values that are not missing, mean,
// std (with n-1), min, quartiles (linear interpolation) and max. It is pandas.DataFrame.describe.
func (t *Table) Describe() *Table {
	out := NewTable().AddTexts("", []string{"count", "mean", "std", "min", "25%", "50%", "75%", "max"})
	for _, name := range t.names {
		if kind, _ := t.kind(name); kind != int64Column && kind != float64Column {
			continue
		}
		all, _ := t.Numbers(name) // by its kind there is no error
		values := slices.DeleteFunc(all, math.IsNaN)
		slices.Sort(values)
		mean, std := moments(values)
		statistics := []float64{float64(len(values)), mean, std}
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
			statistics = append(statistics, quantile(values, share))
		}
		if name == "" {
			name = "Unnamed"
		}
		out.AddNumbers(name, statistics)
	}
	return out
}

// moments returns the mean and the standard deviation with n-1.
func moments(values []float64) (mean, std float64) {
	n := float64(len(values))
	for _, x := range values {
		mean += x / n
	}
	sum := 0.0
	for _, x := range values {
		sum += float64((x - mean) * (x - mean))
	}
	if n == 0 {
		mean = math.NaN()
	}
	return mean, math.Sqrt(sum / max(n-1, 0))
}

// quantile returns the value below which the given share of sorted values lies, by linear interpolation.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	at := float64(float64(len(values)-1) * share) // not fused with the difference below
	i := int(at)
	if i+1 == len(values) {
		return values[i]
	}
	return values[i] + float64((values[i+1]-values[i])*(at-float64(i)))
}

// Limits of what a table shows.
const (
	mostRows    = 10 // rows; of more, the first and last five
	mostColumns = 20 // columns; of more, the first and last ten
	mostCell    = 40 // characters of a cell
)

// shown returns the cells that are shown, with a head of names and a row of types, and which columns are numbers.
func (t *Table) shown() (cells [][]string, numbers []bool, missing []string) {
	columns, rows := ends(len(t.names), mostColumns), ends(t.rows, mostRows)
	names, kinds := []string{""}, []string{""}
	numbers = []bool{true}
	for _, name := range t.names {
		if _, n := t.kind(name); n > 0 {
			missing = append(missing, fmt.Sprintf("%s %d", name, n))
		}
	}
	for _, c := range columns {
		if c < 0 {
			names, kinds, numbers = append(names, "…"), append(kinds, ""), append(numbers, false)
			continue
		}
		kind, _ := t.kind(t.names[c])
		names, kinds = append(names, cut(t.names[c])), append(kinds, kind)
		numbers = append(numbers, kind == int64Column || kind == float64Column)
	}
	cells = append(cells, names, kinds)
	for _, r := range rows {
		line := []string{"…"}
		if r >= 0 {
			line[0] = strconv.Itoa(r)
		}
		for i, c := range columns {
			text := "…"
			if r >= 0 && c >= 0 {
				text = t.cell(t.columns[t.names[c]][r], numbers[i+1])
			}
			line = append(line, text)
		}
		cells = append(cells, line)
	}
	return cells, numbers, missing
}

// cell returns a value as it is shown: a long number has six digits.
func (t *Table) cell(value string, number bool) string {
	const mostDigits = 8
	switch {
	case t.isMissing(value):
		return "NaN"
	case number && len(value) > mostDigits:
		if x, err := parseNumber(value); err == nil && (x != math.Trunc(x) || math.Abs(x) < 1e15) { // the digits of larger ones stay
			return text.Number(x, 6)
		}
	}
	return cut(strings.Join(strings.Fields(value), " "))
}

// cut returns text, or its beginning if it is long.
func cut(text string) string {
	if utf8.RuneCountInString(text) <= mostCell {
		return text
	}
	return string([]rune(text)[:mostCell]) + "…"
}

// ends returns the indices below n, or of more than most the first and last half, with -1 between.
func ends(n, most int) []int {
	var out []int
	for i := range n {
		switch {
		case n <= most, i < most/2, i >= n-most/2:
			out = append(out, i)
		case i == most/2:
			out = append(out, -1)
		}
	}
	return out
}

// size returns the numbers of rows and columns, and of what is missing.
func (t *Table) size(missing []string) string {
	text := text.Count(t.rows, "row") + " × " + text.Count(len(t.names), "column")
	switch n := len(missing); {
	case n > mostColumns:
		text += fmt.Sprintf("; missing values in %d columns", n)
	case n > 0:
		text += "; missing: " + strings.Join(missing, ", ")
	}
	return text
}

// String returns the first and last rows in aligned columns, under the names and types of the columns.
func (t *Table) String() string {
	cells, numbers, missing := t.shown()
	width := make([]int, len(numbers))
	for _, line := range cells {
		for c, text := range line {
			width[c] = max(width[c], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, line := range cells {
		var out strings.Builder
		for c, text := range line {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(text))
			if c > 0 {
				out.WriteString("  ")
			}
			if numbers[c] {
				out.WriteString(pad + text)
			} else {
				out.WriteString(text + pad)
			}
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	return b.String() + t.size(missing)
}

// HTML returns the same for a cell's output.
func (t *Table) HTML() string {
	cells, numbers, missing := t.shown()
	var b strings.Builder
	row := func(tag string, line []string) {
		b.WriteString("<tr>")
		for c, text := range line {
			align := "left"
			if numbers[c] {
				align = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;white-space:nowrap;padding:2px 8px">%s</%[1]s>`, tag, align, html.EscapeString(text))
		}
		b.WriteString("</tr>")
	}
	b.WriteString(`<div style="overflow-x:auto"><table><thead>`)
	row("th", cells[0])
	row("td", cells[1])
	b.WriteString("</thead><tbody>")
	for _, line := range cells[2:] {
		row("td", line)
	}
	return b.String() + "</tbody></table></div><p style=\"padding:0 8px\">" + html.EscapeString(t.size(missing)) + "</p>"
}
