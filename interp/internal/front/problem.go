package front

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/syntax"
)

// problemOf describes an error of the type checker, with readable names for replaced
// versions of types.
func (c *checker) problemOf(e types.Error, a *attempt) syntax.Problem {
	at := e.Fset.Position(e.Pos)
	if msg := c.hints(a).Newer(e); msg != "" {
		return syntax.Problem{Cell: syntax.CellOf(at.Filename), Line: at.Line, Col: at.Column, Msg: msg, At: syntax.SpanOf(e)}
	}
	return syntax.Problem{
		Cell: syntax.CellOf(at.Filename), Line: at.Line, Col: at.Column,
		Msg: a.readable(e.Msg), At: syntax.SpanOf(e), Hint: c.hints(a).For(e),
	}
}

// maxProblems is the number of mistakes that the error of a cell lists.
const maxProblems = 100

// listed returns the first mistakes.
func listed(list []syntax.Problem) []syntax.Problem {
	if len(list) <= maxProblems {
		return list
	}
	p := list[maxProblems]
	return append(list[:maxProblems:maxProblems], syntax.Problem{Cell: p.Cell, Line: p.Line, Col: p.Col, Msg: "further mistakes are not listed"})
}

// hints returns what hints need of an attempt.
func (c *checker) hints(a *attempt) *hints.Attempt {
	names := func(yield func(string, hints.Name) bool) {
		for name, b := range c.Env.Names() {
			n := hints.Name{Callable: b.Kind == KindFunc || b.Kind == KindType || strings.HasPrefix(b.Typ, "func(")}
			if b.Kind == KindVar {
				n.Variable = b.Typ
			}
			if !yield(name, n) {
				return
			}
		}
	}
	return &hints.Attempt{
		Session: hints.Session{Names: names, Imports: c.Env.Imports, Importer: c.Session.Importer, Failed: c.Session.Failed, Before: c.Session.Before},
		Cell:    c.N, Code: c.Code, Files: a.files, Statements: c.Stmts.Tok, Pkg: a.pkg, Info: a.info, Fixes: a.fixes,
	}
}

// more adds a continuation message of the type checker to the previous problem.
func (a *attempt) more(msg string, at token.Position) {
	if len(a.errs) == 0 {
		return
	}
	p := &a.errs[len(a.errs)-1]
	if n := syntax.CellOf(at.Filename); n != 0 {
		msg = fmt.Sprintf("%s: %s, line %d", msg, syntax.Label(n), at.Line)
	}
	p.Hint = strings.TrimPrefix(p.Hint+"\n"+msg, "\n")
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
			if o, ok := p.Scope().Lookup(member).(*types.TypeName); ok && o.IsAlias() && exports.TypeString(types.Unalias(o.Type()), nil) == name {
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
