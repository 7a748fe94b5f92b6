package display

import (
	"fmt"
	"html"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Table returns a table as HTML, and as aligned columns in text/plain. A column of numbers is
// right-aligned. Floats have six digits, other values their own text. Rows may be shorter or
// longer than headers.
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
	row := func(tag string, cells []string) {
		b.WriteString("<tr>")
		for c, s := range cells {
			side := "left"
			if t.right[c] {
				side = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;padding:2px 8px">%s</%[1]s>`, tag, side, html.EscapeString(s))
		}
		b.WriteString("</tr>")
	}
	b.WriteString("<table>")
	if strings.Join(t.head, "") != "" {
		b.WriteString("<thead>")
		row("th", t.head)
		b.WriteString("</thead>")
	}
	b.WriteString("<tbody>")
	for _, line := range t.cells {
		row("td", line)
	}
	b.WriteString("</tbody></table>")
	return b.String()
}

func (t table) text() string {
	width := make([]int, len(t.head))
	lines := t.cells
	if strings.Join(t.head, "") != "" {
		lines = append([][]string{t.head}, t.cells...)
	}
	for _, line := range lines {
		for c, s := range line {
			width[c] = max(width[c], utf8.RuneCountInString(s))
		}
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

// maxCell is the maximum number of characters of a value in a cell.
const maxCell = 200

// cellText returns the text of one cell, on one line.
func cellText(v any) string {
	rv := reflect.ValueOf(v)
	if _, own := v.(fmt.Stringer); !own && rv.IsValid() && rv.CanFloat() && !math.IsInf(rv.Float(), 0) {
		return strconv.FormatFloat(rv.Float(), 'g', 6, 64)
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
