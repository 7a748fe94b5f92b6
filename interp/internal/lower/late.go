package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// lateReads keeps the results of calls where an operand computes with a variable that a later call of the statement may change, or
// where it may panic before a later operation that prints or panics. The language leaves open which comes first. The Go compiler makes
// all calls of a statement before it computes with variables (cmd/compile/internal/walk/order.go); Yaegi computes an operand where it stands.
func (u *Unit) lateReads() {
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil || u.Generated[fd] {
			continue
		}
		r := lateReader{u, fd, u.changedElsewhere(fd)}
		astutil.Apply(fd, nil, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.BinaryExpr:
				if isLogical(n) {
					r.logical(&n.X)
					r.logical(&n.Y)
				}
			case ast.Stmt:
				if loop, ok := n.(*ast.ForStmt); ok {
					r.loop(loop)
				} else if c.Index() >= 0 || c.Name() == "Else" {
					r.statement(c, n)
				}
			}
			return true
		})
	}
}

// statement puts the calls of a statement before it, with what is to come before them.
func (r lateReader) statement(c *astutil.Cursor, s ast.Stmt) {
	init := initOf(s)
	if e := r.u.unnoticed(s); e != nil && c.Index() >= 0 {
		c.InsertBefore(r.u.keep(e))
	}
	var before []ast.Stmt
	if init != nil && *init != nil {
		before = r.calls(r.u.operandsOf(*init))
	}
	early := len(before)
	calls := r.calls(r.u.operandsOf(s))
	switch {
	case early == 0 && len(calls) == 0:
	case init == nil:
		for _, st := range calls {
			c.InsertBefore(st)
		}
	default:
		if *init != nil {
			before = append(before, *init)
			*init = nil
		}
		c.Replace(block(append(append(before, calls...), s)...))
	}
}

// loop puts the calls of a loop's condition into the body.
func (r lateReader) loop(s *ast.ForStmt) {
	calls := r.calls(r.u.operandsOf(s))
	if len(calls) == 0 {
		return
	}
	not := r.u.typed(&ast.UnaryExpr{OpPos: s.Cond.Pos(), Op: token.NOT, X: &ast.ParenExpr{X: s.Cond}}, types.Typ[types.Bool])
	leave := &ast.IfStmt{If: s.Cond.Pos(), Cond: not, Body: block(&ast.BranchStmt{Tok: token.BREAK})}
	s.Cond, s.Body.List = nil, append(append(calls, leave), s.Body.List...)
}

// logical puts the calls of an operand of && or || before it, in a function literal: the operand may not be evaluated. Those of an operand that is
// && or || itself have been put before its own operands.
func (r lateReader) logical(e *ast.Expr) {
	old := *e
	if isLogical(ast.Unparen(old)) {
		return
	}
	calls := r.calls(nil, []*ast.Expr{e})
	if len(calls) == 0 {
		return
	}
	t := types.Default(r.u.typeOf(old))
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: old.Pos(), Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: r.u.typeExpr(old, t)}}}}}
	lit.Body = block(append(calls, &ast.ReturnStmt{Return: old.Pos(), Results: []ast.Expr{*e}})...)
	r.u.typed(lit, types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, r.u.Pkg, "", t)), false))
	*e = r.u.typed(calledFrom(old.Pos(), call(lit)), t)
}

// calls keeps the calls of operands, if some of them are late, and values that are, and returns the statements that compute them.
func (r lateReader) calls(places, values []*ast.Expr) (before []ast.Stmt) {
	operands := slices.Concat(places, values)
	if r.late(operands) {
		for _, e := range operands {
			before = append(before, r.u.keepCalls(e)...)
		}
	}
	return append(before, r.u.keepFollowed(values)...)
}

