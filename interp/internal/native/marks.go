package native

import (
	"go/ast"
	"go/token"
	"reflect"
	"strconv"

	"halfnote/interp/internal/engine"
)

// marks makes the numbers of marks that a unit passes to support functions relative to a variable of the unit, so that a
// cell that runs again, whose marks have other numbers, has the same text.
func (e *Engine) marks(u *engine.Unit, o *ownNames) {
	var calls []*ast.CallExpr
	var numbers []int
	ast.Inspect(u.File, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 && marked[code(call.Fun)] {
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				if number, err := strconv.Atoi(lit.Value); err == nil && number > 0 { // 0 is the place that is not known
					calls, numbers = append(calls, call), append(numbers, number)
				}
			}
		}
		return true
	})
	if len(calls) == 0 || o.number == "" {
		return
	}
	name := "marks" + o.number
	for i, call := range calls {
		call.Args[0] = &ast.BinaryExpr{X: ast.NewIdent(name), Op: token.ADD, Y: &ast.BasicLit{Kind: token.INT, Value: strconv.Itoa(numbers[i] - numbers[0])}}
	}
	first := new(int)
	*first = numbers[0]
	e.variable(name, reflect.ValueOf(first).Elem())
	o.names[name] = true
}

// marked are the support functions whose argument is the number of a mark.
var marked = map[string]bool{"p__kernel__.Poll": true, "p__kernel__.At": true}
