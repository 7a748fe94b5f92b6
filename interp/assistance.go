package interp

import (
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/front"
	"halfnote/kernel/eval"
)

// Complete implements eval.Completer. It lists completions of the identifier that ends at cursor:
// members after a dot, keys in a composite literal, labels after break, otherwise the names in
// scope, importable packages, and keywords. In strings it lists import paths, the keys of an existing
// map, and files for a function that expects a file name; in the line of a magic, magics and their
// arguments. It offers nothing in comments, other strings and numbers.
func (s *Session) Complete(code string, cursor int) eval.Completion {
	snap, done := s.look()
	defer done()
	return assist.Complete(snap, code, cursor)
}

// Inspect implements eval.Evaluator. It describes the name at cursor with its declaration, its value
// and its comment, as plain text and as markdown. It also describes keywords, literals and magics.
// Between the parentheses of a call it describes the called function, or names it if the cursor is on
// an argument. detail 1 adds the source of declarations in cells.
func (s *Session) Inspect(code string, cursor, detail int) (display.Bundle, bool) {
	snap, done := s.look()
	defer done()
	return assist.Inspect(snap, code, cursor, detail)
}

// IsComplete implements eval.Evaluator.
func (s *Session) IsComplete(code string) eval.Completeness {
	return assist.IsComplete(code, s.isValue)
}

// isValue reports whether an expression can begin with a name: that of a variable,
// constant or function or, before a dot, of a package.
func (s *Session) isValue(name string, member bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.env.IsValue(name, member)
}

// Variables implements eval.VariableLister. While a cell runs, the variables have no
// values and no parts: values that are being changed cannot be read safely.
func (s *Session) Variables() []eval.Variable {
	var list []eval.Variable
	if !s.looking(func() { list = s.variables() }) {
		for _, b := range s.declared() {
			list = append(list, eval.Variable{Name: b.Name, Type: b.Typ, Value: assist.Busy})
		}
	}
	return list
}

// declared returns the variables of the session by name.
func (s *Session) declared() []*front.Binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	var vars []*front.Binding
	for _, b := range s.env.Names() {
		if b.Kind == front.KindVar {
			vars = append(vars, b)
		}
	}
	slices.SortFunc(vars, func(a, b *front.Binding) int { return strings.Compare(a.Name, b.Name) })
	return vars
}

// variables describes the variables. Only the calling cell may be running.
func (s *Session) variables() (list []eval.Variable) {
	for _, b := range s.declared() {
		list = append(list, eval.Variable{Name: b.Name, Type: b.Typ})
	}
	return assist.Variables(s.seen(), list)
}