// operandsOf returns the operands of a statement, in the order of their evaluation: what stays in the statement, apart from calls in it, and
// values, which can be computed before it. The call of the statement itself is none of them.
func (u *Unit) operandsOf(s ast.Stmt) (places, values []*ast.Expr) {
	list := &values
	add := func(operands []ast.Expr) {
		for i := range operands {
			if !isTupleType(u.typeOf(operands[i])) {
				*list = append(*list, &operands[i])
			}
		}
	}
	called := func(x *ast.CallExpr) {
		if u.fails(x.Fun) { // before the arguments
			list = &places
		}
		switch f := ast.Unparen(x.Fun).(type) {
		case *ast.SelectorExpr:
			if u.Info.Selections[f] != nil && isA[*ast.CallExpr](ast.Unparen(f.X)) {
				*list = append(*list, &f.X)
			}
		case *ast.CallExpr:
			*list = append(*list, &x.Fun)
		}
		add(x.Args)
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		if x, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			called(x)
		}
	case *ast.DeferStmt:
		called(s.Call)
	case *ast.GoStmt:
		called(s.Call)
	case *ast.SendStmt:
		values = append(values, &s.Chan, &s.Value)
	case *ast.AssignStmt:
		if s.Tok != token.DEFINE {
			list = &places
			add(s.Lhs)
			if len(s.Lhs) == 1 && !u.isEntry(s.Lhs[0]) {
				values = computed(&s.Lhs[0])
			}
			if s.Tok == token.ASSIGN || u.isEntry(s.Lhs[0]) || !slices.ContainsFunc(s.Lhs, u.fails) {
				list = &values
			}
		}
		if x, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr); ok && len(s.Rhs) == 1 && !u.pure(x) && (s.Tok == token.ASSIGN || s.Tok == token.DEFINE) {
			called(x)
		} else {
			add(s.Rhs)
		}
	case *ast.ReturnStmt:
		if len(s.Results) != 1 {
			add(s.Results)
		} else if x, ok := ast.Unparen(s.Results[0]).(*ast.CallExpr); ok && !u.pure(x) {
			called(x)
		} else {
			add(s.Results)
		}
	case *ast.RangeStmt:
		values = append(values, &s.X)
	case *ast.IfStmt:
		values = append(values, &s.Cond)
	case *ast.ForStmt:
		if s.Cond != nil {
			values = append(values, &s.Cond)
		}
	case *ast.SwitchStmt:
		if s.Tag != nil {
			values = append(values, &s.Tag)
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR && len(d.Specs) == 1 {
			add(d.Specs[0].(*ast.ValueSpec).Values)
		}
	}
	return places, values
}

// initOf returns the place of the init statement of an if or switch statement, or nil.
func initOf(s ast.Stmt) *ast.Stmt {
	switch s := s.(type) {
	case *ast.IfStmt:
		return &s.Init
	case *ast.SwitchStmt:
		return &s.Init
	}
	return nil
}

// changedElsewhere returns the local variables of a function that a call may change: those that function literals share, and those
// whose address is taken.
func (u *Unit) changedElsewhere(fd *ast.FuncDecl) map[types.Object]bool {
	vars := map[types.Object]bool{}
	base := func(e ast.Expr) {
		for {
			switch x := ast.Unparen(e).(type) {
			case *ast.SelectorExpr:
				e = x.X
				continue
			case *ast.IndexExpr:
				e = x.X
				continue
			case *ast.Ident:
				vars[u.Info.Uses[x]] = true
			}
			return
		}
	}
	var literals []*ast.FuncLit
	astutil.Apply(fd, func(c *astutil.Cursor) bool {
		switch x := c.Node().(type) {
		case *ast.FuncLit:
			literals = append(literals, x)
		case *ast.Ident:
			if o := u.Info.Uses[x]; o != nil && len(literals) > 0 {
				if at := literals[len(literals)-1]; o.Pos() < at.Pos() || o.Pos() >= at.End() {
					vars[o] = true
				}
			}
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				base(x.X)
			}
		case *ast.SelectorExpr:
			if s := u.Info.Selections[x]; s != nil && s.Kind() == types.MethodVal && !isPointer(orInvalid(u.typeOf(x.X))) {
				base(x.X)
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		if isA[*ast.FuncLit](c.Node()) {
			literals = literals[:len(literals)-1]
		}
		return true
	})
	return vars
}

// lateReader finds operands that are computed too early.
type lateReader struct {
	u    *Unit
	fd   *ast.FuncDecl
	vars map[types.Object]bool // those of the function that a call may change
}

// late reports whether an operation in an operand comes too late: a call that may change a variable that an operand before it, or the
// same, has computed with, or anything that shows after what may have panicked.
func (r lateReader) late(operands []*ast.Expr) bool {
	early := func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		lit, isLit := n.(*ast.CompositeLit)
		return ok && r.u.early(e) || isLit && r.u.keyedLate(lit)
	}
	if !slices.ContainsFunc(operands, func(e *ast.Expr) bool { return r.u.holds(*e, early) }) {
		return false
	}
	var s lateState
	for _, e := range operands {
		r.visit(*e, &s)
	}
	return s.found
}

