package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// readers knows which calls read tensors and do not keep them.
type readers struct{ u *Unit }

// kind is the place of the value of an expression: what uses it.
type kind int

const (
	elsewhere kind = iota
	target         // it is assigned to, alone
	operand        // a reader reads it, or it is printed or compared
	value          // it is assigned to a variable, alone
	unused
)

// role is the place of an expression in a function.
type role struct {
	kind
	function ast.Node // FuncDecl or FuncLit
	loop     bool     // whether it is in a loop of the function
	late     bool     // whether it is in a go or defer statement
	variable *ast.Ident
	defines  bool // whether the assignment defines the variable
}

// walk calls f for every expression in a function.
func (l *readers) walk(f func(e ast.Expr, r role)) {
	for _, d := range l.u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); !ok || l.u.Generated[fd] {
			continue
		}
		var path []ast.Node
		var around []surroundings // of each node of the path
		ast.Inspect(d, func(n ast.Node) bool {
			if n == nil {
				path, around = path[:len(path)-1], around[:len(around)-1]
				return true
			}
			var s surroundings
			if last := len(path) - 1; last >= 0 {
				s = around[last].of(path, n)
			}
			path, around = append(path, n), append(around, s)
			if e, ok := n.(ast.Expr); ok {
				f(e, l.role(path, s))
			}
			return true
		})
	}
}

// surroundings are what the nodes around a node say about it.
type surroundings struct {
	role
	at int // place in the path of the closest node around it that is not a pair of parentheses
}

// of returns the surroundings of a child of the last node of a path, which has the surroundings s.
func (s surroundings) of(path []ast.Node, child ast.Node) surroundings {
	last := len(path) - 1
	switch p := path[last].(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		s.role = role{function: p}
	case *ast.ForStmt:
		s.loop = s.loop || child != p.Init
	case *ast.RangeStmt:
		s.loop = s.loop || child == p.Body
	case *ast.GoStmt, *ast.DeferStmt:
		s.late = true
	}
	if !isA[*ast.ParenExpr](path[last]) {
		s.at = last
	}
	return s
}

// role returns the role of the expression at the end of a path.
func (l *readers) role(path []ast.Node, s surroundings) role {
	r, at := s.role, s.at
	self := path[at+1]
	switch p := path[at].(type) {
	case *ast.SelectorExpr:
		if x, ok := path[at-1].(*ast.CallExpr); ok && x.Fun == p && l.reads(x) {
			r.kind = operand
		}
	case *ast.CallExpr:
		if x, ok := self.(ast.Expr); ok && x != p.Fun && (l.reads(p) || l.prints(p)) {
			r.kind = operand
		}
	case *ast.CompositeLit:
		if x, ok := path[at-1].(*ast.CallExpr); ok && l.isList(p) && l.reads(x) {
			r.kind = operand
		}
	case *ast.BinaryExpr:
		if p.Op == token.EQL || p.Op == token.NEQ {
			r.kind = operand
		}
	case *ast.ExprStmt:
		r.kind = unused
	case *ast.AssignStmt:
		if len(p.Lhs) == 1 && len(p.Rhs) == 1 {
			r.assigned(self, p.Lhs[0], p.Tok == token.DEFINE)
		}
	case *ast.ValueSpec:
		if len(p.Names) == 1 && (p.Type == nil || self != p.Type) {
			r.assigned(self, p.Names[0], true)
		}
	}
	return r
}

// assigned sets the kind of an expression in an assignment.
func (r *role) assigned(self ast.Node, to ast.Expr, defines bool) {
	id, ok := to.(*ast.Ident)
	switch {
	case !ok:
	case self == to:
		r.kind = target
	case id.Name == "_":
		r.kind = unused
	default:
		r.kind, r.variable, r.defines = value, id, defines
	}
}

// reads reports whether a call is of a function that does not keep its operands. The packages tensor and
// nn mark the memory of those that they keep on the tape or as a part of the result. They have no
// other place for a tensor than another tensor, their own variables, what the caller has passed, and
// the result. So the functions are those whose parameters are tensors, plain values and options, and which
// return a tensor or plain values.
func (l *readers) reads(x *ast.CallExpr) bool {
	fn := l.callee(x)
	if fn == nil || fn.Pkg() == nil || !l.ofTensors(fn.Pkg()) || fn.Signature().TypeParams().Len() > 0 {
		return false
	}
	if recv := fn.Signature().Recv(); recv != nil && !l.isTensor(recv.Type()) {
		return false
	}
	if len(x.Args) == 1 {
		if _, several := l.u.typeOf(x.Args[0]).(*types.Tuple); several {
			return false
		}
	}
	for v := range fn.Signature().Params().Variables() {
		if !l.plain(v.Type(), true) && !l.isOptions(v.Type()) {
			return false
		}
	}
	results := fn.Signature().Results()
	for v := range results.Variables() {
		if !l.plain(v.Type(), false) && !(results.Len() == 1 && l.isTensor(v.Type())) {
			return false
		}
	}
	return true
}

