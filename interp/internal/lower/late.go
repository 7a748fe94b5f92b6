package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// lateReads computes the operations of a statement before it, in the order of compiled Go, where Yaegi would use another order and it shows: where
// operations panic, print, change variables or read those that others change. The language leaves open in which order operations other than calls
// are computed, and variables read. Yaegi computes an operand where it stands, and finds that a pointer is nil where it uses the value behind it.
//
//	fmt.Println(x+1, f())    o1 := f(); fmt.Println(x+1, o1)
//	xs[i] = ys[j]            o1 := ys[j]; xs[i] = o1
//	two(*p, xs[i])           o1 := *p; two(o1, xs[i])
func (u *Unit) lateReads() {
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil || u.Generated[fd] {
			continue
		}
		r := lateReader{u, fd, u.changedElsewhere(fd), u.returning(fd), gotos(fd)}
		astutil.Apply(fd, nil, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.BinaryExpr:
				if isLogical(n) {
					r.logical(&n.X)
					r.logical(&n.Y)
				}
			case *ast.CaseClause:
				for i := range n.List {
					r.logical(&n.List[i])
				}
			case *ast.CommClause:
				switch s := n.Comm.(type) {
				case *ast.SendStmt:
					r.logical(&s.Chan)
					r.logical(&s.Value)
				case *ast.ExprStmt:
					r.logical(&ast.Unparen(s.X).(*ast.UnaryExpr).X)
				case *ast.AssignStmt:
					r.logical(&ast.Unparen(s.Rhs[0]).(*ast.UnaryExpr).X)
				}
			case *ast.CompositeLit:
				if r.unhashable(n) {
					c.Replace(r.entries(n))
				}
			case *ast.LabeledStmt:
				r.labelled(c, n)
			case ast.Stmt:
				if loop, ok := n.(*ast.ForStmt); ok {
					r.loop(loop)
				}
				if c.Index() >= 0 || c.Name() == "Else" {
					r.statement(c, n, n)
				}
			}
			return true
		})
	}
}

// labelled is statement for one with a label. The label comes before the operations, but stays at a statement that others break or continue.
func (r lateReader) labelled(c *astutil.Cursor, l *ast.LabeledStmt) {
	switch l.Stmt.(type) {
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		if c.Index() >= 0 && !r.gotos[l.Label.Name] {
			r.statement(c, l.Stmt, l)
		}
	case *ast.LabeledStmt, *ast.BlockStmt, *ast.EmptyStmt:
	default:
		if c.Index() >= 0 {
			c.InsertBefore(&ast.LabeledStmt{Label: l.Label, Colon: l.Colon, Stmt: &ast.BlockStmt{Lbrace: l.Colon, Rbrace: l.Colon}})
			c.Replace(l.Stmt)
			r.statement(c, l.Stmt, l.Stmt)
		}
	}
}

// gotos returns the labels to which goto statements of a function lead.
func gotos(fd *ast.FuncDecl) map[string]bool {
	labels := map[string]bool{}
	ast.Inspect(fd, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			labels[b.Label.Name] = true
		}
		return true
	})
	return labels
}

// statement puts the operations of a statement before it that are to come first. Where it has a label, whole is the statement with it.
func (r lateReader) statement(c *astutil.Cursor, s, whole ast.Stmt) {
	if loop, ok := s.(*ast.ForStmt); ok { // the rest of its head is part of the body
		if loop.Init != nil {
			for _, st := range r.ordered(loop.Init) {
				c.InsertBefore(st)
			}
		}
		return
	}
	if a, ok := s.(*ast.AssignStmt); ok && c.Index() >= 0 && r.severalPlaces(a) {
		q := r.sequence()
		q.statement(a)
		list := r.kept(q.steps[:slices.IndexFunc(q.steps, func(s step) bool { return s.kind == stays })])
		a.Rhs = r.u.spread(a.Rhs[0], r.u.typeOf(a.Rhs[0]).(*types.Tuple), &list)
		for _, st := range list {
			c.InsertBefore(st)
		}
	}
	init := initOf(s)
	var before []ast.Stmt
	if init != nil && *init != nil {
		before = r.ordered(*init)
	}
	early := len(before)
	list := r.ordered(s)
	switch {
	case early == 0 && len(list) == 0:
	case init == nil:
		for _, st := range list {
			c.InsertBefore(st)
		}
	default:
		if *init != nil {
			before = append(before, *init)
			*init = nil
		}
		c.Replace(block(append(append(before, list...), whole)...))
	}
}

