package lower

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// deferred keeps the deferred calls of a function in a separate list, which is run when
// the function ends, and recovers from that list: in Yaegi a panic in a deferred call
// skips the others, and recover finds nothing in a method or in a literal that was
// assigned to a variable.
func (u *Unit) deferred() {
	lists := map[*ast.FuncLit]*ast.Ident{} // defer list of the function that defers the literal
	for i, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
		u.File.Decls[i] = astutil.Apply(d, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.FuncDecl:
				if n.Body != nil {
					u.deferList(n.Body, nil, lists)
				}
			case *ast.FuncLit:
				u.deferList(n.Body, lists[n], lists)
			}
			return true
		}, nil).(ast.Decl)
	}
}

// deferList rewrites one function; caller is the list that calls it, or nil if that is
// known only at the call.
func (u *Unit) deferList(body *ast.BlockStmt, caller *ast.Ident, lists map[*ast.FuncLit]*ast.Ident) {
	var own, asked *ast.Ident
	u.inside(body, func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.DeferStmt:
			if u.isBuiltin(n.Call.Fun, "recover") { // a directly deferred recover has no effect
				c.Replace(&ast.EmptyStmt{Semicolon: n.Defer})
			}
		case *ast.CallExpr:
			if d, ok := c.Parent().(*ast.DeferStmt); ok && d.Call == n || !u.isBuiltin(n.Fun, "recover") {
				break
			}
			if caller == nil {
				caller = u.temp("called")
				asked = caller
			}
			c.Replace(u.as(call(&ast.SelectorExpr{X: ident(caller.Name), Sel: ident("Recover")}), n))
		}
	})
	u.inside(body, func(c *astutil.Cursor) {
		d, ok := c.Node().(*ast.DeferStmt)
		if !ok {
			return
		}
		if own == nil {
			own = u.temp("defers")
		}
		list := u.push(d, own, lists)
		if c.Index() < 0 {
			c.Replace(block(list...))
			return
		}
		for _, st := range list[:len(list)-1] {
			c.InsertBefore(st)
		}
		c.Replace(list[len(list)-1])
	})
	var start []ast.Stmt
	if asked != nil {
		start = append(start, define(asked, Support("Called")))
		u.recovering[body] = true
	}
	if own != nil {
		run := call(&ast.SelectorExpr{X: ident(own.Name), Sel: ident("Run")}, call(ident("recover")))
		end := &ast.FuncLit{Type: &ast.FuncType{Func: body.Pos(), Params: &ast.FieldList{}}, Body: block(expr(run))}
		u.made[end] = true
		start = append(start, define(own, Support("Defers")), &ast.DeferStmt{Call: call(end)})
	}
	if len(start) > 0 {
		u.imports = true
		body.List = append(start, body.List...)
	}
}

// push returns statements that evaluate the operands of a defer statement and defer the
// call.
func (u *Unit) push(d *ast.DeferStmt, list *ast.Ident, lists map[*ast.FuncLit]*ast.Ident) []ast.Stmt {
	before, later := u.later(d.Call)
	lit, isLit := ast.Unparen(d.Call.Fun).(*ast.FuncLit)
	isLit = isLit && !u.recovering[lit.Body] // a literal that forwards
	push := call(&ast.SelectorExpr{X: ident(list.Name), Sel: ident("Push")})
	switch {
	case isLit:
		lists[lit] = list
	case !u.harmless(d.Call):
		push = call(&ast.SelectorExpr{X: ident(list.Name), Sel: ident("PushCall")}, Int(1+u.distance(d.Call.Fun))) // with the literal below
	}
	if !isLit || len(later.Args) > 0 || lit.Type.Results.NumFields() > 0 {
		lit = &ast.FuncLit{Type: &ast.FuncType{Func: d.Defer, Params: &ast.FieldList{}}, Body: block(expr(later))}
		u.recovering[lit.Body] = true // called again from behind a barrier, it would be at another distance
	}
	push.Args = append(push.Args, lit)
	return append(before, expr(push))
}

// forwards makes a literal that calls a function in its place say so, as that may recover. distance is that of the function.
func (u *Unit) forwards(lit *ast.FuncLit, distance int64) *ast.FuncLit {
	lit.Body.List = append([]ast.Stmt{expr(Support("Forward", Int(distance)))}, lit.Body.List...)
	u.recovering[lit.Body] = true
	return lit
}

// distance returns the number of calls of interpreted functions from a call of f to that of the function with the body.
func (u *Unit) distance(f ast.Expr) int64 {
	switch f := ast.Unparen(f).(type) {
	case *ast.Ident:
		if slices.Contains(slices.Collect(maps.Values(u.dispatchers)), f.Name) {
			return 3 // the dispatcher calls the interface's method, and that the function
		}
	case *ast.TypeAssertExpr:
		if x, ok := f.X.(*ast.CallExpr); ok && isSupport(x.Fun) && x.Fun.(*ast.SelectorExpr).Sel.Name == "Method" { // of an interface of cells
			return 2
		}
	case *ast.SelectorExpr:
		if s := u.Info.Selections[f]; s != nil && s.Kind() == types.MethodVal { // of an interface of a package
			return 2
		}
	}
	return 1
}

// callsRecover reports whether recover is called in a part of a function, apart from function literals in it.
func (u *Unit) callsRecover(part ast.Node) (found bool) {
	ast.Inspect(part, func(n ast.Node) bool {
		if x, ok := n.(*ast.CallExpr); ok && u.isBuiltin(x.Fun, "recover") {
			found = true
		}
		_, lit := n.(*ast.FuncLit)
		return !lit && !found
	})
	return found
}

// inside calls f for every node of a function, after the node's children, except for nodes
// of the literals in it.
func (u *Unit) inside(body *ast.BlockStmt, f func(c *astutil.Cursor)) {
	astutil.Apply(body, func(c *astutil.Cursor) bool {
		_, lit := c.Node().(*ast.FuncLit)
		return !lit
	}, func(c *astutil.Cursor) bool { f(c); return true })
}

func (u *Unit) isBuiltin(f ast.Expr, name string) bool { return u.builtinName(f) == name }

// builtinName returns the name of the built-in function that f denotes, or "" if it denotes none.
func (u *Unit) builtinName(f ast.Expr) string {
	if id, ok := ast.Unparen(f).(*ast.Ident); ok {
		if b, ok := u.Info.Uses[id].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}
