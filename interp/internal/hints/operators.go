package hints

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/internal/exports"
)

// tensorMethods maps an operator to the methods that compute it: of two tensors, of a tensor and a number, and of a number and
// a tensor in this order.
var tensorMethods = map[token.Token]struct{ tensor, number, swapped string }{
	token.ADD:  {"Add", "AddScalar", "AddScalar"},
	token.SUB:  {"Sub", "SubScalar", "RSubScalar"},
	token.MUL:  {"Mul", "MulScalar", "MulScalar"},
	token.QUO:  {"Div", "DivScalar", "RDivScalar"},
	token.REM:  {"Remainder", "", ""},
	token.AND:  {"And", "", ""},
	token.LAND: {"And", "", ""},
	token.OR:   {"Or", "", ""},
	token.LOR:  {"Or", "", ""},
	token.XOR:  {"Xor", "", ""},
	token.SHL:  {"LeftShift", "", ""},
	token.SHR:  {"RightShift", "", ""},
	token.EQL:  {"Eq", "EqScalar", "EqScalar"},
	token.NEQ:  {"Ne", "NeScalar", "NeScalar"},
	token.LSS:  {"Lt", "LtScalar", "GtScalar"},
	token.LEQ:  {"Le", "LeScalar", "GeScalar"},
	token.GTR:  {"Gt", "GtScalar", "LtScalar"},
	token.GEQ:  {"Ge", "GeScalar", "LeScalar"},
}

// assigned maps an assignment operator to the binary one.
var assigned = map[token.Token]token.Token{
	token.ADD_ASSIGN: token.ADD, token.SUB_ASSIGN: token.SUB, token.MUL_ASSIGN: token.MUL, token.QUO_ASSIGN: token.QUO,
	token.REM_ASSIGN: token.REM, token.AND_ASSIGN: token.AND, token.OR_ASSIGN: token.OR, token.XOR_ASSIGN: token.XOR,
	token.INC: token.ADD, token.DEC: token.SUB,
}

// operatorHint says which method a cell calls for an operator that Go does not have for tensors, or returns "".
func (a *Attempt) operatorHint(m Mistake) string {
	for i, n := range m.path {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if isCondition(n, m.path[i+1:]) && comparison(n.Op) {
				if h := a.elementHint(n); h != "" {
					return h
				}
			}
			if new, ok := a.computed(n.X, n.Op, n.Y); ok {
				h := a.write(n, new)
				if n.Op == token.MUL && a.isTensor(n.X) && a.isTensor(n.Y) {
					h += "; " + code(methodCall(n.X, "MatMul", n.Y)) + " is the matrix product"
				}
				return h
			}
		case *ast.UnaryExpr:
			name := map[token.Token]string{token.SUB: "Neg", token.NOT: "Not", token.XOR: "BitwiseNot"}[n.Op]
			if name != "" && a.isTensor(n.X) {
				return a.write(n, methodCall(ast.Unparen(n.X), name))
			}
		case *ast.AssignStmt:
			op, ok := assigned[n.Tok]
			if !ok || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return ""
			}
			if a.isNumber(n.Lhs[0]) && a.isTensor(n.Rhs[0]) {
				item := a.write(n.Rhs[0], a.converted(methodCall(n.Rhs[0], "Item"), a.Info.TypeOf(n.Lhs[0])))
				return fmt.Sprintf("write %s %s %s", code(n.Lhs[0]), n.Tok, strings.TrimPrefix(item, "write "))
			}
			return a.assignHint(n, n.Lhs[0], op, n.Rhs[0])
		case *ast.IncDecStmt:
			return a.assignHint(n, n.X, assigned[n.Tok], &ast.BasicLit{ValuePos: n.Pos(), Kind: token.INT, Value: "1"})
		case ast.Stmt:
			return ""
		}
	}
	return ""
}

// assignHint mends an assignment with an operator: s += 1 becomes s = s.AddScalar(1).
func (a *Attempt) assignHint(n ast.Stmt, x ast.Expr, op token.Token, y ast.Expr) string {
	new, ok := a.computed(x, op, y)
	if !ok || !a.isTensor(x) {
		return ""
	}
	return a.write(n, &ast.AssignStmt{Lhs: []ast.Expr{x}, TokPos: n.Pos(), Tok: token.ASSIGN, Rhs: []ast.Expr{new}})
}

// elementHint mends a comparison of a tensor in a condition, which must be a bool: it compares the only element.
func (a *Attempt) elementHint(n *ast.BinaryExpr) string {
	x, y := n.X, n.Y
	if a.isTensor(x) {
		x = methodCall(x, "Item")
	}
	if a.isTensor(y) {
		y = methodCall(y, "Item")
	}
	if x == n.X && y == n.Y || !a.isTensor(n.X) && !a.isNumber(n.X) || !a.isTensor(n.Y) && !a.isNumber(n.Y) {
		return ""
	}
	element := types.Typ[types.Float64]
	if x == n.X {
		x = a.converted(x, element)
	}
	if y == n.Y {
		y = a.converted(y, element)
	}
	return a.write(n, &ast.BinaryExpr{X: x, OpPos: n.OpPos, Op: n.Op, Y: y}) + ", which compares the only element"
}