// severalPlaces reports whether a statement assigns the results of a call to several places that may not exist. The compiler assigns them as
// separate values.
func (r lateReader) severalPlaces(a *ast.AssignStmt) bool {
	if len(a.Rhs) != 1 || len(a.Lhs) < 2 || a.Tok != token.ASSIGN || !isTupleType(r.u.typeOf(a.Rhs[0])) || !isA[*ast.CallExpr](ast.Unparen(a.Rhs[0])) {
		return false
	}
	places := 0
	for _, e := range a.Lhs {
		if !isA[*ast.Ident](ast.Unparen(e)) {
			places++
		}
	}
	return places > 1 && slices.ContainsFunc(a.Lhs, r.u.fails)
}

// loop puts the operations of a loop's condition into the body, and those of its post statement into a function literal.
func (r lateReader) loop(s *ast.ForStmt) {
	if s.Post != nil && !r.u.callsRecover(s.Post) {
		list := r.ordered(s.Post)
		if a, ok := s.Post.(*ast.AssignStmt); len(list) > 0 || ok && len(a.Lhs) > 1 && slices.ContainsFunc(slices.Concat(a.Lhs, a.Rhs), r.u.fails) {
			lit := &ast.FuncLit{Type: &ast.FuncType{Func: s.Post.Pos(), Params: &ast.FieldList{}}, Body: block(append(list, s.Post)...)}
			r.u.typed(lit, types.NewSignatureType(nil, nil, nil, nil, nil, false))
			s.Post = expr(r.u.typed(calledFrom(s.Post.Pos(), call(lit)), types.NewTuple()))
		}
	}
	list := r.ordered(s)
	if len(list) == 0 {
		return
	}
	not := r.u.typed(&ast.UnaryExpr{OpPos: s.Cond.Pos(), Op: token.NOT, X: &ast.ParenExpr{X: s.Cond}}, types.Typ[types.Bool])
	leave := &ast.IfStmt{If: s.Cond.Pos(), Cond: not, Body: block(&ast.BranchStmt{Tok: token.BREAK})}
	s.Cond, s.Body.List = nil, append(append(list, leave), s.Body.List...)
}

// logical puts the operations of an operand of && or ||, or in a clause of switch or select, before it, in a function literal: the operand may not be
// evaluated, and comes after those of earlier clauses. Those of an operand that is && or || itself have been put before its own operands.
func (r lateReader) logical(e *ast.Expr) {
	old := *e
	if isLogical(ast.Unparen(old)) {
		return
	}
	list := r.orderedOperand(e)
	if len(list) == 0 {
		return
	}
	t := types.Default(r.u.typeOf(old))
	*e = r.u.called(old, t, append(list, &ast.ReturnStmt{Return: old.Pos(), Results: []ast.Expr{*e}}))
}

// unhashable reports whether a key of a map literal may panic before operations of a later entry.
func (r lateReader) unhashable(lit *ast.CompositeLit) bool {
	if !r.u.isMap(lit) {
		return false
	}
	fails := false
	for _, e := range lit.Elts {
		kv, q := e.(*ast.KeyValueExpr), r.sequence()
		q.natural(&kv.Key)
		q.natural(&kv.Value)
		if fails && slices.ContainsFunc(q.steps, func(s step) bool { return s.does.before(doesPanic) }) {
			return true
		}
		fails = fails || r.u.Info.Types[kv.Key].Value == nil && holdsInterface(orInvalid(r.u.typeOf(kv.Key)))
	}
	return false
}

