package failure

import (
	"fmt"
	"strings"

	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Mistakes shows every problem as a block: message and place, the line with the mistake
// underlined, and a hint.
func (d Describer) Mistakes(r *syntax.Rejected) *eval.Error {
	e := &eval.Error{Name: r.Name}
	for i, p := range r.Problems {
		if i > 0 {
			e.Traceback = append(e.Traceback, "")
		}
		lines := strings.Split(p.Msg, "\n")
		e.Traceback = append(e.Traceback, fmt.Sprintf("%s: %s", syntax.Place(p.Cell, p.Line, p.Col), ansi.Bold(lines[0])))
		at := p.At
		if at.Line == 0 {
			at = syntax.Span{Line: p.Line, Col: p.Col}
		}
		e.Traceback = append(e.Traceback, d.Places.Excerpt(p.Cell, at)...)
		for _, line := range lines[1:] {
			e.Traceback = append(e.Traceback, "        "+strings.TrimSpace(line))
		}
		if p.Hint != "" {
			for line := range strings.SplitSeq(p.Hint, "\n") {
				e.Traceback = append(e.Traceback, "        "+ansi.Bold("hint: ")+line)
			}
		}
	}
	if len(r.Problems) > 0 {
		p := r.Problems[0]
		e.Value = fmt.Sprintf("%s:%d:%d: %s", syntax.Label(p.Cell), p.Line, p.Col, p.Msg)
		if n := len(r.Problems) - 1; n > 0 {
			e.Value += fmt.Sprintf(" (and %d more)", n)
		}
	}
	return e
}
