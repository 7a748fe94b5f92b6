package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Stop is a place before a statement at which a debugger can stop a function.
type Stop struct {
	Pos, End token.Pos // range of the statement, or of its head if it contains others
	Func     string    // engine's name of the function
	Literal  bool      // whether it is in a literal of the function
	Vars     []*types.Var
}

// maxStopVars limits the variables of a stop to those that were declared last: with all of them, code would grow with the square of their number.
const maxStopVars = 50

// Stops inserts a query to the debugger before each statement of the unit's functions:
//
//	if *Debug != 0 { Stop(n, &x, &y) }
//
// n is the number that number returns for the stop; x and y are the variables of the
// function that are visible there, in a literal only those that it mentions. Generic functions have
// them where an engine takes generic code as it is; elsewhere their instances do.
func (u *Unit) Stops(number func(Stop) int) {
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Body == nil || u.Generated[fd] || u.Unmarked != nil && u.Unmarked(fd.Name.Name) {
			continue
		}
		s := &stopper{u: u, number: number, name: fd.Name.Name, uses: u.usesIn(fd)}
		s.function(fd.Recv, fd.Type, fd.Body)
	}
}

// stopper walks one function and tracks its visible variables.
type stopper struct {
	u       *Unit
	number  func(Stop) int
	name    string
	literal bool
	vars    []*ast.Ident
	uses    map[types.Object][]token.Pos // in the whole function, in ascending order
}

// usesIn returns where a function mentions local and other variables.
func (u *Unit) usesIn(fd *ast.FuncDecl) map[types.Object][]token.Pos {
	uses := map[types.Object][]token.Pos{}
	ast.Inspect(fd, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if v, ok := u.Info.Uses[id].(*types.Var); ok {
				uses[v] = append(uses[v], id.Pos())
			}
		}
		return true
	})
	for _, list := range uses {
		slices.Sort(list)
	}
	return uses
}

// mentions reports whether a literal mentions a variable.
func (s *stopper) mentions(lit *ast.FuncLit, v *ast.Ident) bool {
	list := s.uses[s.u.Info.Uses[v]]
	i, _ := slices.BinarySearch(list, lit.Pos())
	return i < len(list) && list[i] < lit.End()
}

func (s *stopper) function(recv *ast.FieldList, t *ast.FuncType, body *ast.BlockStmt) {
	for _, list := range []*ast.FieldList{recv, t.Params, t.Results} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			s.see(f.Names...)
		}
	}
	s.block(&body.List)
}

// see adds the variables that the identifiers declare.
func (s *stopper) see(ids ...*ast.Ident) {
	for _, id := range ids {
		if v, ok := s.u.Info.Defs[id].(*types.Var); ok && id.Name != "_" {
			s.vars = slices.DeleteFunc(slices.Clone(s.vars), func(old *ast.Ident) bool { return old.Name == id.Name })
			s.vars = append(s.vars, s.use(id.Name, v))
			s.vars = s.vars[max(0, len(s.vars)-maxStopVars):]
		}
	}
}

func (s *stopper) use(name string, v *types.Var) *ast.Ident {
	id := ident(name)
	s.u.Info.Uses[id] = v
	return id
}

// block handles a list of statements, whose variables end with it.
func (s *stopper) block(list *[]ast.Stmt) {
	outer := s.vars
	defer func() { s.vars = outer }()
	var out []ast.Stmt
	for _, st := range *list {
		if pos := start(st); pos.IsValid() {
			out = append(out, s.stop(pos, head(st)))
		}
		s.inside(st)
		out = append(out, st)
		s.declared(st)
	}
	*list = out
}

// head returns the end of the part of a statement that contains no other statements.
func head(st ast.Stmt) token.Pos {
	end := st.End()
	ast.Inspect(st, func(n ast.Node) bool {
		var body token.Pos
		switch n := n.(type) {
		case *ast.BlockStmt:
			body = n.Lbrace
		case *ast.FuncLit:
			body = n.Body.Lbrace
		}
		if body.IsValid() && body < end {
			end = body
		}
		return !body.IsValid()
	})
	return end
}

func (s *stopper) stop(pos, end token.Pos) ast.Stmt {
	stop := Stop{Pos: pos, End: end, Func: s.name, Literal: s.literal}
	args := []ast.Expr{nil}
	for _, id := range s.vars {
		v := s.u.Info.Uses[id].(*types.Var)
		stop.Vars = append(stop.Vars, v)
		args = append(args, &ast.UnaryExpr{Op: token.AND, X: s.use(id.Name, v)})
	}
	args[0] = Int(int64(s.number(stop)))
	s.u.imports = true
	return &ast.IfStmt{
		Cond: &ast.BinaryExpr{X: &ast.StarExpr{X: SupportName("Debug")}, Op: token.NEQ, Y: Int(0)},
		Body: block(expr(Support("Stop", args...))),
	}
}

// declared adds the variables that a statement leaves in scope.
func (s *stopper) declared(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.AssignStmt:
		if st.Tok == token.DEFINE {
			for _, e := range st.Lhs {
				if id, ok := e.(*ast.Ident); ok {
					s.see(id)
				}
			}
		}
	case *ast.DeclStmt:
		if d, ok := st.Decl.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					s.see(v.Names...)
				}
			}
		}
	case *ast.LabeledStmt:
		s.declared(st.Stmt)
	}
}

// inside handles the statements and literals in a statement.
func (s *stopper) inside(st ast.Stmt) {
	outer := s.vars
	defer func() { s.vars = outer }()
	switch st := st.(type) {
	case *ast.BlockStmt:
		s.block(&st.List)
	case *ast.LabeledStmt:
		s.inside(st.Stmt)
	case *ast.IfStmt:
		s.first(st.Init)
		s.literals(st.Cond)
		s.block(&st.Body.List)
		if st.Else != nil {
			s.inside(st.Else)
		}
	case *ast.ForStmt:
		s.first(st.Init)
		s.literals(st.Cond, st.Post)
		s.block(&st.Body.List)
	case *ast.RangeStmt:
		s.literals(st.X)
		if st.Tok == token.DEFINE {
			for _, e := range []ast.Expr{st.Key, st.Value} {
				if id, ok := e.(*ast.Ident); ok {
					s.see(id)
				}
			}
		}
		s.block(&st.Body.List)
	case *ast.SwitchStmt:
		s.first(st.Init)
		s.literals(st.Tag)
		s.clauses(st.Body)
	case *ast.TypeSwitchStmt:
		s.first(st.Init)
		s.literals(st.Assign)
		s.clauses(st.Body)
	case *ast.SelectStmt:
		s.clauses(st.Body)
	default:
		s.literals(st)
	}
}

func (s *stopper) first(init ast.Stmt) {
	if init != nil {
		s.literals(init)
		s.declared(init)
	}
}

func (s *stopper) clauses(body *ast.BlockStmt) {
	for _, c := range body.List {
		outer := s.vars
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				s.literals(e)
			}
			s.block(&c.Body)
		case *ast.CommClause:
			s.first(c.Comm)
			s.block(&c.Body)
		}
		s.vars = outer
	}
}

// literals handles the function literals in expressions and simple statements.
func (s *stopper) literals(nodes ...ast.Node) {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			lit, ok := n.(*ast.FuncLit)
			if !ok {
				return true
			}
			inner := &stopper{u: s.u, number: s.number, name: s.name, literal: true, uses: s.uses}
			for _, id := range s.vars {
				if s.mentions(lit, id) {
					inner.vars = append(inner.vars, id)
				}
			}
			inner.function(nil, lit.Type, lit.Body)
			return false
		})
	}
}
