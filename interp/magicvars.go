package interp

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/kernel"
)

// magicWho lists names: of variables, or of the kinds and types in the arguments.
func (s *Session) magicWho(c call) kernel.Result {
	var names []string
	for _, v := range s.selected(c.args) {
		names = append(names, v.Name)
	}
	if len(names) == 0 {
		return s.none(c)
	}
	return shown(strings.Join(names, "  "))
}

// magicVars lists variables with their types and values.
func (s *Session) magicVars(c call) kernel.Result {
	var rows [][]any
	for _, v := range s.selected(c.args) {
		rows = append(rows, []any{v.Name, v.Type, short(v.Value)})
	}
	if len(rows) == 0 {
		return s.none(c)
	}
	t := display.Of(display.Table([]string{"name", "type", "value"}, rows))
	return kernel.Result{Value: &t}
}

func (s *Session) none(c call) kernel.Result {
	if c.args == "" {
		return shown("there are no variables yet")
	}
	return shown(fmt.Sprintf("there is no variable of type %s", strings.Join(strings.Fields(c.args), " or ")))
}

// selected returns the variables of some types, or all if filter is empty. The keywords
// func, type and const in the filter select these declarations.
func (s *Session) selected(filter string) (list []kernel.Variable) {
	words := strings.Fields(filter)
	for _, v := range s.variables() {
		if len(words) == 0 || slices.ContainsFunc(words, func(t string) bool { return isOfType(v.Type, t) }) {
			list = append(list, v)
		}
	}
	for _, w := range words {
		k := slices.Index([]string{kindFunc: token.FUNC.String(), kindType: token.TYPE.String(), kindConst: token.CONST.String()}, w)
		if k <= int(kindVar) {
			continue
		}
		for _, b := range s.current() {
			if b.kind == kind(k) {
				list = append(list, kernel.Variable{Name: b.name, Type: b.typ, Value: "of " + inLabel(b.cell)})
			}
		}
	}
	slices.SortFunc(list, func(a, b kernel.Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// isOfType reports whether a type is the wanted one, which may lack the asterisk and the
// package: Tensor selects *tensor.Tensor.
func isOfType(typ, want string) bool {
	base := strings.TrimPrefix(typ, "*")
	return want == typ || want == base || want == base[strings.LastIndexByte(base, '.')+1:]
}
