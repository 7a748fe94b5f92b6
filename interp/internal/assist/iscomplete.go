package assist

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// IsComplete reports whether a cell can run as it is. isValue reports whether an expression can begin with a
// name, which may be followed by a dot.
func IsComplete(code string, isValue func(name string, member bool) bool) eval.Completeness {
	list := syntax.Segments(code, isValue)
	for _, g := range list[:len(list)-1] {
		if c := Completeness(g); c.Status == "invalid" {
			return c
		}
	}
	return Completeness(list[len(list)-1])
}

// indentation is that of a level of blocks in a console. It consists of spaces, because jupyter console shows a
// tab as ^I.
const indentation = "    "

// Completeness reports whether a part of a cell is complete.
func Completeness(g syntax.Segment) eval.Completeness {
	if g.Magic != "" {
		return eval.Completeness{Status: "complete"}
	}
	p := syntax.Split(g.Code)
	open := 0
	for _, e := range p.Errs {
		switch {
		case strings.HasSuffix(e.Msg, "is never closed"):
			open++
		case strings.Contains(e.Msg, "not terminated") && !strings.Contains(e.Msg, "string literal") || strings.Contains(e.Msg, "raw string literal"):
			return eval.Completeness{Status: "incomplete"}
		default:
			return eval.Completeness{Status: "invalid"}
		}
	}
	if open > 0 {
		return eval.Completeness{Status: "incomplete", Indent: strings.Repeat(indentation, open)}
	}
	for i, it := range p.Items {
		head, tail := "package p;", "\n"
		if it.Kind == syntax.Statement {
			head, tail = "package p;func _(){", "\n}"
		}
		_, err := parser.ParseFile(token.NewFileSet(), "", head+it.Text+tail, parser.SkipObjectResolution)
		list, ok := err.(scanner.ErrorList)
		if !ok {
			continue
		}
		if i == len(p.Items)-1 && list[0].Pos.Offset >= len(head)+len(it.Text) {
			return eval.Completeness{Status: "incomplete"}
		}
		return eval.Completeness{Status: "invalid"}
	}
	return eval.Completeness{Status: "complete"}
}
