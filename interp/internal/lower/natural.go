package lower

import (
	"go/ast"
	"go/types"
)

// natural lists the operations of an operand from left to right, as Yaegi computes them.
func (q *sequence) natural(e *ast.Expr) {
	e = operandPlace(e)
	if q.u.simple(*e) {
		return
	}
	if !isLogical(*e) {
		q.naturalParts(*e)
	}
	q.add(e)
}

// naturalParts lists the operations of the operands of an expression.
func (q *sequence) naturalParts(e ast.Expr) {
	e = ast.Unparen(e)
	call, isCall := e.(*ast.CallExpr)
	lit, isLit := e.(*ast.CompositeLit)
	first := 0
	if isCall {
		first = len(q.u.calleeParts(call))
	}
	if isCall {
		q.missing(call)
	}
	for i, o := range q.u.parts(e) {
		q.natural(o)
		if isCall && i == first-1 {
			q.receiverPlace(call)
		}
		switch {
		case isCall && i >= first:
			q.naturalAs(o, q.u.argType(call, i-first))
			if call == q.later {
				q.variable(o)
			}
		case isLit && !q.u.isMap(lit):
			q.naturalAs(o, q.u.elementType(lit, i))
		}
	}
	q.arrayPointer(e)
	if isCall {
		q.receiverPointer(call)
	}
}

func (q *sequence) naturalAs(e *ast.Expr, to types.Type) {
	if q.u.boxes(*e, to) && q.u.boxed(q.u.typeOf(*e)) {
		q.variable(e)
	}
}