// isCondition reports whether an expression is the condition of a statement, or a part of one.
func isCondition(x ast.Expr, outer []ast.Node) bool {
	for _, n := range outer {
		switch n := n.(type) {
		case *ast.ParenExpr:
			x = n
		case *ast.BinaryExpr:
			if n.Op != token.LAND && n.Op != token.LOR {
				return false
			}
			x = n
		case *ast.UnaryExpr:
			if n.Op != token.NOT {
				return false
			}
			x = n
		case *ast.IfStmt:
			return n.Cond == x
		case *ast.ForStmt:
			return n.Cond == x
		default:
			return false
		}
	}
	return false
}

func comparison(op token.Token) bool {
	return op == token.EQL || op == token.NEQ || op == token.LSS || op == token.LEQ || op == token.GTR || op == token.GEQ
}

// computed returns the call of the method that computes an operator of tensors, or of a tensor and a number.
func (a *Attempt) computed(x ast.Expr, op token.Token, y ast.Expr) (ast.Expr, bool) {
	m := tensorMethods[op]
	x, y = ast.Unparen(x), ast.Unparen(y)
	element := types.Typ[types.Float64]
	switch {
	case a.isTensor(x) && a.isTensor(y) && m.tensor != "":
		return methodCall(x, m.tensor, y), true
	case a.isTensor(x) && a.isNumber(y) && m.number != "":
		return methodCall(x, m.number, a.converted(y, element)), true
	case a.isNumber(x) && a.isTensor(y) && m.swapped != "":
		return methodCall(y, m.swapped, a.converted(x, element)), true
	}
	return nil, false
}

func (a *Attempt) isTensor(x ast.Expr) bool { return isTensor(a.Info.TypeOf(x)) }

// isNumber reports whether an expression is a number. The checker records no type for an untyped constant in an expression
// that it refuses.
func (a *Attempt) isNumber(x ast.Expr) bool {
	if t := a.Info.TypeOf(x); t != nil {
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsNumeric != 0 && b.Info()&types.IsComplex == 0
	}
	return isConstant(x)
}

// isConstant reports whether an expression consists of numbers.
func isConstant(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.BasicLit:
		return x.Kind == token.INT || x.Kind == token.FLOAT
	case *ast.UnaryExpr:
		return isConstant(x.X)
	case *ast.BinaryExpr:
		return isConstant(x.X) && isConstant(x.Y)
	}
	return false
}

// converted returns x, or its conversion to a number of type t if it has another type.
func (a *Attempt) converted(x ast.Expr, t types.Type) ast.Expr {
	was := a.Info.TypeOf(x)
	if call, ok := x.(*ast.CallExpr); ok && was == nil {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Item" {
			was = types.Typ[types.Float64]
		}
	}
	if was == nil || types.Identical(was, t) {
		return x
	}
	if b, ok := was.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 {
		return x
	}
	return callOf(&ast.Ident{NamePos: x.Pos(), Name: exports.TypeString(t, a.Pkg)}, ast.Unparen(x))
}

// dtypeHint says how a dtype is chosen where a function of sizes is given one: tensor.Zeros(1).To(tensor.Float16). It
// returns "" if argument i is not a dtype, or the call does not return a tensor.
func (a *Attempt) dtypeHint(call *ast.CallExpr, i int) string {
	fn, ok := a.Info.TypeOf(call.Fun).(*types.Signature)
	arg := a.Info.TypeOf(call.Args[i])
	if !ok || arg == nil || exports.TypeString(arg, nil) != "driver.DType" || fn.Results().Len() != 1 || !isTensor(fn.Results().At(0).Type()) {
		return ""
	}
	short := *call
	short.Args = append(append([]ast.Expr{}, call.Args[:i]...), call.Args[i+1:]...)
	return a.write(call, methodCall(&short, "To", call.Args[i]))
}

// declaredWhole returns the declaration of a variable of the cell that began as a whole number, n := 0, with a number that
// has a fraction, n := 0.0, or "".
func (a *Attempt) declaredWhole(x ast.Expr) string {
	id, ok := x.(*ast.Ident)
	if !ok || a.Info.Uses[id] == nil {
		return ""
	}
	for _, n := range a.enclosing(a.Info.Uses[id].Pos()) {
		st, ok := n.(*ast.AssignStmt)
		if !ok || len(st.Lhs) != len(st.Rhs) {
			continue
		}
		for i, l := range st.Lhs {
			lit, whole := st.Rhs[i].(*ast.BasicLit)
			if l, ok := l.(*ast.Ident); ok && whole && lit.Kind == token.INT && l.Name == id.Name {
				return fmt.Sprintf("%s := %s.0", id.Name, lit.Value)
			}
		}
	}
	return ""
}
