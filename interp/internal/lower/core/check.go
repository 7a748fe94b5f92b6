package core

import (
	"go/ast"
	"go/token"
	"go/types"
)

// checker walks a unit.
type checker struct {
	reader
	at       token.Pos // the latest position in the cell
	results  []Position
	shared   map[string]bool // names that function literals of the declaration share
	declared map[string]bool // names that the declaration declares
	body     ast.Node        // the declaration
	refuse   func(Refusal)
}

func (c *checker) declaration(d ast.Decl) {
	switch d := d.(type) {
	case *ast.GenDecl:
		c.body, c.shared = d, nil
		c.genDecl(d)
	case *ast.FuncDecl:
		if d.Body == nil {
			return
		}
		c.body, c.shared = d, nil
		c.at = d.Pos()
		c.params(d.Recv)
		c.function(d.Type, d.Body)
	}
}

func (c *checker) genDecl(d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			c.value(s)
		case *ast.TypeSpec:
			c.permit("type", s, nil, 0, 0)
		}
	}
}

// value checks the declaration of variables.
func (c *checker) value(s *ast.ValueSpec) {
	switch {
	case len(s.Values) == 0:
		c.permit("var", s, nil, 0, 0)
	case len(s.Values) == len(s.Names):
		c.permit("declare", s, nil, 0, 0)
	default:
		c.permit("declare.tuple", s, nil, 0, 0)
	}
	for i, id := range s.Names {
		if s.Type != nil {
			c.define(id, s.Type)
		} else if len(s.Values) == len(s.Names) {
			c.define(id, s.Values[i])
		}
	}
	if len(s.Values) != len(s.Names) && len(s.Values) > 0 {
		c.defineAll(idents(s.Names), s.Values[0])
		c.expr(s.Values[0], Tuple)
		return
	}
	for _, e := range s.Values {
		c.expr(e, Defined)
	}
}

func idents(list []*ast.Ident) []ast.Expr {
	var all []ast.Expr
	for _, id := range list {
		all = append(all, id)
	}
	return all
}

// define records the type of a variable: rewrites mention variables without their objects.
func (c *checker) define(e ast.Expr, value ast.Expr) {
	if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
		t := c.typeOf(value)
		if o := c.object(id); o != nil {
			t = o.Type()
		}
		if b, ok := t.(*types.Basic); ok {
			t = types.Default(b)
		}
		c.made[id.Name] = t
	}
}

// defineAll records the types of variables that are set by one expression.
func (c *checker) defineAll(list []ast.Expr, value ast.Expr) {
	t := c.typeOf(value)
	tuple, _ := t.(*types.Tuple)
	for i, e := range list {
		id, ok := e.(*ast.Ident)
		if !ok || id.Name == "_" {
			continue
		}
		switch o := c.object(id); {
		case o != nil:
			c.made[id.Name] = o.Type()
		case tuple != nil && i < tuple.Len():
			c.made[id.Name] = tuple.At(i).Type()
		case t == support:
			c.made[id.Name] = support
		case tuple == nil && i == 0:
			c.made[id.Name] = t
		case tuple == nil && i == 1:
			c.made[id.Name] = types.Typ[types.Bool]
		}
	}
}

func (c *checker) params(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, f := range list.List {
		e := f.Type
		if d, ok := e.(*ast.Ellipsis); ok {
			e = &ast.ArrayType{Elt: d.Elt}
		}
		for _, id := range f.Names {
			c.made[id.Name] = c.typeOf(e)
		}
	}
}

// function checks a body whose parameters are in t.
func (c *checker) function(t *ast.FuncType, body *ast.BlockStmt) {
	outer := c.results
	c.params(t.Params)
	c.params(t.Results)
	c.results = nil
	if t.Results != nil {
		for _, f := range t.Results.List {
			for range max(1, len(f.Names)) {
				c.results = append(c.results, c.resultPosition(f.Type))
			}
		}
	}
	c.block(body.List)
	c.results = outer
}

func (c *checker) resultPosition(e ast.Expr) Position {
	t := c.typeOf(e)
	switch kindOf(t) {
	case Interface:
		return Returned | AnyResult
	case Func, VariadicFunc:
		if _, ok := types.Unalias(t).(*types.Named); ok {
			return Returned | NamedResult
		}
	}
	return Returned
}

func (c *checker) block(list []ast.Stmt) {
	for _, s := range list {
		c.stmt(s)
	}
}

