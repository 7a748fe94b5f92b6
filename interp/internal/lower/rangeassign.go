package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// rangeStrings turns loops over strings into three-clause loops.
func (u *Unit) rangeStrings() {
	u.each(func(c *astutil.Cursor) {
		r, ok := c.Node().(*ast.RangeStmt)
		if !ok {
			return
		}
		b, ok := orInvalid(u.typeOf(r.X)).Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsString == 0 {
			return
		}
		u.imports = true
		s, i, v, w := u.temp("s"), u.temp("i"), u.temp("r"), u.temp("w")
		head := []ast.Stmt{&ast.AssignStmt{
			Lhs: []ast.Expr{v, ident(w.Name)}, TokPos: r.For, Tok: token.ASSIGN,
			Rhs: []ast.Expr{Support("Rune", ident(s.Name), ident(i.Name))},
		}}
		head = append(head, receive(r, ident(i.Name), ident(v.Name))...)
		text := r.X
		if t := u.typeOf(r.X); t != types.Type(types.Typ[types.String]) || u.Info.Types[r.X].Value != nil {
			text = call(ident("string"), r.X)
		}
		r.Body.List = append(head, r.Body.List...)
		c.Replace(&ast.ForStmt{
			For: r.For,
			Init: &ast.AssignStmt{
				Lhs: []ast.Expr{s, i, ident(v.Name), w}, TokPos: r.For, Tok: token.DEFINE,
				Rhs: []ast.Expr{text, Int(0), call(ident("rune"), Int(0)), Int(0)},
			},
			Cond: &ast.BinaryExpr{X: ident(i.Name), Op: token.LSS, Y: call(ident("len"), ident(s.Name))},
			Post: &ast.AssignStmt{Lhs: []ast.Expr{ident(i.Name)}, Tok: token.ADD_ASSIGN, Rhs: []ast.Expr{ident(w.Name)}},
			Body: r.Body,
		})
	})
}

// receive assigns the values to the variables of a range loop.
func receive(r *ast.RangeStmt, values ...ast.Expr) []ast.Stmt {
	a := &ast.AssignStmt{TokPos: r.For, Tok: r.Tok}
	for i, e := range []ast.Expr{r.Key, r.Value} {
		if e != nil && !isBlank(e) {
			a.Lhs, a.Rhs = append(a.Lhs, e), append(a.Rhs, values[i])
		}
	}
	if len(a.Lhs) == 0 {
		return nil
	}
	return []ast.Stmt{a}
}

// rangeAssigns gives loops their own variables where they assign to existing ones: Yaegi changes those even if the loop
// has no iterations, and the values may have another type, such as one that a variable of an interface type keeps.
func (u *Unit) rangeAssigns() {
	u.each(func(c *astutil.Cursor) {
		if r, ok := c.Node().(*ast.RangeStmt); ok && r.Tok == token.ASSIGN {
			u.ownVars(r)
		}
	})
}

// ownVars gives a loop new variables, whose values its body assigns.
func (u *Unit) ownVars(r *ast.RangeStmt) {
	var values []ast.Expr
	own := []*ast.Ident{u.temp("k"), u.temp("v")}
	for i, t := range rangeTypes(orInvalid(u.typeOf(r.X))) {
		values = append(values, u.typed(ident(own[i].Name), t))
		u.typed(own[i], t)
	}
	r.Body.List = append(receive(r, values...), r.Body.List...)
	r.Tok = token.DEFINE
	if !isBlank(r.Key) {
		r.Key = own[0]
	}
	if r.Value != nil && !isBlank(r.Value) {
		r.Value = own[1]
	}
	if isBlank(r.Key) && (r.Value == nil || isBlank(r.Value)) {
		r.Key, r.Value, r.Tok = nil, nil, token.ILLEGAL
	}
}

// rangeTypes returns the types of the values that a loop over a value of type t has.
func rangeTypes(t types.Type) []types.Type {
	integer := types.Type(types.Typ[types.Int])
	switch c := types.Default(t).Underlying().(type) {
	case *types.Basic:
		if c.Info()&types.IsString != 0 {
			return []types.Type{integer, types.Universe.Lookup("rune").Type()}
		}
		return []types.Type{types.Default(t)}
	case *types.Chan:
		return []types.Type{c.Elem()}
	case *types.Map:
		return []types.Type{c.Key(), c.Elem()}
	case *types.Signature:
		var list []types.Type
		for v := range c.Params().At(0).Type().Underlying().(*types.Signature).Params().Variables() {
			list = append(list, v.Type())
		}
		return list
	case *types.Pointer:
		return rangeTypes(c.Elem())
	case interface{ Elem() types.Type }: // an array or a slice
		return []types.Type{integer, c.Elem()}
	}
	return nil
}

// rangeValues gives loops over lists and maps of channels an index or a key only: Yaegi takes a
// loop whose value variable is a channel for a loop over that channel.
//
//	for i, c := range x {}    o := x; for i := range o { c := o[i] }
//	for k, c := range m {}    o := m; for k := range o { c, ok := o[k]; if !ok { continue } }
func (u *Unit) rangeValues() {
	u.eachOf(isA[*ast.RangeStmt], func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.LabeledStmt:
			u.relabel(c, n)
		case *ast.RangeStmt:
			if n.Value != nil && !isBlank(n.Value) && channelElements(orInvalid(u.typeOf(n.X))) {
				c.Replace(u.rangeValue(n))
			}
		}
	})
}

// channelElements reports whether t is a list or map of channels.
func channelElements(t types.Type) bool {
	t = t.Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	if _, ok := t.(*types.Chan); ok {
		return false
	}
	list, ok := t.(interface{ Elem() types.Type })
	if ok {
		_, ok = list.Elem().Underlying().(*types.Chan)
	}
	return ok
}

// rangeValue returns the loop that replaces one with a value variable.
func (u *Unit) rangeValue(r *ast.RangeStmt) ast.Stmt {
	t := orInvalid(u.typeOf(r.X))
	before := u.keep(&r.X)
	if r.Key == nil || isBlank(r.Key) {
		r.Key = u.temp("k")
	}
	take := &ast.AssignStmt{
		Lhs: []ast.Expr{r.Value}, TokPos: r.For, Tok: token.DEFINE,
		Rhs: []ast.Expr{&ast.IndexExpr{X: ident(r.X.(*ast.Ident).Name), Index: ident(r.Key.(*ast.Ident).Name)}},
	}
	start := []ast.Stmt{take}
	if _, ok := t.Underlying().(*types.Map); ok { // the body may delete entries
		found := u.temp("ok")
		take.Lhs = append(take.Lhs, found)
		start = append(start, &ast.IfStmt{
			Cond: &ast.UnaryExpr{Op: token.NOT, X: ident(found.Name)},
			Body: block(&ast.BranchStmt{Tok: token.CONTINUE}),
		})
	}
	r.Value = nil
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if a, ok := t.Underlying().(*types.Array); ok {
		r.X = u.typed(Int(a.Len()), types.Typ[types.Int])
	}
	r.Body.List = append(start, r.Body.List...)
	return u.after(r, before)
}
