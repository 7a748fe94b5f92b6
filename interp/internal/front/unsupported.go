package front

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Unsupported returns the error of a cell that is valid Go but that the engine cannot
// run.
func (c *Parsed) Unsupported(err error) error {
	p := syntax.Problem{Cell: c.N, Line: 1, Col: 1}
	what := err.Error()
	if u, ok := err.(*lower.Unsupported); ok {
		p = c.placed(u.Pos, p)
	} else if pos, rest, ok := position(what); ok {
		what = rest
		if pos.Line > 0 {
			p.Line, p.Col = pos.Line, pos.Column
			if n := syntax.CellOf(pos.Filename); n != 0 {
				p.Cell = n
			}
		}
	}
	p.Msg = "valid Go, but not supported by the interpreter yet: " + syntax.Versioned.ReplaceAllString(aliases.ReplaceAllStringFunc(what, packageName), "$1")
	return &syntax.Rejected{Name: "Unsupported", Problems: []syntax.Problem{p}}
}

// aliases matches the names under which trees import packages.
var aliases = regexp.MustCompile(`\bp__\w+`)

// packageName returns the name of a package by its alias: "tensor", "rand" for math/rand/v2.
func packageName(alias string) string {
	path := library.Aliased(alias)
	if path == "" {
		return strings.Trim(strings.TrimPrefix(alias, "p__"), "_")
	}
	elements := strings.Split(path, "/")
	if last := len(elements) - 1; last > 0 && majorVersion.MatchString(elements[last]) {
		return elements[last-1]
	}
	return elements[len(elements)-1]
}

var majorVersion = regexp.MustCompile(`^v\d+$`)

func (c *Parsed) placed(pos token.Pos, p syntax.Problem) syntax.Problem {
	if at := c.Session.Fset.Position(pos); at.IsValid() && syntax.CellOf(at.Filename) != 0 {
		p.Cell, p.Line, p.Col = syntax.CellOf(at.Filename), at.Line, at.Column
	}
	return p
}

// position splits "file:line:col: " off the front of a message.
func position(msg string) (pos token.Position, rest string, ok bool) {
	parts := strings.SplitN(msg, ":", 4)
	if len(parts) < 4 {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[1], &pos.Line); err != nil {
		return pos, msg, false
	}
	if _, err := fmt.Sscan(parts[2], &pos.Column); err != nil {
		return pos, msg, false
	}
	pos.Filename = parts[0]
	return pos, strings.TrimSpace(parts[3]), true
}