func (c *checker) stmt(s ast.Stmt) {
	if s == nil {
		return
	}
	if p := s.Pos(); p.IsValid() {
		c.at = p
	}
	form := c.stmtForm(s)
	c.permit(form, s, c.stmtType(s), 0, 0)
	switch s := s.(type) {
	case *ast.AssignStmt:
		c.assign(s, form)
	case *ast.BlockStmt:
		c.block(s.List)
	case *ast.CaseClause:
		c.block(s.Body)
	case *ast.CommClause:
		c.stmt(s.Comm)
		c.block(s.Body)
	case *ast.DeclStmt:
		c.genDecl(s.Decl.(*ast.GenDecl))
	case *ast.DeferStmt:
		c.expr(s.Call, Deferred)
	case *ast.ExprStmt:
		c.expr(s.X, Effect)
	case *ast.ForStmt:
		c.stmt(s.Init)
		c.condition(s.Cond)
		c.stmt(s.Post)
		c.block(s.Body.List)
	case *ast.GoStmt:
		c.expr(s.Call, Started)
	case *ast.IfStmt:
		c.stmt(s.Init)
		c.condition(s.Cond)
		c.block(s.Body.List)
		c.stmt(s.Else)
	case *ast.IncDecStmt:
		c.expr(s.X, Target)
	case *ast.LabeledStmt:
		c.stmt(s.Stmt)
	case *ast.RangeStmt:
		c.rangeOver(s)
	case *ast.ReturnStmt:
		c.returns(s)
	case *ast.SelectStmt:
		c.block(s.Body.List)
	case *ast.SendStmt:
		c.expr(s.Chan, Channel)
		c.expr(s.Value, Sent)
	case *ast.SwitchStmt:
		c.switches(s)
	case *ast.TypeSwitchStmt:
		c.stmt(s.Init)
		c.stmt(s.Assign)
		c.clauses(s.Body, 0)
	}
}

func (c *checker) condition(e ast.Expr) {
	if e != nil {
		c.expr(e, Condition)
	}
}

func (c *checker) switches(s *ast.SwitchStmt) {
	c.stmt(s.Init)
	if s.Tag == nil {
		c.clauses(s.Body, Condition)
		return
	}
	c.expr(s.Tag, Tag)
	c.clauses(s.Body, Case)
}

// clauses checks the clauses of a switch, whose expressions have a position, or are types.
func (c *checker) clauses(b *ast.BlockStmt, at Position) {
	for _, st := range b.List {
		cc := st.(*ast.CaseClause)
		if at != 0 {
			if len(cc.List) > 1 && at == Condition {
				c.permit("case.conditions", cc, nil, 0, 0)
			}
			for i, e := range cc.List {
				p := at
				if at == Case && i > 0 {
					p = MoreCase
				}
				c.expr(e, p)
			}
		}
		for _, x := range cc.Body {
			if _, ok := x.(*ast.EmptyStmt); ok {
				c.permit("clause.empty", cc, nil, 0, 0)
			}
		}
		c.block(cc.Body)
	}
}

func (c *checker) rangeOver(s *ast.RangeStmt) {
	t := c.typeOf(s.X)
	if s.Tok == token.DEFINE && t != nil {
		key, value := types.Type(types.Typ[types.Int]), elementOf(t)
		switch u := t.Underlying().(type) {
		case *types.Map:
			key = u.Key()
		case *types.Chan:
			key = u.Elem()
		}
		for i, e := range []ast.Expr{s.Key, s.Value} {
			if id, ok := e.(*ast.Ident); ok {
				c.made[id.Name] = []types.Type{key, value}[i]
			}
		}
	}
	c.expr(s.X, Ranged)
	if s.Tok == token.ASSIGN {
		for _, e := range []ast.Expr{s.Key, s.Value} {
			if e != nil {
				c.expr(e, Target)
			}
		}
	}
	c.block(s.Body.List)
}

func (c *checker) returns(s *ast.ReturnStmt) {
	for i, e := range s.Results {
		p := Returned
		if i < len(c.results) && len(s.Results) == len(c.results) {
			p = c.results[i]
		}
		if len(s.Results) > 1 {
			p |= Several
		}
		if !nested(e) {
			p &^= NamedResult
		}
		c.expr(e, p)
	}
}

// nested reports whether an operand of an expression is more than a name or a literal of a basic type.
func nested(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Ident, *ast.BasicLit:
			return false
		}
		found = found || n != ast.Node(e)
		return !found
	})
	return found
}

func (c *checker) assign(s *ast.AssignStmt, form string) {
	switch form {
	case "define", "define.several":
		for i, e := range s.Lhs {
			c.define(e, s.Rhs[i])
		}
	case "define.tuple", "define.commaok":
		c.defineAll(s.Lhs, s.Rhs[0])
	}
	tuple, _ := c.typeOf(s.Rhs[0]).(*types.Tuple)
	for i, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok && (id.Name == "_" || s.Tok == token.DEFINE) {
			continue
		}
		at := Target
		if form == "assign.tuple" && tuple != nil && i < tuple.Len() {
			at |= TupleTarget
			if t := c.typeOf(e); t != nil && !types.Identical(t, tuple.At(i).Type()) {
				at |= OtherType
			}
		}
		c.expr(e, at)
	}
	for _, e := range s.Rhs {
		switch form {
		case "define":
			c.expr(e, Defined)
		case "assign":
			c.assigned(e, s.Lhs[0])
		case "assign.several":
			c.expr(e, Parallel)
		case "define.several":
			c.expr(e, Together)
		case "assign.op":
			c.expr(e, Operation)
		default:
			c.expr(e, Tuple)
		}
	}
}

