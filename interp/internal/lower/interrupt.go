package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/engine"
)

const (
	and       = token.AND
	defineTok = token.DEFINE
)

// recovers keeps recover from stopping an interrupt, and gives run-time errors Go's
// wording.
func (u *Unit) recovers() {
	u.eachOf(u.callsBuiltin("recover"), func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if ok && u.isBuiltin(x.Fun, "recover") {
			u.imports = true
			c.Replace(u.as(Support("Keep", x), x))
		}
	})
}

// polls adds a test to the start of every loop iteration: whether the cell has been told to
// stop, or how many turns are left until it looks. The test reads through a pointer: Yaegi would treat a package variable as a
// constant.
func (u *Unit) polls() {
	u.imports = true
	targets := u.gotoTargets()
	u.each(func(c *astutil.Cursor) {
		switch s := c.Node().(type) {
		case *ast.ForStmt:
			s.Body.List = append([]ast.Stmt{u.poll(s.For)}, s.Body.List...)
		case *ast.RangeStmt:
			s.Body.List = append([]ast.Stmt{u.poll(s.For)}, s.Body.List...)
		case *ast.LabeledStmt:
			switch s.Stmt.(type) {
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			default:
				if targets[u.Info.Defs[s.Label]] && c.Index() >= 0 {
					c.InsertAfter(s.Stmt)
					s.Stmt = u.poll(s.Label.Pos())
				}
			}
		}
	})
}

// gotoTargets returns the labels that goto statements name.
func (u *Unit) gotoTargets() map[types.Object]bool {
	m := map[types.Object]bool{}
	ast.Inspect(u.File, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO && b.Label != nil {
			m[u.Info.Uses[b.Label]] = true
		}
		return true
	})
	return m
}

// poll returns the test, for an interrupt found at pos.
func (u *Unit) poll(pos token.Pos) ast.Stmt {
	st := expr(calledFrom(pos, Support("Poll", u.placed(pos))))
	if raced {
		return st
	}
	if u.turns {
		turns := func() ast.Expr { return &ast.StarExpr{X: SupportName("Turns")} }
		return block(
			&ast.IncDecStmt{X: turns(), Tok: token.DEC},
			&ast.IfStmt{Cond: &ast.BinaryExpr{X: turns(), Op: token.LSS, Y: Int(0)}, Body: block(st)},
		)
	}
	return &ast.IfStmt{
		Cond: &ast.BinaryExpr{X: &ast.StarExpr{X: SupportName("Flag")}, Op: token.NEQ, Y: Int(0)},
		Body: block(st),
	}
}

// placed returns the number of a mark for a support function that says where a goroutine is, or 0 where nothing is written.
func (u *Unit) placed(pos token.Pos) ast.Expr {
	if !pos.IsValid() {
		return Int(0)
	}
	return u.mark(Mark{Pos: pos, Whole: true})
}

// depth makes functions that call functions of cells count their calls, and check from time
// to time how deep the calls nest and whether the cell has been told to stop. A function
// that calls only compiled functions that cannot call back cannot recurse, and only checks
// whether the cell has been told to stop: compiled code may call it repeatedly.
func (u *Unit) depth() {
	u.imports = true
	name := ""
	recursion, onlyCalled := u.recursion(), u.onlyCalled()
	u.funcs(func(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		fd, isDecl := n.(*ast.FuncDecl)
		if isDecl {
			name = fd.Name.Name
			NameParams(fd.Recv)
		}
		if lit, ok := n.(*ast.FuncLit); ok && u.made[lit] {
			return
		}
		if n == ast.Node(u.Outer) {
			return
		}
		NameParams(t.Params) // Yaegi stores temporary values in the memory of unnamed parameters
		lit, _ := n.(*ast.FuncLit)
		if !u.callsCells(body) {
			if onlyCalled[lit] {
				return // loops and functions around its calls poll
			}
			body.List = append([]ast.Stmt{u.poll(t.Pos())}, body.List...)
			return
		}
		mark := u.mark(Mark{Pos: t.Pos(), Func: name})
		find, counter := u.counter()
		calls := func() ast.Expr { return &ast.StarExpr{X: counter()} }
		look := block(expr(calledFrom(t.Pos(), Support("Call", counter(), mark))))
		switch {
		case !u.barriers || u.recovering[body]:
		case isDecl && (recursion.of(fd) || u.callsUnknown(body)):
			look.List = append(look.List, u.again(fd)...)
		case u.around[lit] != nil && u.callsUnknown(body):
			self := u.temp("self")
			u.around[lit].Body.List = []ast.Stmt{
				declare(self, signatureOf(lit)), assign(ident(self.Name), lit), &ast.ReturnStmt{Results: []ast.Expr{ident(self.Name)}},
			}
			look.List = append(look.List, u.againLiteral(lit, self)...)
		}
		if raced {
			body.List = append([]ast.Stmt{&ast.IfStmt{Cond: Support("Descend"), Body: look}}, body.List...)
			return
		}
		at := 0
		if isDecl && !u.barriers { // as it is not called again, what it does before its calls needs no count
			at = slices.IndexFunc(body.List, func(s ast.Stmt) bool { return u.callsCells(s) })
		}
		count := append(find,
			&ast.IncDecStmt{X: calls(), Tok: token.DEC},
			&ast.IfStmt{Cond: &ast.BinaryExpr{X: calls(), Op: token.LSS, Y: Int(0)}, Body: look},
		)
		if len(find) > 0 { // no goto statement may jump over the variables
			count = []ast.Stmt{block(count...)}
		}
		body.List = slices.Insert(body.List, at, count...)
	})
	u.File.Decls = append(u.File.Decls, u.more...)
}

