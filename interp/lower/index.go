package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// indexChecks tests an index before the statement that uses it, because Yaegi's own
// error names neither the index nor the length. It leaves out an index that a loop
// already bounds, and one whose test could differ from its use.
func (u *Unit) indexChecks() {
	u.funcs(func(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		(&checker{u: u}).list(&body.List)
	})
}

// checker walks the statements of one function.
type checker struct {
	u     *Unit
	bound []bound
	known map[string][]types.Object // tests made in the current list, with the objects that they read
}

// bound records that, inside a loop, index is valid for list. If list is nil, it records
// that index is not negative.
type bound struct{ index, list types.Object }

func (k *checker) list(list *[]ast.Stmt) {
	var out []ast.Stmt
	outer := k.known
	k.known = map[string][]types.Object{}
	for _, st := range *list {
		out = append(out, k.stmt(st)...)
		out = append(out, st)
		k.forget(st)
	}
	k.known = outer
	*list = out
}

// forget drops the tests whose outcome a statement may change, and all tests after a label,
// which a jump can reach.
func (k *checker) forget(st ast.Stmt) {
	if _, label := st.(*ast.LabeledStmt); label || k.u.callsBack(st) {
		clear(k.known)
	}
	maps.DeleteFunc(k.known, func(_ string, about []types.Object) bool {
		return slices.ContainsFunc(about, func(o types.Object) bool { return k.u.changed(o, st) })
	})
}

// plainVars returns the variables of a test; ok is false if the test depends on anything
// else.
func (u *Unit) plainVars(n ast.Node) (list []types.Object, ok bool) {
	ok = true
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Ident:
			if v, isVar := u.Info.Uses[x].(*types.Var); isVar {
				list = append(list, v)
			}
		case *ast.IndexExpr, *ast.SelectorExpr, *ast.StarExpr:
			ok = false
		}
		return ok
	})
	return list, ok
}

// stmt returns the tests that st needs before it, and processes nested statements.
func (k *checker) stmt(st ast.Stmt) []ast.Stmt {
	switch s := st.(type) {
	case *ast.LabeledStmt:
		switch s.Stmt.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.SelectStmt, *ast.TypeSwitchStmt, *ast.BlockStmt, *ast.IfStmt:
			return k.stmt(s.Stmt)
		}
	case *ast.BlockStmt:
		k.list(&s.List)
	case *ast.IfStmt:
		k.list(&s.Body.List)
		if s.Else != nil {
			k.stmt(s.Else)
		}
		if s.Init == nil {
			return k.tests(s.Cond)
		}
		return k.init(s.Init)
	case *ast.SwitchStmt:
		k.list(&s.Body.List)
		if s.Init == nil && s.Tag != nil {
			return k.tests(s.Tag)
		}
		return k.init(s.Init)
	case *ast.TypeSwitchStmt:
		k.list(&s.Body.List)
	case *ast.SelectStmt:
		k.list(&s.Body.List)
	case *ast.CaseClause:
		k.list(&s.Body)
	case *ast.CommClause:
		k.list(&s.Body)
	case *ast.ForStmt:
		n := len(k.bound)
		k.bound = append(k.bound, k.u.loopBounds(s)...)
		k.list(&s.Body.List)
		k.bound = k.bound[:n]
		return k.init(s.Init)
	case *ast.RangeStmt:
		n := len(k.bound)
		k.bound = append(k.bound, k.u.rangeBounds(s)...)
		k.list(&s.Body.List)
		k.bound = k.bound[:n]
		return k.tests(s.X)
	case *ast.AssignStmt:
		if len(s.Lhs) > 1 {
			return k.testsBeforeSeveral(s)
		}
		list := k.tests(append(append([]ast.Expr{}, s.Rhs...), s.Lhs...)...)
		if s.Tok == token.SHL_ASSIGN || s.Tok == token.SHR_ASSIGN {
			if t := k.shiftTest(s.TokPos, s.Rhs[0]); t != nil {
				list = append(list, t)
			}
		}
		return list
	case *ast.IncDecStmt:
		return k.tests(s.X)
	case *ast.ExprStmt:
		return k.tests(s.X)
	case *ast.ReturnStmt:
		return k.tests(s.Results...)
	case *ast.SendStmt:
		return k.tests(s.Chan, s.Value)
	case *ast.DeclStmt:
		if g, ok := s.Decl.(*ast.GenDecl); ok && g.Tok == token.VAR {
			var list []ast.Stmt
			for _, spec := range g.Specs {
				if len(list) == 0 { // the second may use a declaration of the first
					list = k.tests(spec.(*ast.ValueSpec).Values...)
				}
			}
			return list
		}
	}
	return nil
}