// assigned checks the right side of an assignment.
func (c *checker) assigned(e, target ast.Expr) {
	if id, ok := target.(*ast.Ident); ok && id.Name == "_" {
		c.expr(e, Assigned)
		return
	}
	c.exprIn(e, Assigned, c.storage(ast.Unparen(e), target))
}

// storage returns the storage of a target. It looks at functions only for expressions whose row does.
func (c *checker) storage(e, target ast.Expr) Storage {
	switch x := ast.Unparen(target).(type) {
	case *ast.SelectorExpr:
		return Field
	case *ast.IndexExpr:
		if kindOf(c.typeOf(x.X)) == Map {
			return Entry
		}
		return Item
	case *ast.StarExpr:
		return Deref
	case *ast.Ident:
		if !narrow[c.form(e)] {
			return 0
		}
		return c.variable(x)
	}
	return 0
}

// stmtType returns the type that the row of a statement restricts, or nil.
func (c *checker) stmtType(s ast.Stmt) types.Type {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok != token.ASSIGN || len(s.Rhs) < 2 {
			return nil
		}
		for _, e := range s.Rhs {
			if t := c.typeOf(e); kindOf(t)&(Basic|Made) == 0 {
				return t
			}
		}
		return c.typeOf(s.Rhs[0])
	case *ast.IncDecStmt:
		return c.typeOf(s.X)
	case *ast.RangeStmt:
		if s.Value != nil && kindOf(c.typeOf(s.X)) != Func {
			return elementOf(c.typeOf(s.X))
		}
	}
	return nil
}

// stmtForm names the form of a statement.
func (c *checker) stmtForm(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.AssignStmt:
		return c.assignForm(s)
	case *ast.BlockStmt:
		return "block"
	case *ast.BranchStmt:
		return s.Tok.String()
	case *ast.CaseClause, *ast.CommClause:
		return "clause"
	case *ast.DeclStmt:
		return "local"
	case *ast.DeferStmt:
		return "defer"
	case *ast.EmptyStmt:
		return "empty"
	case *ast.ExprStmt:
		return "effect"
	case *ast.ForStmt:
		return "for"
	case *ast.GoStmt:
		return "go"
	case *ast.IfStmt:
		return "if"
	case *ast.IncDecStmt:
		return "incdec"
	case *ast.LabeledStmt:
		return "label"
	case *ast.RangeStmt:
		return c.rangeForm(s)
	case *ast.ReturnStmt:
		return "return"
	case *ast.SelectStmt:
		return "select"
	case *ast.SendStmt:
		return "send"
	case *ast.SwitchStmt:
		if s.Tag == nil {
			return "switch.conditions"
		}
		return "switch"
	case *ast.TypeSwitchStmt:
		return "switch.type"
	}
	return "unknown"
}

func (c *checker) assignForm(s *ast.AssignStmt) string {
	name := "assign"
	if s.Tok == token.DEFINE {
		name = "define"
	} else if s.Tok != token.ASSIGN {
		if _, ok := ast.Unparen(s.Lhs[0]).(*ast.Ident); !ok && c.calls(s.Rhs[0]) {
			return "assign.op.call"
		}
		return "assign.op"
	}
	switch {
	case len(s.Lhs) == 1:
		return name
	case len(s.Rhs) > 1:
		return name + ".several"
	}
	if _, ok := ast.Unparen(s.Rhs[0]).(*ast.CallExpr); ok {
		return name + ".tuple"
	}
	return name + ".commaok"
}

// calls reports whether an expression calls code that may change variables.
func (c *checker) calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !c.isType(n.Fun) && c.builtin(n.Fun) == "" && !c.isSupport(n.Fun) {
				found = c.ofCells(n) || found
			}
		}
		return !found
	})
	return found
}

func (c *checker) rangeForm(s *ast.RangeStmt) string {
	form := "range.unknown"
	switch k := kindOf(c.typeOf(s.X)); k {
	case Slice:
		form = "range.slice"
	case Array:
		form = "range.array"
	case Pointer:
		form = "range.pointer"
	case Map:
		form = "range.map"
	case Chan:
		form = "range.chan"
	case Func, VariadicFunc:
		form = "range.func"
	case String:
		form = "range.string"
	case Int, Uint, Uintptr:
		form = "range.int"
	}
	return form
}
