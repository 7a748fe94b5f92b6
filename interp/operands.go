package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"halfnote/internal/text"
)

// operands returns a note with the shapes of operands of the call at a mark, if the panic's
// value names an operation and mismatched shapes, as tensor.Error does. If the call is the
// operation itself, these are its operands; if the operation runs inside the call, for
// example in a layer, they are the operands that are variables. In a statement with several
// calls, operands chooses the only call of the operation and returns its place.
func (s *Session) operands(value any, m mark) (at span, note string) {
	op, shapes := misfit(value)
	if op == "" {
		return at, ""
	}
	cell, line, col := m.place()
	var calls []*ast.CallExpr
	var files *token.FileSet
	s.inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		files = fset
		pos := operator(n)
		if m.whole {
			pos, _ = statement(n)
		}
		if p := fset.Position(pos); p.Line != line || p.Column != col {
			return true
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && (!m.whole || isCallOf(call, op)) {
				calls = append(calls, call)
			}
			return m.whole
		})
		return false
	})
	if len(calls) != 1 {
		return at, ""
	}
	call := calls[0]
	exprs := call.Args
	if f, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if id, ok := f.X.(*ast.Ident); !ok || s.isVariable(id.Name) || !s.isPackage(id.Name) {
			exprs = append([]ast.Expr{f.X}, exprs...)
		}
	}
	var list []string
	if isCallOf(call, op) && len(exprs) >= len(shapes) {
		for i, shape := range shapes {
			list = append(list, types.ExprString(exprs[i])+" is "+shape)
		}
	} else {
		for _, e := range exprs {
			if shape := s.shapeOf(e); shape != "" {
				list = append(list, types.ExprString(e)+" is "+shape)
			}
		}
	}
	return between(files, call.Pos(), call.End()), strings.Join(list, ", ")
}

// isCallOf reports whether a call is to the function or method of an operation, such as
// MatMul for matmul and MSELoss for mse_loss.
func isCallOf(call *ast.CallExpr, op string) bool {
	name := ""
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	return strings.EqualFold(name, strings.ReplaceAll(op, "_", ""))
}

// misfit reads the fields Op and Shapes of an error.
func misfit(value any) (op string, shapes []string) {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return "", nil
	}
	o, list := v.Elem().FieldByName("Op"), v.Elem().FieldByName("Shapes")
	if !o.IsValid() || !list.IsValid() {
		return "", nil
	}
	all, ok := list.Interface().([][]int)
	if o.Kind() != reflect.String || !ok {
		return "", nil
	}
	for _, shape := range all {
		shapes = append(shapes, text.Shape(shape))
	}
	return o.String(), shapes
}

// shapeOf returns the shape of a session variable, or "" if it has none.
func (s *Session) shapeOf(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok || !s.isVariable(id.Name) {
		return ""
	}
	v, ok := s.engine.Slot(s.env.cur[id.Name].slot)
	if !ok || isNil(v) || !v.CanInterface() {
		return ""
	}
	t, ok := v.Interface().(interface{ Shape() []int })
	if !ok {
		return ""
	}
	return text.Shape(t.Shape())
}

func (s *Session) isVariable(name string) bool {
	b := s.env.cur[name]
	return b != nil && b.kind == kindVar
}

func (s *Session) isPackage(name string) bool {
	return preloaded[name] != "" || s.env.imports[name] != ""
}