// entries returns the call of a function literal that sets the entries of a map one after the other.
func (r lateReader) entries(lit *ast.CompositeLit) ast.Expr {
	u, t := r.u, r.u.typeOf(lit)
	m, elem := u.temp("m"), t.Underlying().(*types.Map).Elem()
	list := []ast.Stmt{define(m, u.typed(&ast.CompositeLit{Type: u.typeExpr(lit, t), Lbrace: lit.Lbrace}, t))}
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		entry := &ast.IndexExpr{X: u.typed(ident(m.Name), t), Lbrack: kv.Pos(), Index: u.alone(kv.Key, u.typeOf(kv.Key))}
		st := assign(u.typed(entry, elem), u.alone(kv.Value, u.typeOf(kv.Value)))
		st.TokPos = kv.Colon
		list = append(append(list, r.ordered(st)...), st)
	}
	result := u.typed(ident(m.Name), t)
	return u.called(lit, t, append(list, &ast.ReturnStmt{Return: lit.Pos(), Results: []ast.Expr{result}}))
}

// called returns the call of a function literal without parameters.
func (u *Unit) called(at ast.Expr, t types.Type, body []ast.Stmt) ast.Expr {
	results := &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(at, t)}}}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: at.Pos(), Params: &ast.FieldList{}, Results: results}, Body: block(body...)}
	u.typed(lit, types.NewSignatureType(nil, nil, nil, nil, types.NewTuple(types.NewVar(token.NoPos, u.Pkg, "", t)), false))
	return u.typed(calledFrom(at.Pos(), call(lit)), t)
}

// ordered returns statements that compute operations of a statement, as far as their order is not the one in which Yaegi computes them.
func (r lateReader) ordered(s ast.Stmt) []ast.Stmt {
	compiled, natural := r.sequence(), r.sequence()
	compiled.statement(s)
	natural.naturalStatement(s)
	noticed := r.u.unnoticed(s)
	if noticed != nil {
		noticed = operandPlace(noticed)
	}
	return r.kept(compiled.steps[:r.displaced(compiled.steps, natural.steps, noticed, r.u.mixed(s))])
}

// orderedOperand is ordered for an operand.
func (r lateReader) orderedOperand(e *ast.Expr) []ast.Stmt {
	compiled, natural := r.sequence(), r.sequence()
	compiled.value(e, nil)
	natural.natural(e)
	return r.kept(compiled.steps[:r.displaced(compiled.steps, natural.steps, nil, false)])
}

func (r lateReader) sequence() *sequence { return &sequence{lateReader: r, done: map[*ast.Expr]bool{}} }

// kept keeps the results of operations.
func (r lateReader) kept(steps []step) (before []ast.Stmt) {
	for _, st := range steps {
		switch {
		case st.place == nil || st.kind == calls || isTupleType(r.u.typeOf(*st.place)) || r.isFuncField(*st.place):
		case st.kind == dereferences: // the value is not used
			t := r.u.typeOf(*st.place).Underlying().(*types.Pointer).Elem()
			e := r.u.typed(&ast.StarExpr{Star: (*st.place).Pos(), X: *st.place}, t)
			before = append(before, r.u.keep(&e))
		case st.kind == reaches:
			t := r.u.typeOf(*st.place)
			e := r.u.typed(&ast.UnaryExpr{OpPos: (*st.place).Pos(), Op: token.AND, X: *st.place}, types.NewPointer(t))
			before = append(before, r.u.keep(&e))
			*st.place = r.u.typed(&ast.ParenExpr{X: r.u.typed(&ast.StarExpr{Star: e.Pos(), X: e}, t)}, t)
		default:
			before = append(before, r.u.keep(st.place))
		}
	}
	return before
}

