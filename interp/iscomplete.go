package interp

import (
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"

	"halfnote/kernel"
)

// IsComplete implements kernel.Evaluator.
func (s *Session) IsComplete(code string) kernel.Completeness {
	list := segments(code, s.isValue)
	for _, g := range list[:len(list)-1] {
		if c := completeness(g); c.Status == "invalid" {
			return c
		}
	}
	return completeness(list[len(list)-1])
}

// indentation is that of a level of blocks in a console. It consists of spaces, because jupyter console shows a
// tab as ^I.
const indentation = "    "

func completeness(g segment) kernel.Completeness {
	if g.magic != "" {
		return kernel.Completeness{Status: "complete"}
	}
	p := split(g.code)
	open := 0
	for _, e := range p.errs {
		switch {
		case strings.HasSuffix(e.msg, "is never closed"):
			open++
		case strings.Contains(e.msg, "not terminated") && !strings.Contains(e.msg, "string literal") || strings.Contains(e.msg, "raw string literal"):
			return kernel.Completeness{Status: "incomplete"}
		default:
			return kernel.Completeness{Status: "invalid"}
		}
	}
	if open > 0 {
		return kernel.Completeness{Status: "incomplete", Indent: strings.Repeat(indentation, open)}
	}
	for i, it := range p.items {
		head, tail := "package p;", "\n"
		if it.kind == itemStatement {
			head, tail = "package p;func _(){", "\n}"
		}
		_, err := parser.ParseFile(token.NewFileSet(), "", head+it.text+tail, parser.SkipObjectResolution)
		list, ok := err.(scanner.ErrorList)
		if !ok {
			continue
		}
		if i == len(p.items)-1 && list[0].Pos.Offset >= len(head)+len(it.text) {
			return kernel.Completeness{Status: "incomplete"}
		}
		return kernel.Completeness{Status: "invalid"}
	}
	return kernel.Completeness{Status: "complete"}
}
