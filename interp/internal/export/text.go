package export

import (
	"slices"
	"strings"

	"halfnote/interp/internal/syntax"
)

// edit replaces a part of a text.
type edit struct {
	start, end int
	text       string
}

// apply returns text[start:end] with the edits in that range applied.
func apply(text string, start, end int, edits []edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := start
	for _, e := range edits {
		if e.start < at || e.end > end {
			continue
		}
		b.WriteString(text[at:e.start] + e.text)
		at = e.end
	}
	b.WriteString(text[at:end])
	return b.String()
}

// leading returns the comment lines directly above a line of a cell, as written, and
// with blank set the blank line above them.
func leading(code string, line int, blank bool) string {
	lines := strings.Split(code, "\n")
	if line > len(lines) {
		return ""
	}
	first := line - 1
	for first > 0 && strings.HasPrefix(strings.TrimLeft(lines[first-1], " \t"), "//") {
		first--
	}
	text := ""
	if blank && first > 0 && strings.TrimSpace(lines[first-1]) == "" {
		text = "\n"
	}
	for _, l := range lines[first : line-1] {
		text += l + "\n"
	}
	return text
}

// trailing returns the comment that follows an item on its last line.
func trailing(code string, it syntax.Item, elsewhere bool) string {
	off := syntax.OffsetOf(code, it.Line, it.Col)
	if elsewhere || off > len(code) || !strings.HasPrefix(code[off:], it.Text) {
		return ""
	}
	rest, _, _ := strings.Cut(code[off+len(it.Text):], "\n")
	if rest = strings.TrimLeft(rest, "; \t"); strings.HasPrefix(rest, "//") {
		return " " + strings.TrimRight(rest, "\r")
	}
	return ""
}