// local reports whether a variable belongs to the function alone. The outermost variables in the statements of a cell are those of the session.
func (r lateReader) local(v *types.Var) bool {
	if r.fd != r.u.Outer {
		return v.Pos() >= r.fd.Pos() && v.Pos() < r.fd.End()
	}
	depth := 0
	for s := v.Parent(); s != nil && s != v.Pkg().Scope(); s = s.Parent() {
		depth++
	}
	return depth > 2 // the scopes of the file and of the function
}

// lateState is what the operands so far have done.
type lateState struct {
	reads    bool // a variable is read
	computes bool // and an operator has computed with it
	fails    bool // an operator may have panicked
	found    bool // and a call has followed
}

func (r lateReader) visit(e ast.Node, s *lateState) {
	u := r.u
	inner := func(list ...ast.Node) {
		outer := s.reads
		s.reads = false
		for _, n := range list {
			if n != nil {
				r.visit(n, s)
			}
		}
		s.computes = s.computes || s.reads
		s.reads = outer // what has computed needs no other reader
	}
	used := func(list ...ast.Expr) { // at once
		before := *s
		for _, n := range list {
			if n != nil {
				r.visit(n, s)
			}
		}
		s.reads, s.computes, s.fails = before.reads, before.computes, before.fails
	}
	switch x := e.(type) {
	case *ast.ParenExpr:
		r.visit(x.X, s)
	case *ast.Ident:
		v, ok := u.Info.Uses[x].(*types.Var)
		s.reads = s.reads || ok && (r.vars[v] || !r.local(v))
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			used(x.X, x.Y)
		} else {
			inner(x.X, x.Y)
			fails := func(token.Pos) { s.fails = true }
			switch x.Op {
			case token.QUO, token.REM:
				u.division(x.X, x.Y, x.OpPos, fails)
			case token.SHL, token.SHR:
				u.shift(x, x.Y, x.OpPos, fails)
			}
		}
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND:
			if lit, ok := ast.Unparen(x.X).(*ast.CompositeLit); ok {
				r.visit(lit, s)
			}
		case token.ARROW:
			used(x.X)
			s.found = s.found || s.computes || s.fails
		default:
			inner(x.X)
		}
	case *ast.StarExpr:
		r.visit(x.X, s)
		s.reads, s.computes, s.fails = true, true, true
	case *ast.SelectorExpr:
		if sel := u.Info.Selections[x]; sel != nil {
			r.visit(x.X, s)
			if sel.Kind() == types.FieldVal && (sel.Indirect() || s.reads) {
				s.reads, s.computes = true, true
			}
		} else {
			r.visit(x.Sel, s)
		}
	case *ast.IndexExpr:
		if u.Info.Types[x.Index].IsType() {
			return
		}
		r.visit(x.X, s)
		r.visit(x.Index, s)
		s.reads, s.computes = true, true
		s.fails = s.fails || !u.isMap(x.X) && !u.inBounds(x, nil)
	case *ast.CallExpr:
		if u.Info.Types[x.Fun].IsType() {
			inner(x.Args[0])
			return
		}
		used(append([]ast.Expr{x.Fun}, x.Args...)...)
		s.found = s.found || s.computes && !u.harmless(x) || s.fails && u.shows(x)
	case *ast.CompositeLit:
		s.found = s.found || u.keyedLate(x)
		if u.isMap(x) { // each entry is set before what follows
			for _, e := range x.Elts {
				if kv := e.(*ast.KeyValueExpr); lateKeys(u.typeOf(x)) {
					used(kv.Key, kv.Value)
				} else {
					used(kv.Key)
					used(kv.Value)
				}
			}
			return
		}
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok { // whose key is a field, or constant
				e = kv.Value
			}
			r.visit(e, s)
		}
	case *ast.TypeAssertExpr:
		used(x.X)
		s.found = s.found || s.fails
	case *ast.SliceExpr:
		used(x.X, x.Low, x.High, x.Max)
		s.found = s.found || s.fails && (x.Low != nil || x.High != nil)
	}
}

// quietPackages are those whose functions print nothing, and panic for odd arguments at most.
var quietPackages = []string{"bytes", "errors", "math", "math/bits", "path", "path/filepath", "strconv", "strings", "time", "unicode", "unicode/utf8"}

// shows reports whether it shows that a call has been made: whether it may print or panic.
func (u *Unit) shows(x *ast.CallExpr) bool {
	if name := u.builtinName(x.Fun); name != "" {
		return name == "make"
	}
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return true
	}
	fn, ok := u.Info.Uses[sel.Sel].(*types.Func)
	return !ok || fn.Pkg() == nil || u.Info.Selections[sel] != nil || !slices.Contains(quietPackages, fn.Pkg().Path())
}