// prints reports whether a call is of one of the functions of package fmt that print values.
func (l *readers) prints(x *ast.CallExpr) bool {
	fn := l.callee(x)
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "fmt" &&
		slices.Contains([]string{"Print", "Printf", "Println", "Sprint", "Sprintf", "Sprintln"}, fn.Name())
}

// odd reports whether the operands of a call may make tensors known elsewhere while they are evaluated.
func (l *readers) odd(x *ast.CallExpr) bool {
	odd := false
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			odd = odd || n.Op == token.ARROW
		case *ast.CallExpr:
			fn := l.callee(n)
			safe := l.u.Info.Types[n.Fun].IsType() || l.u.builtinName(n.Fun) != "" || l.reads(n) || fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "math"
			odd = odd || !safe
		}
		return !odd
	})
	return odd
}

// operands returns the tensors that a reader reads. Lists that are not literals are themselves.
func (l *readers) operands(x *ast.CallExpr) (list []ast.Expr) {
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok && l.isTensor(l.u.typeOf(sel.X)) {
		list = append(list, sel.X)
	}
	for _, e := range x.Args {
		if c, ok := e.(*ast.CompositeLit); ok && l.isList(c) {
			list = append(list, c.Elts...)
		} else if l.isTensor(l.u.typeOf(e)) {
			list = append(list, e)
		}
	}
	return list
}

// hides reports whether a reader has operands that operands does not return: in lists that are not
// literals, and in structs.
func (l *readers) hides(x *ast.CallExpr) bool {
	return slices.ContainsFunc(x.Args, func(e ast.Expr) bool {
		_, literal := e.(*ast.CompositeLit)
		t := orInvalid(l.u.typeOf(e))
		return !l.plain(t, false) && !l.isTensor(t) && !(literal && l.isList(e))
	})
}

// callee returns the function or method that a call names, or nil.
func (l *readers) callee(x *ast.CallExpr) *types.Func {
	var id *ast.Ident
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		if s := l.u.Info.Selections[f]; s != nil && (s.Kind() != types.MethodVal || len(s.Index()) != 1 || !l.isTensor(s.Recv())) {
			return nil
		}
		id = f.Sel
	default:
		return nil
	}
	fn, _ := l.u.Info.Uses[id].(*types.Func)
	return fn
}

// ofTensors reports whether a package is that of tensors or that of losses and layers.
func (l *readers) ofTensors(p *types.Package) bool {
	return p.Path() == l.u.Tensors || p.Path() == l.u.Tensors+"/nn"
}

// isOptions reports whether t is a list of options. The tensor in an option is an operand of the function that
// has made the option, which is not a reader.
func (l *readers) isOptions(t types.Type) bool {
	s, ok := t.(*types.Slice)
	if !ok {
		return false
	}
	n, ok := types.Unalias(s.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "Option" && n.Obj().Pkg() != nil && l.ofTensors(n.Obj().Pkg())
}

// isTensor reports whether t is a pointer to the type of tensors.
func (l *readers) isTensor(t types.Type) bool {
	if t == nil {
		return false
	}
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Name() == "Tensor" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == l.u.Tensors
}

// isList reports whether an expression is a slice of tensors.
func (l *readers) isList(e ast.Expr) bool {
	s, ok := orInvalid(l.u.typeOf(e)).Underlying().(*types.Slice)
	return ok && l.isTensor(s.Elem())
}

// plain reports whether values of t refer to no tensors, except t itself and lists of them if
// tensors is set, and hold no functions or interfaces.
func (l *readers) plain(t types.Type, tensors bool) bool {
	if l.isTensor(t) {
		return tensors
	}
	switch x := t.Underlying().(type) {
	case *types.Basic:
		return x.Kind() != types.UnsafePointer
	case *types.Slice:
		return l.plain(x.Elem(), tensors)
	case *types.Array:
		return l.plain(x.Elem(), tensors)
	case *types.Struct:
		for f := range x.Fields() {
			if !l.plain(f.Type(), tensors) {
				return false
			}
		}
		return true
	}
	return false
}
