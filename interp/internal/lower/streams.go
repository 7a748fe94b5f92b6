package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"
)

// streams turns os.Stdin, os.Stdout and os.Stderr into calls of support functions of the same names where an interface with methods is expected or a
// method is called. Unlike a file, their results know which cell uses them. A variable that may hold one of these files becomes a call of Stream there.
//
// So an interface with methods of streams may hold such a result. Where code looks at what it holds (an empty interface, an assertion of the type
// *os.File, a comparison) it gets the file itself.
func (u *Unit) streams() {
	s := streams{u, map[ast.Expr]types.Type{}, map[ast.Expr]types.Type{}}
	for _, d := range u.File.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if e := ast.Unparen(sel.X); u.stream(e) != "" {
					s.free[e] = u.typeOf(e)
				}
			}
			u.converted(n, s.convert)
			s.inspect(n)
			return true
		})
	}
	u.funcs(func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) { u.returned(t, body, s.convert) })
	if len(s.free)+len(s.bare) == 0 {
		return
	}
	u.each(func(c *astutil.Cursor) {
		e, ok := c.Node().(ast.Expr)
		if !ok {
			return
		}
		if t := s.bare[e]; t != nil {
			c.Replace(s.asserts(u.typed(Support("File", s.inAny(e)), anyType), t))
		} else if t := s.free[e]; t == nil {
			return
		} else if name := u.stream(e); name != "" {
			c.Replace(u.as(Support(name), e))
		} else {
			c.Replace(s.asserted(u.typed(Support("Stream", s.inAny(e)), anyType), t))
		}
		u.imports = true
	})
}

// streams are the expressions of a unit that may be standard streams, with the types that their replacements have.
type streams struct {
	*Unit
	free map[ast.Expr]types.Type // expressions that need not be files
	bare map[ast.Expr]types.Type // interfaces of which the file itself is wanted
}

// convert adds an expression that is converted to a type.
func (s streams) convert(t types.Type, e ast.Expr) {
	e = ast.Unparen(e)
	from := s.typeOf(e)
	switch {
	case t == nil || from == nil || !types.IsInterface(t):
	case !hasMethods(t):
		s.looksAt(e)
	case s.stream(e) != "" || isFile(from) && s.named(t):
		s.free[e] = t
	}
}

// looksAt adds an expression whose content code looks at, if it may be a stream in an interface with methods.
func (s streams) looksAt(e ast.Expr) {
	if e = ast.Unparen(e); holdsStreams(s.typeOf(e)) {
		s.bare[e] = anyType
	}
}

// key adds a key of a map, which is the file itself: another cell looks for it too.
func (s streams) key(m *types.Map, e ast.Expr) {
	e = ast.Unparen(e)
	delete(s.free, e)
	if from := s.typeOf(e); holdsStreams(from) && (!hasMethods(m.Key()) || s.named(m.Key())) {
		s.bare[e] = m.Key()
	}
}

// inspect adds the operands of assertions and comparisons.
func (s streams) inspect(n ast.Node) {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type == nil {
			return
		}
		if x, to := s.typeOf(n.X), s.typeOf(n.Type); isFile(to) {
			s.looksAt(n.X)
		} else if holdsStreams(to) && x != nil && types.IsInterface(x) && !hasMethods(x) {
			s.free[ast.Unparen(n.X)] = anyType
		}
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			if !s.Info.Types[n.X].IsNil() && !s.Info.Types[n.Y].IsNil() {
				s.looksAt(n.X)
				s.looksAt(n.Y)
			}
		}
	case *ast.IndexExpr:
		if m, ok := orInvalid(s.typeOf(n.X)).Underlying().(*types.Map); ok {
			s.key(m, n.Index)
		}
	case *ast.CompositeLit:
		if m, ok := orInvalid(s.typeOf(n)).Underlying().(*types.Map); ok {
			for _, e := range n.Elts {
				s.key(m, e.(*ast.KeyValueExpr).Key)
			}
		}
	case *ast.CallExpr:
		if b, ok := typeutil.Callee(s.Info, n).(*types.Builtin); ok && b.Name() == "delete" {
			if m, ok := orInvalid(s.typeOf(n.Args[0])).Underlying().(*types.Map); ok {
				s.key(m, n.Args[1])
			}
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			return
		}
		s.looksAt(n.Tag)
		for _, c := range n.Body.List {
			for _, e := range c.(*ast.CaseClause).List {
				s.looksAt(e)
			}
		}
	case *ast.TypeSwitchStmt:
		x := ast.Unparen(*switched(n))
		for _, c := range n.Body.List {
			if from := s.typeOf(x); slices.ContainsFunc(c.(*ast.CaseClause).List, func(e ast.Expr) bool { return isFile(s.typeOf(e)) }) && holdsStreams(from) && s.named(from) {
				s.bare[x] = from
			}
		}
	}
}

// asserted is x.(t) for a value of type any that implements t.
func (s streams) asserted(x ast.Expr, t types.Type) ast.Expr {
	if !hasMethods(t) {
		return x
	}
	return s.typed(&ast.TypeAssertExpr{X: x, Lparen: x.Pos(), Type: s.typed(s.typeExpr(x, t), t)}, t)
}

