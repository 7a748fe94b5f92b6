package display

import (
	"fmt"
	"html"
	"math"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"halfnote/internal/text"
)

// Table returns a table as HTML, and as aligned columns in text/plain. A column of numbers is
// right-aligned. Floats have six digits, durations the form of [Duration], other values their own
// text. Rows may be shorter or
// longer than headers. As HTML the table scrolls sideways if it is wider than the page, numbers and
// short texts stay on one line, and all but the first 20 rows of a long table are folded.
func Table(headers []string, rows [][]any) Bundle {
	t := newTable(headers, rows)
	return Bundle{Data: map[string]any{"text/html": t.html(), "text/plain": t.text()}}
}

type table struct {
	head  []string
	cells [][]string
	right []bool // whether each column holds only numbers
}

func newTable(headers []string, rows [][]any) table {
	cols := len(headers)
	for _, r := range rows {
		cols = max(cols, len(r))
	}
	t := table{head: make([]string, cols), right: make([]bool, cols)}
	copy(t.head, headers)
	for c := range t.right {
		t.right[c] = len(rows) > 0
	}
	for _, r := range rows {
		line := make([]string, cols)
		for c, v := range r {
			line[c] = cellText(v)
			t.right[c] = t.right[c] && isNumber(v)
		}
		t.cells = append(t.cells, line)
	}
	return t
}

func (t table) html() string {
	var b strings.Builder
	if len(t.cells) <= maxRows+1 {
		t.part(&b, t.cells, nil)
		return b.String()
	}
	width := t.widths()
	t.part(&b, t.cells[:maxRows], width)
	fmt.Fprintf(&b, "<details><summary>%d more rows</summary>", len(t.cells)-maxRows)
	t.part(&b, t.cells[maxRows:], width)
	b.WriteString("</details>")
	return b.String()
}

// part writes a table of some of the rows. It scrolls sideways if it is wider than the page. With
// width, the columns have at least that many characters, so that two parts look alike.
func (t table) part(b *strings.Builder, rows [][]string, width []int) {
	style := make([]string, len(t.head))
	for c := range style {
		style[c] = "text-align:left;padding:2px 8px"
		if t.right[c] {
			style[c] = "text-align:right;padding:2px 8px"
		}
		if t.longest(c) <= maxUnbroken {
			style[c] += ";white-space:nowrap"
		}
	}
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for c, s := range cells {
			wide := ""
			if tag == "th" && width != nil {
				n := width[c]
				if t.longest(c) > maxUnbroken { // sentences, which wrap
					n = maxUnbroken / 2
				}
				wide = fmt.Sprintf(";min-width:%dch", n)
			}
			fmt.Fprintf(b, `<%s style="%s%s">%s</%[1]s>`, tag, style[c], wide, html.EscapeString(s))
		}
		b.WriteString("</tr>")
	}
	b.WriteString(`<div style="overflow-x:auto"><table>`)
	if strings.Join(t.head, "") != "" {
		b.WriteString("<thead>")
		row("th", t.head)
		b.WriteString("</thead>")
	}
	b.WriteString("<tbody>")
	for _, line := range rows {
		row("td", line)
	}
	b.WriteString("</tbody></table></div>")
}

// longest returns the number of characters of the longest cell in a column.
func (t table) longest(c int) (n int) {
	for _, line := range t.cells {
		n = max(n, utf8.RuneCountInString(line[c]))
	}
	return n
}

// widths returns the number of characters of the longest text in each column.
func (t table) widths() []int {
	width := make([]int, len(t.head))
	for c, s := range t.head {
		width[c] = max(utf8.RuneCountInString(s), t.longest(c))
	}
	return width
}

func (t table) text() string {
	width := t.widths()
	lines := t.cells
	if strings.Join(t.head, "") != "" {
		lines = append([][]string{t.head}, t.cells...)
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		var out strings.Builder
		for c, s := range line {
			if c > 0 {
				out.WriteString("  ")
			}
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(s))
			if t.right[c] {
				out.WriteString(pad + s)
			} else {
				out.WriteString(s + pad)
			}
		}
		b.WriteString(strings.TrimRight(out.String(), " "))
	}
	return b.String()
}

func isNumber(v any) bool {
	switch v.(type) {
	case nil, time.Duration:
		return true
	case fmt.Stringer, error: // for example an enumeration
		return false
	}
	rv := reflect.ValueOf(v)
	return rv.CanInt() || rv.CanUint() || rv.CanFloat()
}

const (
	maxRows     = 20 // rows of a table before the fold
	maxUnbroken = 40 // longest cell, in characters, of a column whose cells stay on one line
)

// maxCell is the maximum number of characters of a value in a cell.
const maxCell = 200

// cellText returns the text of one cell, on one line.
func cellText(v any) string {
	rv := reflect.ValueOf(v)
	if _, own := v.(fmt.Stringer); !own && rv.IsValid() && rv.CanFloat() && !math.IsInf(rv.Float(), 0) {
		return text.Number(rv.Float(), 6)
	}
	if d, ok := v.(time.Duration); ok {
		return Duration(d)
	}
	if v == nil {
		return ""
	}
	s := []rune(strings.Join(strings.Fields(plain(v)), " "))
	if len(s) > maxCell {
		return string(s[:maxCell]) + "…"
	}
	return string(s)
}
