package magic

import (
	"fmt"
	"strings"

	"halfnote/interp/internal/syntax"
)

// Format returns a cell in gofmt's format. Lines of magics, and cells that a magic takes as
// text, stay as they are. So does a semicolon at the end, which keeps the cell from showing
// its value, and a cell such as "x?". A cell that does not parse is an error.
func Format(code string) (string, error) {
	if _, _, ok := syntax.Question(code); ok {
		return code, nil
	}
	lines := strings.SplitAfter(strings.TrimRight(code, " \t\r\n"), "\n")
	var parts []string
	first := 0 // line of the next part
	// add formats the lines until one; only at the end of the cell does a semicolon matter.
	add := func(until int) error {
		text := strings.Join(lines[first:until], "")
		if strings.TrimSpace(text) == "" {
			if strings.Count(text, "\n") > 0 && first > 0 && until < len(lines) {
				parts = append(parts, "") // one blank line between magics stays
			}
			return nil
		}
		code, err := formatGo(strings.Trim(text, "\n"), until == len(lines))
		if first > 0 && strings.HasPrefix(text, "\n") {
			code = "\n" + code
		}
		if until < len(lines) && strings.HasSuffix(text, "\n\n") {
			code += "\n"
		}
		parts = append(parts, code)
		return err
	}
	command := func(string, bool) bool { return false } // a line "!x" stays as it is
	for _, g := range syntax.Segments(strings.Join(lines, ""), command) {
		if g.Magic == "" {
			continue
		}
		if err := add(g.Line - 1); err != nil {
			return "", fmt.Errorf("line %d: %w", first+1, err)
		}
		parts = append(parts, strings.TrimRight(strings.Join(lines[g.Line-1:g.Line-1+g.Lines], ""), "\n"))
		first = g.Line - 1 + g.Lines
		if !g.WholeCell() || first == len(lines) {
			continue
		}
		rest := strings.Join(lines[first:], "")
		if m := Find(g.Magic); m == nil || m.Takes != Text {
			var err error
			if rest, err = Format(rest); err != nil {
				return "", err
			}
		}
		parts = append(parts, rest)
		first = len(lines)
		break // magics below belong to the rest
	}
	if err := add(len(lines)); err != nil {
		return "", err
	}
	return strings.Join(parts, "\n"), nil
}

// formatGo formats code without magics. gofmt formats files, and lists of statements, so runs of
// declarations and runs of statements are formatted one by one. last reports whether the code ends
// the cell.
func formatGo(code string, last bool) (string, error) {
	p := syntax.Split(code)
	if len(p.Errs) > 0 {
		e := p.Errs[0]
		return "", fmt.Errorf("%d:%d: %s", e.Line, e.Col, e.Msg)
	}
	if len(p.Items) == 0 {
		return code, nil
	}
	var out strings.Builder
	start := 0
	for i, it := range p.Items {
		isLast := i == len(p.Items)-1
		end := len(code)
		if !isLast {
			next := p.Items[i+1]
			if (next.Kind == syntax.Statement) == (it.Kind == syntax.Statement) {
				continue
			}
			end = next.Off
			after := it.Off + len(it.Text)
			if nl := strings.IndexByte(code[after:end], '\n'); nl >= 0 {
				end = after + nl // a comment at the end of the line belongs to the item before
			}
		}
		text, err := syntax.Format([]byte(strings.Trim(code[start:end], " \t\r\n;")))
		if err != nil {
			return "", err
		}
		if out.Len() > 0 {
			gap := code[start : start+len(code[start:])-len(strings.TrimLeft(code[start:], " \t\r\n;"))]
			out.WriteString(strings.Repeat("\n", min(max(1, strings.Count(gap, "\n")), 2)))
		}
		out.WriteString(strings.TrimRight(string(text), "\n"))
		start = end
	}
	text := out.String()
	if last && p.Suppressed && p.Items[len(p.Items)-1].Kind == syntax.Statement {
		items := syntax.Split(text).Items
		last := items[len(items)-1]
		at := last.Off + syntax.CodeLen(last.Text)
		text = text[:at] + ";" + text[at:]
	}
	return text, nil
}