// isFuncField reports whether an expression is a function in a field, whose calls are rewritten only there.
func (r lateReader) isFuncField(e ast.Expr) bool {
	_, ok := orInvalid(r.u.typeOf(e)).Underlying().(*types.Signature)
	return ok && isA[*ast.SelectorExpr](e)
}

// displaced returns the number of steps, in compiled order, that have to be computed first because one that comes later in that order is
// earlier in the natural order, or may be if the order of Yaegi is mixed.
func (r lateReader) displaced(steps, natural []step, noticed *ast.Expr, mixed bool) int {
	at := map[stepKey]int{}
	for i, k := range stepKeys(natural) {
		at[k] = i
	}
	end := slices.IndexFunc(steps, func(s step) bool { return s.kind == stays })
	if end < 0 {
		end = len(steps)
	}
	first := map[effect]int{} // where the earliest of the steps after i is in the natural order, by what it does
	keys := stepKeys(steps)
	for i := len(steps) - 1; i >= 0; i-- {
		a := steps[i]
		if i < end {
			late := mixed || r.dereferencedLate(steps, i)
			for does, n := range first {
				if a.does.before(does) && (late || at[keys[i]] > n) {
					return i + 1
				}
			}
			if noticed != nil && a.place == noticed {
				return i + 1
			}
		}
		if n, ok := first[a.does]; !ok || at[keys[i]] < n {
			first[a.does] = at[keys[i]]
		}
	}
	return 0
}

// stepKey finds a step in another order of the same steps. Steps without a place have a number.
type stepKey struct {
	place *ast.Expr
	kind  stepKind
	n     int
}

func stepKeys(steps []step) []stepKey {
	keys := make([]stepKey, len(steps))
	n := 0
	for i, s := range steps {
		keys[i] = stepKey{place: s.place, kind: s.kind}
		if s.place == nil {
			keys[i].n = n
			n++
		}
	}
	return keys
}

// dereferencedLate reports whether Yaegi finds only after the next step that the pointer of a step is nil: unless the next step uses its value.
func (r lateReader) dereferencedLate(steps []step, i int) bool {
	a := steps[i]
	if a.place == nil || !(r.u.pointsTo(*a.place) && a.kind == computes || a.kind == dereferences) {
		return false
	}
	if i+1 == len(steps) || steps[i+1].kind != computes || steps[i+1].place == nil {
		return true
	}
	next := *steps[i+1].place
	call, ok := next.(*ast.CallExpr)
	return !r.u.uses(next, *a.place) && !(ok && a.kind == dereferences && slices.Contains(r.u.calleeParts(call), a.place))
}

// initOf returns the place of the init statement of an if or switch statement, or nil.
func initOf(s ast.Stmt) *ast.Stmt {
	switch s := s.(type) {
	case *ast.IfStmt:
		return &s.Init
	case *ast.SwitchStmt:
		return &s.Init
	case *ast.TypeSwitchStmt:
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

// lateReader finds operations that Yaegi computes too early.
type lateReader struct {
	u       *Unit
	fd      *ast.FuncDecl
	vars    map[types.Object]bool // those of the function that a call may change
	returns map[*ast.ReturnStmt]returning
	gotos   map[string]bool // the labels to which goto statements lead
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

// quietPackages are those whose functions print nothing, and panic for odd arguments at most.
var quietPackages = []string{"bytes", "errors", "math", "math/bits", "path", "path/filepath", "strconv", "strings", "time", "unicode", "unicode/utf8"}

// shows reports whether it shows that a call has been made: whether it may print or panic.
func (u *Unit) shows(x *ast.CallExpr) bool {
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return true
	}
	fn, ok := u.Info.Uses[sel.Sel].(*types.Func)
	return !ok || fn.Pkg() == nil || u.Info.Selections[sel] != nil || !slices.Contains(quietPackages, fn.Pkg().Path())
}