// testsBeforeSeveral returns the tests that an assignment to several places needs before the first of them is set. The index
// of a place is tested when its turn comes, unless an operand has the same.
func (k *checker) testsBeforeSeveral(s *ast.AssignStmt) []ast.Stmt {
	operands := slices.Clone(s.Rhs)
	var places []*ast.IndexExpr
	for _, e := range s.Lhs {
		if x, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
			operands, places = append(operands, x.X, x.Index), append(places, x)
		} else {
			operands = append(operands, e)
		}
	}
	list := k.tests(operands...)
	made := map[string]bool{}
	for _, st := range list {
		made[Print(st)] = true
	}
	for _, x := range places {
		if t := k.test(x); t != nil {
			_, known := k.known[Print(t)]
			k.u.inTurn[x] = !known && !made[Print(t)]
		}
	}
	return list
}

// init returns the tests that the first part of a statement needs before the statement.
func (k *checker) init(st ast.Stmt) []ast.Stmt {
	if _, ok := st.(*ast.AssignStmt); !ok {
		return nil
	}
	return k.stmt(st)
}

// tests returns the tests for the indexes and slices in expressions that are evaluated
// together.
func (k *checker) tests(list ...ast.Expr) []ast.Stmt {
	var found []ast.Expr
	for _, e := range list {
		if !k.find(e, &found) {
			return nil
		}
	}
	var out []ast.Stmt
	seen := map[string]bool{}
	for _, x := range found {
		var t *ast.IfStmt
		switch x := x.(type) {
		case *ast.IndexExpr:
			t = k.test(x)
		case *ast.SliceExpr:
			t = k.sliceTest(x)
		case *ast.BinaryExpr:
			t = k.shiftTest(x.OpPos, x.Y)
		}
		if t == nil {
			continue
		}
		k.u.safe[x] = true
		text := Print(t)
		if _, ok := k.known[text]; ok || seen[text] {
			continue
		}
		seen[text] = true
		if about, ok := k.u.plainVars(t.Cond); ok {
			k.known[text] = about
		}
		out = append(out, t)
	}
	return out
}

// find collects the indexes and slices that are always evaluated; it returns false if
// the evaluation of e may change them.
func (k *checker) find(e ast.Expr, found *[]ast.Expr) bool {
	still := true
	ast.Inspect(e, func(n ast.Node) bool {
		if x, ok := n.(ast.Expr); ok && k.u.Info.Types[x].Value != nil {
			return false
		}
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !k.u.harmless(x) {
				still = false
			}
		case *ast.UnaryExpr:
			still = still && x.Op != token.ARROW
		case *ast.BinaryExpr:
			switch x.Op {
			case token.LAND, token.LOR:
				still = still && k.find(x.X, found)
				return false
			case token.SHL, token.SHR:
				*found = append(*found, x)
			}
		case *ast.IndexExpr:
			still = still && k.find(x.X, found) && k.find(x.Index, found)
			*found = append(*found, x)
			return false
		case *ast.SliceExpr:
			for _, e := range []ast.Expr{x.X, x.Low, x.High, x.Max} {
				if e != nil {
					still = still && k.find(e, found)
				}
			}
			*found = append(*found, x)
			return false
		}
		return still
	})
	return still
}

// harmless reports whether a call cannot change variables: a call of a compiled
// function, a conversion, or a built-in function.
func (u *Unit) harmless(x *ast.CallExpr) bool {
	if u.Info.Types[x.Fun].IsType() {
		return true
	}
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.Ident:
		_, ok := u.Info.Uses[f].(*types.Builtin)
		return ok
	case *ast.SelectorExpr:
		if isSupport(f) {
			return true
		}
		fn, ok := u.Info.Uses[f.Sel].(*types.Func)
		if !ok || fn.Pkg() == u.Pkg {
			return false
		}
		recv := fn.Signature().Recv()
		return recv == nil || !types.IsInterface(recv.Type())
	}
	return false
}
