package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// dynamic writes out the conversions that Go makes implicitly when a value goes into or
// comes out of an interface, and in calls of methods.
func (u *Unit) dynamic(d ast.Node) ast.Node {
	var results []*ast.FieldList // results of the enclosing functions
	return astutil.Apply(d, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncDecl:
			results = append(results, n.Type.Results)
		case *ast.FuncLit:
			results = append(results, n.Type.Results)
		}
		return true
	}, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			results = results[:len(results)-1]
		case *ast.ReturnStmt:
			to := u.fieldTypes(results[len(results)-1])
			for i, e := range n.Results {
				switch {
				case len(to) != len(n.Results):
				case types.IsInterface(orInvalid(to[i])) && isCondition(e): // Yaegi computes conditions in place
					n.Results[i] = u.as(Support("Any", e), e)
				case u.Info.Types[e].IsNil() && u.compiledFunc(to[i]): // Yaegi gives nil no type there
					n.Results[i] = u.zero(e, to[i])
				}
			}
			u.convertAll(n.Results, to)
		case *ast.AssignStmt:
			if _, comm := c.Parent().(*ast.CommClause); !comm && (n.Tok == token.ASSIGN || n.Tok == token.DEFINE) {
				u.convertAll(n.Rhs, u.typesOf(n.Lhs))
			}
			for _, e := range n.Lhs {
				u.storedKey(e)
			}
		case *ast.IncDecStmt:
			u.storedKey(n.X)
		case *ast.ValueSpec:
			if len(n.Values) > 0 && n.Type != nil {
				var to []types.Type
				for range n.Names {
					to = append(to, u.typeOf(n.Type))
				}
				u.convertAll(n.Values, to)
			}
		case *ast.SendStmt:
			if ch, ok := orInvalid(u.typeOf(n.Chan)).Underlying().(*types.Chan); ok {
				n.Value = u.convert(n.Value, ch.Elem())
			}
		case *ast.IndexExpr:
			if p, ok := orInvalid(u.typeOf(n.X)).Underlying().(*types.Pointer); ok && u.ownNamed(p.Elem()) {
				u.throughPointer(n)
			}
			if m, ok := orInvalid(u.typeOf(n.X)).Underlying().(*types.Map); ok {
				n.Index = u.key(n.Index, m.Key())
			}
		case *ast.UnaryExpr: // &p[i], where p is a pointer to an array
			if x, ok := ast.Unparen(n.X).(*ast.IndexExpr); ok && n.Op == token.AND {
				u.throughPointer(x)
			}
		case *ast.CompositeLit:
			u.convertElements(n)
		case *ast.BinaryExpr:
			if e := u.comparison(n); e != nil {
				c.Replace(e)
			}
		case *ast.TypeAssertExpr:
			if n.Type != nil {
				c.Replace(u.assertion(n))
			}
		case *ast.SelectorExpr:
			x, ok := c.Parent().(*ast.CallExpr)
			if e := u.selector(n, ok && x.Fun == n); e != ast.Expr(n) {
				c.Replace(e)
			}
		case *ast.CallExpr:
			u.lendsResult(n)
			if e := u.callOf(n); e != ast.Expr(n) {
				c.Replace(e)
			}
		case *ast.SwitchStmt:
			if st := u.interfaceSwitch(n); st != ast.Stmt(n) {
				c.Replace(st)
			}
		case *ast.TypeSwitchStmt:
			c.Replace(u.typeSwitch(n))
		case *ast.LabeledStmt:
			u.relabel(c, n)
		}
		return true
	})
}

// key converts a key to the type of the keys of a map. Yaegi gives nil none.
func (u *Unit) key(e ast.Expr, t types.Type) ast.Expr {
	if u.Info.Types[e].IsNil() && !types.IsInterface(t) {
		return u.typed(call(&ast.ParenExpr{X: u.typeExpr(e, t)}, e), t)
	}
	return u.convert(e, t)
}

// storedKey tests the key of a map entry to which a statement assigns: the back end reads the entry first, which in
// an empty map is another error.
func (u *Unit) storedKey(e ast.Expr) {
	x, ok := ast.Unparen(e).(*ast.IndexExpr)
	if !ok {
		return
	}
	m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map)
	switch {
	case !ok || u.Info.Types[x.Index].Value != nil || u.Info.Types[x.Index].IsNil() || u.compiledIface(m.Key()):
	case types.IsInterface(m.Key()):
		x.Index = u.typed(calledFrom(x.Lbrack, Support("Key", x.Index)), m.Key())
	case holdsInterface(m.Key()):
		k := u.typed(ident("k__"), m.Key())
		lit := &ast.FuncLit{
			Type: &ast.FuncType{
				Func:    x.Lbrack,
				Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("k__")}, Type: u.typeExpr(x, m.Key())}}},
				Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(x, m.Key())}}},
			},
			Body: block(expr(calledFrom(x.Lbrack, Support("Key", k))), &ast.ReturnStmt{Results: []ast.Expr{k}}),
		}
		x.Index = u.typed(calledFrom(x.Lbrack, call(lit, x.Index)), m.Key())
	}
}

