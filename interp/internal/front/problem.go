package front

import (
	"fmt"
	"go/types"
	"regexp"
	"strings"

	"halfnote/interp/internal/syntax"
)

// problemOf describes an error of the type checker, with readable names for replaced
// versions of types.
func (c *checker) problemOf(e types.Error, a *attempt) syntax.Problem {
	at := e.Fset.Position(e.Pos)
	if msg := a.newer(e); msg != "" {
		return syntax.Problem{Cell: syntax.CellOf(at.Filename), Line: at.Line, Col: at.Column, Msg: msg, At: syntax.SpanOf(e)}
	}
	return syntax.Problem{
		Cell: syntax.CellOf(at.Filename), Line: at.Line, Col: at.Column,
		Msg: a.readable(e.Msg), At: syntax.SpanOf(e), Hint: c.hint(e, a),
	}
}

// internalType matches a type of package driver. Cells name it by its alias in another package.
var internalType = regexp.MustCompile(`\bdriver\.\w+`)

// earlierPlace matches the place of a declaration of an earlier cell, which the checker does not know.
var earlierPlace = regexp.MustCompile(` \(declared at earlier:\d+:\d+\)`)

// readable replaces the session's internal names in a message of the checker with the
// names in the cells.
func (a *attempt) readable(msg string) string {
	if strings.Contains(msg, retiredMark) {
		msg = retiredType.ReplaceAllString(msg, "$1.$2 (of the old package)")
		msg = quotedType.ReplaceAllString(msg, "$1.$2")
	}
	msg = earlierPlace.ReplaceAllString(msg, "")
	msg = internalType.ReplaceAllStringFunc(msg, func(name string) string {
		_, member, _ := strings.Cut(name, ".")
		for _, p := range a.pkg.Imports() {
			if o, ok := p.Scope().Lookup(member).(*types.TypeName); ok && o.IsAlias() && TypeString(types.Unalias(o.Type()), nil) == name {
				return p.Name() + "." + member
			}
		}
		return name
	})
	return syntax.Versioned.ReplaceAllStringFunc(msg, func(name string) string {
		if n, ok := strings.CutPrefix(name, "Out__"); ok {
			return "Out[" + n + "]"
		}
		if name == InName {
			return "In"
		}
		for _, b := range a.env.Old {
			if a.env.Of(b).Check == name {
				return fmt.Sprintf("%s (of %s)", b.Name, syntax.Label(b.Cell()))
			}
		}
		return name
	})
}
