// Package hints says what to write instead of code that Go refuses, and notes what accepted code may
// mean instead. It takes the tree of a cell with what the type checker has found out about it, and returns text. It knows the
// names that Python, PyTorch and NumPy have for what cells write in another way, and compares those of a cell with
// the names that it could use. It does not run the checker, and does not know how a session keeps its declarations.
package hints

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"halfnote/internal/near"
)

// Attempt is a cell with mistakes, after a run of the type checker.
type Attempt struct {
	Session
	Cell       int    // its number
	Code       string // its source
	Files      []*ast.File
	Statements *token.File // the one of Files that holds the cell's statements
	Pkg        *types.Package
	Info       *types.Info
	Fixes      Fixes // receives the pieces of code that hints replace
}

// Session is what a cell may refer to.
type Session struct {
	Names    iter.Seq2[string, Name] // declared by earlier cells
	Imports  map[string]string       // paths by name
	Importer types.Importer
	// Failed returns the number of the latest cell that declares a name but did not run, or 0.
	Failed func(name string) int
	// Before returns the number of the latest cell of the notebook's kernel before this one that declares a name, or 0.
	Before func(name string) int
}

// Name is what a hint uses of a name of the session.
type Name struct {
	Callable bool
	Variable string // the type of a variable, "" for other names
}

// Mistake is an error of the type checker in a cell.
type Mistake struct {
	types.Error
	path []ast.Node // the nodes around it, innermost first
}

// rules maps messages of the type checker to hints. The first rule that matches the message and has a hint applies.
var rules = []struct {
	match func(msg, text string) bool
	texts []string
	hint  func(*Attempt, Mistake) string
}{
	{begins, []string{"use of package "}, (*Attempt).packageValueHint},
	{begins, []string{"undefined: "}, (*Attempt).undefinedHint},
	{strings.Contains, []string{" not exported by package "}, (*Attempt).undefinedHint},
	{strings.Contains, []string{" has no field or method "}, (*Attempt).memberHint},
	{begins, []string{"unknown field "}, (*Attempt).fieldHint},
	{begins, []string{"not enough arguments in call to ", "too many arguments in call to "}, (*Attempt).callHint},
	{strings.Contains, []string{" value in argument to "}, (*Attempt).callHint},
	{begins, []string{"too many arguments in conversion to ", "missing argument in conversion to ", "cannot convert "}, (*Attempt).constructorHint},
	{strings.HasSuffix, []string{" declared and not used"}, (*Attempt).lineHint},
	{begins, []string{"invalid operation: ", "invalid argument: ", "cannot index ", "cannot slice ", "cannot range over "}, (*Attempt).operatorHint},
	{begins, []string{"invalid operation: ", "invalid argument: ", "cannot index ", "cannot slice ", "cannot range over ", "too few values in struct literal"}, (*Attempt).expressionHint},
	{begins, []string{"assignment mismatch: "}, (*Attempt).countHint},
	{strings.Contains, []string{"(mismatched types "}, (*Attempt).mismatchHint},
	{begins, []string{"non-boolean condition in "}, (*Attempt).conditionHint},
	{begins, []string{"missing return"}, always("every path through a function with results must end in return, panic or an endless loop")},
	{begins, []string{"no new variables"}, always("use = to assign again in the same cell; another cell may declare the name again")},
}

func begins(msg, text string) bool { return strings.HasPrefix(msg, text) }

// always returns a rule's hint that does not depend on the cell.
func always(text string) func(*Attempt, Mistake) string {
	return func(*Attempt, Mistake) string { return text }
}

// For suggests a fix for an error of the type checker, or returns "". A piece of code that the hint replaces is added to Fixes.
func (a *Attempt) For(e types.Error) string {
	m := Mistake{e, a.enclosing(e.Pos)}
	switch {
	case len(m.path) == 0:
		return ""
	case begins(e.Msg, "cannot use _ as value"), e.Msg == "undefined: Out", e.Msg == "undefined: In":
		return "In, Out and _ refer to earlier cells only in a cell's statements, not in its declarations"
	case strings.Contains(e.Msg, "(but have "):
		return "" // the message says what to write
	}
	if h := a.uncalledHint(m); h != "" {
		return h
	}
	for _, r := range rules {
		if slices.ContainsFunc(r.texts, func(text string) bool { return r.match(e.Msg, text) }) {
			if h := r.hint(a, m); h != "" {
				return h
			}
		}
	}
	return ""
}

// enclosing returns the nodes around a position, innermost first.
func (a *Attempt) enclosing(pos token.Pos) []ast.Node {
	var path []ast.Node
	for _, f := range a.Files {
		if f.FileStart > pos || pos > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || !n.Pos().IsValid() || n.Pos() > pos || pos > n.End() {
				return n != nil && !n.Pos().IsValid()
			}
			path = append(path, n)
			return true
		})
	}
	slices.Reverse(path)
	return path
}

// within returns the innermost node of type T.
func within[T ast.Node](path []ast.Node) (n T, ok bool) {
	for _, p := range path {
		if n, ok := p.(T); ok {
			return n, true
		}
	}
	return n, false
}

// meant suggests the similar names among names.
func meant(name string, names []string) string {
	list := near.Names(name, names, 3)
	if len(list) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(list, ", ") + "?"
}
