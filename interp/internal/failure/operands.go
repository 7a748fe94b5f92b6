package failure

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/syntax"
)

// operands returns a note with the shapes of operands of the call at a mark, if the panic's
// value names an operation and mismatched shapes, as tensor.Error does. If the call is the
// operation itself, these are its operands; if the operation runs inside the call, for
// example in a layer, they are the operands that are variables. In a statement with several
// calls, operands chooses the only call of the operation and returns its place.
func (d Describer) operands(value any, m places.Place) (at syntax.Span, note string) {
	op, shapes := misfit(value)
	if op == "" {
		return at, ""
	}
	calls, files := d.calls(m, op)
	if len(calls) != 1 {
		return at, ""
	}
	call := calls[0]
	exprs := call.Args
	if f, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if id, ok := f.X.(*ast.Ident); !ok || d.isVariable(id.Name) || !d.isPackage(id.Name) {
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
			if shape := d.shapeOf(e); shape != "" {
				list = append(list, types.ExprString(e)+" is "+shape)
			}
		}
	}
	return syntax.Between(files, call.Pos(), call.End()), strings.Join(list, ", ")
}

// calls returns the call at a mark, or those calls in a marked statement that are to a function or method
// of the given name.
func (d Describer) calls(m places.Place, name string) (calls []*ast.CallExpr, files *token.FileSet) {
	cell, line, col := m.Where()
	d.Places.Inspect(cell, line, func(fset *token.FileSet, n ast.Node) bool {
		files = fset
		pos := syntax.Operator(n)
		if m.Whole {
			pos, _ = syntax.Head(n)
		}
		if p := fset.Position(pos); p.Line != line || p.Column != col {
			return true
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && (!m.Whole || isCallOf(call, name)) {
				calls = append(calls, call)
			}
			return m.Whole
		})
		return false
	})
	return calls, files
}

// outermost returns the place of the call in a marked statement that led to a panic: the only one whose
// name is that of the outermost of the compiled functions that the panic left.
func (d Describer) outermost(m places.Place, inside []string) (at syntax.Span) {
	if !m.Whole || len(inside) == 0 {
		return at
	}
	name := strings.ReplaceAll(inside[len(inside)-1], "[...]", "") // type arguments, of a method and of its receiver
	calls, files := d.calls(m, name[strings.LastIndexByte(name, '.')+1:])
	if len(calls) != 1 {
		return at
	}
	return syntax.Between(files, calls[0].Pos(), calls[0].End())
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
func (d Describer) shapeOf(e ast.Expr) string {
	id, ok := e.(*ast.Ident)
	if !ok || !d.isVariable(id.Name) {
		return ""
	}
	v, ok := d.Engine.Slot(d.Env.Named(id.Name).Slot)
	if !ok || peek.IsNil(v) || !v.CanInterface() {
		return ""
	}
	t, ok := v.Interface().(interface{ Shape() []int })
	if !ok {
		return ""
	}
	return text.Shape(t.Shape())
}

func (d Describer) isVariable(name string) bool {
	b := d.Env.Named(name)
	return b != nil && b.Kind == front.KindVar
}

func (d Describer) isPackage(name string) bool {
	return exports.Preloaded[name] != "" || d.Env.Imports[name] != ""
}
