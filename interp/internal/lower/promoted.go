package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// promotedFields writes out the embedded structs around promoted fields in composite literals, which
// Yaegi, like Go before 1.27, does not know.
//
//	Outer{n: 1, m: 2}    Outer{n: 1, Inner: Inner{m: 2}}
//
// If that would change the order in which values are computed, a function literal assigns them
// in the order in which they are written.
func (u *Unit) promotedFields() {
	whole := map[*ast.CompositeLit]*ast.UnaryExpr{} // the operator & around a literal
	u.eachOf(isA[*ast.CompositeLit], func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CompositeLit:
			if p, ok := c.Parent().(*ast.UnaryExpr); ok && p.Op == token.AND {
				whole[n] = p
				return
			}
			if e := u.promoted(n, nil); e != nil {
				c.Replace(e)
			}
		case *ast.UnaryExpr:
			if lit, ok := n.X.(*ast.CompositeLit); ok && whole[lit] == n {
				if e := u.promoted(lit, n); e != nil {
					c.Replace(e)
				}
			}
		}
	})
}

// promotedElement is an element of a literal and the fields that lead to its field.
type promotedElement struct {
	kv   *ast.KeyValueExpr
	path []*types.Var
}

// promoted rewrites a literal, or the address of one. It returns the expression that replaces
// it, or nil if the literal itself has changed or has no promoted fields.
func (u *Unit) promoted(n *ast.CompositeLit, address *ast.UnaryExpr) ast.Expr {
	t := u.typeOf(n)
	if t == nil {
		return nil
	}
	elided := false
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T left out
		t, elided = p.Elem(), true
	}
	if _, ok := t.Underlying().(*types.Struct); !ok {
		return nil
	}
	var list []promotedElement
	deep := false
	for _, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return nil
		}
		id, ok := kv.Key.(*ast.Ident)
		if !ok {
			return nil
		}
		v, ok := u.Info.Uses[id].(*types.Var)
		if !ok {
			return nil
		}
		path := fieldPath(t, v)
		if path == nil {
			return nil
		}
		deep = deep || len(path) > 1
		list = append(list, promotedElement{kv, path})
	}
	if !deep {
		return nil
	}
	var order []*ast.KeyValueExpr
	elts := u.nested(n.Pos(), list, 0, &order)
	same := true
	last := -1
	for _, kv := range order {
		i := slices.IndexFunc(list, func(e promotedElement) bool { return e.kv == kv })
		if u.fixed(kv.Value) {
			continue
		}
		same = same && i > last
		last = i
	}
	if same {
		n.Elts = elts
		return nil
	}
	return u.assignedFields(n, t, list, address != nil || elided)
}

// fixed reports whether an expression has the same value at any time.
func (u *Unit) fixed(e ast.Expr) bool {
	tv := u.Info.Types[e]
	_, lit := ast.Unparen(e).(*ast.FuncLit)
	return tv.Value != nil || tv.IsNil() || lit
}

// fieldPath returns the embedded fields of a struct that lead to a field, and the field.
func fieldPath(t types.Type, v *types.Var) (path []*types.Var) {
	o, index, _ := types.LookupFieldOrMethod(t, false, v.Pkg(), v.Name())
	if o == nil {
		return nil
	}
	for _, i := range index {
		f := t.Underlying().(*types.Struct).Field(i)
		path, t = append(path, f), f.Type()
	}
	return path
}

// nested returns the elements of a literal with those of embedded structs in literals of their
// own, and appends the elements to order as they are written there.
func (u *Unit) nested(pos token.Pos, list []promotedElement, depth int, order *[]*ast.KeyValueExpr) (elts []ast.Expr) {
	for len(list) > 0 {
		first := list[0]
		if len(first.path) == depth+1 {
			elts = append(elts, first.kv)
			*order = append(*order, first.kv)
			list = list[1:]
			continue
		}
		f := first.path[depth]
		var inside, rest []promotedElement
		for _, e := range list {
			if len(e.path) > depth+1 && e.path[depth] == f {
				inside = append(inside, e)
			} else {
				rest = append(rest, e)
			}
		}
		key := &ast.Ident{NamePos: first.kv.Pos(), Name: u.fieldName(f)}
		u.Info.Uses[key] = f
		lit := &ast.CompositeLit{
			Type: u.typeExpr(first.kv, f.Type()), Lbrace: first.kv.Pos(), Rbrace: first.kv.End(),
			Elts: u.nested(pos, inside, depth+1, order),
		}
		u.typed(lit.Type, f.Type())
		elts = append(elts, &ast.KeyValueExpr{Key: key, Colon: first.kv.Colon, Value: u.typed(lit, f.Type())})
		list = rest
	}
	return elts
}

// assignedFields returns a call of a literal that makes a struct of type t, or a pointer to one.
func (u *Unit) assignedFields(n *ast.CompositeLit, t types.Type, list []promotedElement, pointer bool) ast.Expr {
	v := u.temp("struct")
	result := t
	var x ast.Expr = u.typed(ident(v.Name), t)
	if pointer {
		result = types.NewPointer(t)
		x = u.typed(&ast.UnaryExpr{Op: token.AND, X: x}, result)
	}
	body := block(declare(v, u.typeExpr(n, t)))
	body.Lbrace, body.Rbrace = n.Pos(), n.End()
	for _, e := range list {
		if u.callsRecover(e.kv.Value) {
			u.unsupported(e.kv, "recover in a literal with promoted fields that are not next to each other: call it in a statement before")
		}
		var field ast.Expr = u.typed(ident(v.Name), t)
		for _, f := range e.path {
			field = u.typed(&ast.SelectorExpr{X: field, Sel: ident(u.fieldName(f))}, f.Type())
		}
		st := assign(field, e.kv.Value)
		st.TokPos = e.kv.Pos()
		body.List = append(body.List, st)
	}
	body.List = append(body.List, &ast.ReturnStmt{Results: []ast.Expr{x}})
	sig := types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, nil, "", result)), false)
	lit := &ast.FuncLit{Type: &ast.FuncType{
		Func: n.Pos(), Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(n, result)}}},
	}, Body: body}
	return u.typed(&ast.CallExpr{Fun: u.typed(lit, sig), Lparen: n.Pos(), Rparen: n.End()}, result)
}