// holdsInterface reports whether an array or struct holds an interface, whose content may have no hash.
func holdsInterface(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Interface:
		return true
	case *types.Array:
		return holdsInterface(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsInterface(f.Type()) {
				return true
			}
		}
	}
	return false
}

// throughPointer writes p[i] as (*p)[i] if p is a pointer to an array.
func (u *Unit) throughPointer(x *ast.IndexExpr) {
	if p, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Pointer); ok {
		x.X = u.typed(&ast.ParenExpr{X: u.typed(&ast.StarExpr{Star: x.X.Pos(), X: x.X}, p.Elem())}, p.Elem())
	}
}

// isCondition reports whether an expression is a comparison or a logical operation.
func isCondition(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		switch x.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
			return true
		}
	case *ast.UnaryExpr:
		return x.Op == token.NOT
	}
	return false
}

func (u *Unit) typesOf(list []ast.Expr) []types.Type {
	var all []types.Type
	for _, e := range list {
		if isBlank(e) {
			all = append(all, nil)
		} else {
			all = append(all, u.typeOf(e))
		}
	}
	return all
}

func (u *Unit) fieldTypes(l *ast.FieldList) []types.Type {
	var all []types.Type
	if l != nil {
		for _, f := range l.List {
			for range max(1, len(f.Names)) {
				all = append(all, u.typeOf(f.Type))
			}
		}
	}
	return all
}

// convertAll converts expressions that are assigned to places of those types. The
// results of one call are converted by a function around it.
func (u *Unit) convertAll(list []ast.Expr, to []types.Type) {
	if len(list) == len(to) {
		for i, e := range list {
			list[i] = u.convert(e, to[i])
		}
		return
	}
	if len(list) == 1 {
		list[0] = u.convertResults(list[0], to)
	}
}

func (u *Unit) convertResults(e ast.Expr, to []types.Type) ast.Expr {
	from, ok := u.typeOf(e).(*types.Tuple)
	if !ok || from.Len() != len(to) {
		return e
	}
	needed := false
	for i := range from.Len() {
		needed = needed || u.conversion(from.At(i).Type(), to[i]) != same
	}
	if !needed {
		return e
	}
	all := &ast.AssignStmt{TokPos: e.Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{e}}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: e.Pos(), Params: &ast.FieldList{}}}
	ret := &ast.ReturnStmt{}
	var vars []*types.Var
	for i := range from.Len() {
		t := from.At(i).Type()
		id := u.temp("v")
		all.Lhs = append(all.Lhs, id)
		if to[i] == nil {
			to[i] = t
		}
		ret.Results = append(ret.Results, u.convert(u.typed(ident(id.Name), t), to[i]))
		lit.Type.Results = addField(lit.Type.Results, &ast.Field{Type: u.typeExpr(e, to[i])})
		vars = append(vars, types.NewParam(token.NoPos, nil, "", to[i]))
	}
	lit.Body = block(all, ret)
	return u.typed(call(lit), types.NewTuple(vars...))
}

// conversion is the way in which a value of one type becomes a value of another type that
// it is assignable to.
type conversion int

const (
	same     conversion = iota // no conversion, or one that the back end does
	boxing                     // into a box
	opening                    // out of a compiled interface
	wrapping                   // into a wrapper for a compiled interface
	retyping                   // between structs that differ in their tags
)

func (u *Unit) conversion(from, to types.Type) conversion {
	if from == nil || to == nil || types.Identical(from, to) {
		return same
	}
	if b, ok := from.(*types.Basic); ok && b.Kind() == types.UntypedNil {
		return same
	}
	if !types.IsInterface(to) {
		_, a := from.Underlying().(*types.Struct)
		_, b := to.Underlying().(*types.Struct)
		if a && b {
			return retyping
		}
		return same
	}
	compiled := u.compiledIface(to)
	switch {
	case types.IsInterface(from):
		switch {
		case u.compiledIface(from) && !compiled:
			return opening
		case !u.compiledIface(from) && compiled:
			return wrapping
		}
	case compiled && u.interpreted(from, to):
		return wrapping
	case !compiled && u.boxed(from):
		return boxing
	}
	return same
}

// interpreted reports whether a type that is not an interface implements a method that an
// interface requires in code of the session.
func (u *Unit) interpreted(t, iface types.Type) bool {
	for m := range iface.Underlying().(*types.Interface).Methods() {
		o, index, _ := types.LookupFieldOrMethod(t, true, m.Pkg(), m.Name())
		if len(index) > 1 || o == nil || o.Pkg() == u.Pkg {
			return true
		}
	}
	return false
}

