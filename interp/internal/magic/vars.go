package magic

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

func init() {
	add(Magic{
		Name: "%vars", Args: "[TYPE…]", Takes: Go, Run: runVars,
		Help: "the same as %whos",
	})
	add(Magic{
		Name: "%who", Args: "[TYPE…]", Takes: Go, Run: runWho,
		Help: "lists the names of variables, or of those with a type\n" +
			"%who int Tensor lists those of type int or *tensor.Tensor; %who func, %who type and %who const list these declarations.",
	})
	add(Magic{
		Name: "%whos", Args: "[TYPE…]", Takes: Go, Run: runVars,
		Help: "lists variables with their types and values; types select as for %who",
	})
}

// runWho lists names: of variables, or of the kinds and types in the arguments.
func runWho(c *Call) eval.Result {
	var names []string
	for _, v := range c.selected(c.Args) {
		names = append(names, v.Name)
	}
	if len(names) == 0 {
		return c.none()
	}
	return shown(strings.Join(names, "  "))
}

// runVars lists variables with their types and values.
func runVars(c *Call) eval.Result {
	var rows [][]any
	for _, v := range c.selected(c.Args) {
		rows = append(rows, []any{v.Name, v.Type, short(v.Value)})
	}
	if len(rows) == 0 {
		return c.none()
	}
	t := display.Of(display.Table([]string{"name", "type", "value"}, rows))
	return eval.Result{Value: &t}
}

func (c *Call) none() eval.Result {
	if c.Args == "" {
		return shown("there are no variables yet")
	}
	return shown(fmt.Sprintf("there is no variable of type %s", strings.Join(strings.Fields(c.Args), " or ")))
}

// selected returns the variables of some types, or all if filter is empty. The keywords
// func, type and const in the filter select these declarations.
func (c *Call) selected(filter string) (list []eval.Variable) {
	words := strings.Fields(filter)
	for _, v := range c.Variables() {
		if len(words) == 0 || slices.ContainsFunc(words, func(t string) bool { return isOfType(v.Type, t) }) {
			list = append(list, v)
		}
	}
	for _, w := range words {
		k := slices.Index([]string{front.KindFunc: token.FUNC.String(), front.KindType: token.TYPE.String(), front.KindConst: token.CONST.String()}, w)
		if k <= int(front.KindVar) {
			continue
		}
		for _, b := range c.Declared() {
			if b.Kind == front.Kind(k) {
				list = append(list, eval.Variable{Name: b.Name, Type: b.Typ, Value: "of " + syntax.Label(b.Cell())})
			}
		}
	}
	slices.SortFunc(list, func(a, b eval.Variable) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// isOfType reports whether a type is the wanted one, which may lack the asterisk and the
// package: Tensor selects *tensor.Tensor.
func isOfType(typ, want string) bool {
	base := strings.TrimPrefix(typ, "*")
	return want == typ || want == base || want == base[strings.LastIndexByte(base, '.')+1:]
}