// asserts is asserted for a value that may be nil, and stays nil.
func (s streams) asserts(x ast.Expr, t types.Type) ast.Expr {
	if !hasMethods(t) {
		return x
	}
	result := types.NewVar(token.NoPos, s.Pkg, s.temp("file").Name, t)
	both := types.NewTuple(result, types.NewVar(token.NoPos, s.Pkg, "", types.Typ[types.Bool]))
	def, use := ident(result.Name()), ident(result.Name())
	s.Info.Defs[def], s.Info.Uses[use] = result, result
	assert := s.typed(&ast.TypeAssertExpr{X: x, Lparen: x.Pos(), Type: s.typed(s.typeExpr(x, t), t)}, both)
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: s.typed(s.typeExpr(x, t), t)}}}},
		Body: block(
			&ast.AssignStmt{Lhs: []ast.Expr{def, ident("_")}, Tok: token.DEFINE, Rhs: []ast.Expr{assert}},
			&ast.ReturnStmt{Results: []ast.Expr{s.typed(use, t)}},
		),
	}
	s.typed(lit, types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, s.Pkg, "", t)), false))
	return s.typed(call(lit), t)
}

// inAny converts an expression to type any.
func (s streams) inAny(e ast.Expr) ast.Expr {
	if t := s.typeOf(e); types.IsInterface(t) && !hasMethods(t) {
		return e
	}
	to := ident("any")
	s.Info.Uses[to], s.Info.Types[to] = anyName, anyExpr
	return s.typed(call(to, e), anyType)
}

// anyExpr is what the checker says of the type any.
var anyExpr, _ = types.Eval(token.NewFileSet(), nil, token.NoPos, "any")

// named reports whether code can write the name of an interface type.
func (s streams) named(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && (n.Obj().Exported() || n.Obj().Pkg() == s.Pkg) && n.TypeArgs().Len() == 0 && n.Obj().Parent() == n.Obj().Pkg().Scope()
}

// isFile reports whether t is *os.File.
func isFile(t types.Type) bool {
	p, ok := types.Unalias(orInvalid(t)).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "File" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "os"
}

// holdsStreams reports whether t is an interface whose methods are those of readers and writers.
func holdsStreams(t types.Type) bool {
	if t == nil || !types.IsInterface(t) || !hasMethods(t) {
		return false
	}
	for m := range t.Underlying().(*types.Interface).Methods() {
		switch m.Name() {
		case "Read", "Write", "Close", "Seek", "ReadAt", "WriteAt", "ReadFrom", "WriteTo", "WriteString", "Fd", "Name", "Stat", "Sync":
		default:
			return false
		}
	}
	return true
}

// stream returns the name of the standard stream that an expression denotes, or "".
func (u *Unit) stream(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	v, ok := u.Info.Uses[sel.Sel].(*types.Var)
	if !ok || v.Pkg() == nil || v.Pkg().Path() != "os" {
		return ""
	}
	switch v.Name() {
	case "Stdin", "Stdout", "Stderr":
		return v.Name()
	}
	return ""
}

// converted calls f for every expression that the node converts to a value of type t:
// arguments, elements of literals, assigned or sent values. The input of a command must
// be a file, for the child process that reads it.
func (u *Unit) converted(n ast.Node, f func(t types.Type, e ast.Expr)) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if tv := u.Info.Types[n.Fun]; tv.IsType() && len(n.Args) == 1 {
			f(tv.Type, n.Args[0])
			return
		}
		sig, ok := orInvalid(u.typeOf(n.Fun)).Underlying().(*types.Signature)
		if !ok || sig.Params().Len() == 0 || n.Ellipsis.IsValid() {
			return
		}
		for i, e := range n.Args {
			f(paramType(sig, i), e)
		}
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != len(n.Rhs) {
			return
		}
		for i, e := range n.Rhs {
			if sel, ok := n.Lhs[i].(*ast.SelectorExpr); ok && isCommandInput(u.Info.Uses[sel.Sel]) {
				continue
			}
			f(u.typeOf(n.Lhs[i]), e)
		}
	case *ast.ValueSpec:
		for _, e := range n.Values {
			if n.Type != nil {
				f(u.typeOf(n.Type), e)
			}
		}
	case *ast.SendStmt:
		f(u.channelOf(n.Chan).Elem(), n.Value)
	case *ast.CompositeLit:
		u.elements(n, f)
	}
}

func (u *Unit) elements(n *ast.CompositeLit, f func(t types.Type, e ast.Expr)) {
	lit := orInvalid(u.typeOf(n)).Underlying()
	if p, ok := lit.(*types.Pointer); ok { // a list of pointers to literals
		lit = p.Elem().Underlying()
	}
	for i, e := range n.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if keyed {
			e = kv.Value
		}
		switch t := lit.(type) {
		case *types.Struct:
			if i >= t.NumFields() {
				continue
			}
			field := t.Field(i)
			if keyed {
				field, _ = u.Info.Uses[kv.Key.(*ast.Ident)].(*types.Var)
			}
			if field != nil && !isCommandInput(field) {
				f(field.Type(), e)
			}
		case *types.Slice:
			f(t.Elem(), e)
		case *types.Array:
			f(t.Elem(), e)
		case *types.Map:
			f(t.Elem(), e)
		}
	}
}

// isCommandInput reports whether o is the field Stdin of exec.Cmd.
func isCommandInput(o types.Object) bool {
	v, ok := o.(*types.Var)
	return ok && v.IsField() && v.Name() == "Stdin" && v.Pkg() != nil && v.Pkg().Path() == "os/exec"
}

// returned calls f for every expression that a function returns.
func (u *Unit) returned(t *ast.FuncType, body *ast.BlockStmt, f func(t types.Type, e ast.Expr)) {
	var results []types.Type
	if t.Results == nil {
		return
	}
	for _, r := range t.Results.List {
		for range max(1, len(r.Names)) {
			results = append(results, u.typeOf(r.Type))
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			for i, e := range n.Results {
				if len(n.Results) == len(results) {
					f(results[i], e)
				}
			}
		}
		return true
	})
}