// convert converts e to type to, as an assignment does.
func (u *Unit) convert(e ast.Expr, to types.Type) ast.Expr {
	from := u.typeOf(e)
	if b, ok := from.(*types.Basic); ok && b.Info()&types.IsUntyped != 0 && !u.Info.Types[e].IsNil() {
		from = types.Default(from)
	}
	switch u.conversion(from, to) {
	case same:
		if u.isInterface(to) && u.isDeclared(e) { // Yaegi would use its own tree as the value
			return u.typed(Support("Any", e), to)
		}
		if u.Info.Types[e].IsNil() && u.compiledIface(to) && hidesMethods(to) { // Yaegi has no wrapper for such interfaces, whose nil it would make
			return u.zero(e, to)
		}
	case boxing:
		return u.typed(u.box(e, from), to)
	case opening:
		return u.typed(Support("Unwrap", e), to)
	case wrapping:
		if !types.IsInterface(from) && u.boxed(from) {
			e = u.box(e, from)
		}
		return u.typed(Support(u.compiled(e, to).To, e), to)
	case retyping:
		return u.typed(call(u.typeExpr(e, to), e), to)
	}
	return e
}

// zero returns the zero value of a type, in the place of e.
func (u *Unit) zero(e ast.Expr, t types.Type) ast.Expr {
	return u.typed(&ast.StarExpr{Star: e.Pos(), X: u.typed(call(ident("new"), u.typeExpr(e, t)), types.NewPointer(t))}, t)
}

// compiledFunc reports whether t is a func type with a name that compiled code declares and the back end knows.
func (u *Unit) compiledFunc(t types.Type) bool {
	n, ok := types.Unalias(orInvalid(t)).(*types.Named)
	if !ok || u.ours(n.Obj()) || u.nameless(n) {
		return false
	}
	_, ok = n.Underlying().(*types.Signature)
	return ok
}

// hidesMethods reports whether an interface has methods that are not exported.
func hidesMethods(t types.Type) bool {
	for m := range t.Underlying().(*types.Interface).Methods() {
		if !m.Exported() {
			return true
		}
	}
	return false
}

// box puts a value of type t into its box.
func (u *Unit) box(e ast.Expr, t types.Type) ast.Expr {
	u.describe(t)
	x := Support("Box", e, text(u.id(t)))
	x.Lparen, x.Rparen = e.Pos(), e.End()
	return u.typed(x, anyType)
}

// compiled returns the support functions for an interface of a compiled package.
func (u *Unit) compiled(at ast.Node, t types.Type) Iface {
	o := types.Unalias(t).(*types.Named).Obj()
	path := ""
	if o.Pkg() != nil {
		path = o.Pkg().Path()
	}
	f, ok := u.Iface(path, o.Name())
	if !ok {
		u.unsupported(at, "interface %s", t)
	}
	return f
}

// convertElements converts the elements of a composite literal.
func (u *Unit) convertElements(n *ast.CompositeLit) {
	t := orInvalid(u.typeOf(n)).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	keys := map[string]bool{}
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		var to types.Type
		switch t := t.(type) {
		case *types.Struct:
			if !keyed {
				to = t.Field(i).Type()
			} else if f, ok := u.Info.Uses[kv.Key.(*ast.Ident)].(*types.Var); ok {
				to = f.Type()
			}
		case *types.Map:
			kv.Key = u.convert(kv.Key, t.Key())
			if tv := u.Info.Types[kv.Key]; tv.Value != nil && types.IsInterface(t.Key()) { // in generic functions a constant may come twice
				k := Print(kv.Key)
				if keys[k] {
					kv.Key = u.typed(Support("Any", kv.Key), tv.Type)
				}
				keys[k] = true
			}
			to = t.Elem()
		case interface{ Elem() types.Type }:
			to = t.Elem()
		}
		if keyed {
			kv.Value = u.convert(kv.Value, to)
		} else {
			n.Elts[i] = u.convert(e, to)
			if st, ok := t.(*types.Struct); ok && st.Field(i).Name() == "_" {
				n.Elts[i] = u.zeroAfter(n.Elts[i], to)
			}
		}
	}
}

// zeroAfter evaluates e and returns the zero value of type t: a blank field keeps no value.
func (u *Unit) zeroAfter(e ast.Expr, t types.Type) ast.Expr {
	zero := u.temp("zero")
	lit := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    e.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("_")}, Type: u.typeExpr(e, t)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(e, t)}}},
		},
		Body: block(declare(zero, u.typeExpr(e, t)), &ast.ReturnStmt{Results: []ast.Expr{u.typed(ident(zero.Name), t)}}),
	}
	return u.typed(call(lit, e), t)
}