// counter returns a pointer to the counter of a function's calls, and the statements that find it. All functions share one
// counter, or else there are several, of which the address of a local variable of the function selects one. Goroutines, which
// have different stacks, then rarely write to the same cache line. Counters are 64 bytes apart.
func (u *Unit) counter() (find []ast.Stmt, counter func() ast.Expr) {
	if !u.counters {
		return nil, func() ast.Expr { return SupportName("Calls") }
	}
	here, left := u.temp("here"), u.temp("left")
	unsafe := ident(u.Import("unsafe"))
	pointer := func(to ast.Expr) ast.Expr {
		return call(&ast.SelectorExpr{X: unsafe, Sel: ident("Pointer")}, &ast.UnaryExpr{Op: token.AND, X: to})
	}
	address := func(shift int64) ast.Expr {
		return &ast.BinaryExpr{X: call(ident("uintptr"), pointer(ident(here.Name))), Op: token.SHR, Y: Int(shift)}
	}
	// Bits 7 to 12 and 13 to 18 of the address select the counter.
	distance := &ast.BinaryExpr{X: &ast.ParenExpr{X: &ast.BinaryExpr{X: address(1), Op: token.XOR, Y: address(7)}}, Op: token.AND, Y: Int((engine.Counters - 1) * 64)}
	at := call(&ast.SelectorExpr{X: unsafe, Sel: ident("Add")}, pointer(&ast.StarExpr{X: SupportName("Counters")}), distance)
	return []ast.Stmt{
		declare(here, ident("byte")),
		define(left, call(&ast.ParenExpr{X: &ast.StarExpr{X: ident("int32")}}, at)),
	}, func() ast.Expr { return ident(left.Name) }
}

// callsCells reports whether a statement calls anything other than conversions, built-in
// functions and functions of compiled packages that cannot call back.
func (u *Unit) callsCells(body ast.Stmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		switch f := ast.Unparen(x.Fun).(type) {
		case *ast.Ident:
			switch o := u.Info.Uses[f].(type) {
			case *types.Builtin, *types.TypeName:
			case *types.Func:
				found = found || o.Pkg() == u.Pkg
			case nil: // made by a rewrite: a call of an interface's method, or int(x)
				found = found || types.Universe.Lookup(f.Name) == nil
			default:
				found = true
			}
		case *ast.SelectorExpr:
			o := u.Info.Uses[f.Sel]
			if fn, ok := o.(*types.Func); ok {
				recv := fn.Signature().Recv()
				found = found || fn.Pkg() == u.Pkg || recv != nil && types.IsInterface(recv.Type()) || u.mayCallBack(fn.Signature(), x.Args)
			} else if _, ok := o.(*types.Var); ok {
				found = true
			}
		case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.InterfaceType, *ast.FuncType:
		default:
			found = true
		}
		return !found
	})
	return found
}

// mayCallBack reports whether a compiled function may call functions of cells that its
// arguments contain.
func (u *Unit) mayCallBack(sig *types.Signature, args []ast.Expr) bool {
	for i, a := range args {
		switch paramType(sig, i).Underlying().(type) {
		case *types.Interface, *types.Signature:
			if t := u.typeOf(a); t == nil || u.hasCode(t) {
				return true
			}
		}
	}
	return false
}

// hasCode reports whether values of a type may hold functions of cells or have methods
// of cells.
func (u *Unit) hasCode(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t.Obj().Pkg() == u.Pkg || types.IsInterface(t)
	case *types.Pointer:
		return u.hasCode(t.Elem())
	case *types.Slice:
		return u.hasCode(t.Elem())
	case *types.Array:
		return u.hasCode(t.Elem())
	case *types.Map:
		return u.hasCode(t.Key()) || u.hasCode(t.Elem())
	case *types.Basic:
		return false
	}
	return true
}
