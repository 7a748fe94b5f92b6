package interp

import (
	"fmt"
	"go/format"
	"strings"

	"halfnote/kernel"
)

// Format returns a cell in gofmt's format. Lines of magics, and cells that a magic takes as
// text, stay as they are. So does a semicolon at the end, which keeps the cell from showing
// its value, and a cell such as "x?". A cell that does not parse is an error.
func Format(code string) (string, error) {
	if _, _, ok := question(code); ok {
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
	for _, g := range segments(strings.Join(lines, ""), command) {
		if g.magic == "" {
			continue
		}
		if err := add(g.line - 1); err != nil {
			return "", fmt.Errorf("line %d: %w", first+1, err)
		}
		parts = append(parts, strings.TrimRight(lines[g.line-1], "\n"))
		first = g.line
		if !strings.HasPrefix(g.magic, "%%") || first == len(lines) {
			continue
		}
		rest := strings.Join(lines[first:], "")
		if !findMagic(g.magic).takesOnly(takesText) {
			var err error
			if rest, err = Format(rest); err != nil {
				return "", err
			}
		}
		parts = append(parts, rest)
		first = len(lines)
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
	p := split(code)
	if len(p.errs) > 0 {
		e := p.errs[0]
		return "", fmt.Errorf("%d:%d: %s", e.line, e.col, e.msg)
	}
	if len(p.items) == 0 {
		return code, nil
	}
	var out strings.Builder
	start := 0
	for i, it := range p.items {
		isLast := i == len(p.items)-1
		end := len(code)
		if !isLast {
			next := p.items[i+1]
			if (next.kind == itemStatement) == (it.kind == itemStatement) {
				continue
			}
			end = offsetOf(code, next.line, next.col)
			after := offsetOf(code, it.line, it.col) + len(it.text)
			if nl := strings.IndexByte(code[after:end], '\n'); nl >= 0 {
				end = after + nl // a comment at the end of the line belongs to the item before
			}
		}
		text, err := format.Source([]byte(strings.Trim(code[start:end], " \t\r\n;")))
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
	if last && p.suppressed && p.items[len(p.items)-1].kind == itemStatement {
		items := split(text).items
		last := items[len(items)-1]
		at := offsetOf(text, last.line, last.col) + codeLen(last.text)
		text = text[:at] + ";" + text[at:]
	}
	return text, nil
}

// magicGofmt replaces the cell with its formatted text.
func (s *Session) magicGofmt(c call) kernel.Result {
	if c.args != "" {
		return s.wrong(c, "%%%%gofmt %s: want the code on the lines below, and nothing after the magic", c.args)
	}
	code := strings.TrimLeft(c.body, "\n")
	text, err := Format(code)
	if err != nil {
		if x, err := s.steps(c.ctx, c.in, c.out, "bind"); err != nil {
			return s.finish(x, err) // the mistake at its place
		}
		return s.wrong(c, "%%%%gofmt: the cell does not parse: %v", err)
	}
	return kernel.Result{Payload: []kernel.Payload{{Source: "set_next_input", Text: text, Replace: true}}}
}
