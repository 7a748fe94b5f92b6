package native

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// inRegisters rewrites loops of the entry function, so that numbers of the session which they
// change stay in registers. Without it each iteration waits for the value that the one before has
// written to memory. The variable is still written at once, so that it has its value after a panic
// or an interrupt:
//
//	for … { sum += i }    { l__sum := sum; for … { l__sum += i; sum = l__sum } }
//
// A loop qualifies if only its own assignments can change the variables: it writes through no pointer,
// takes no address, and calls nothing that may call back, and nothing of cells but small function
// literals that variables are known to hold. Such a literal becomes part of the loop (literals.go).
func inRegisters(d ast.Decl, info *types.Info, entry string, literals map[string]*ast.FuncLit) {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Name.Name != entry {
		return
	}
	h := &holder{info: info, local: map[string]bool{}, literals: literals, assigned: map[string]bool{}}
	ast.Inspect(f.Body, h.declared)
	if !h.jumps {
		h.list(f.Body.List)
	}
}

// holder rewrites the loops of a function.
type holder struct {
	info  *types.Info
	local map[string]bool // names that the function declares, outside of function literals
	jumps bool            // whether the function has a goto statement

	literals map[string]*ast.FuncLit // those that variables hold once they are assigned
	assigned map[string]bool         // variables that statements before have assigned
}

// declared notes the names that a node declares outside of function literals.
func (h *holder) declared(n ast.Node) bool {
	note := func(list ...ast.Expr) {
		for _, x := range list {
			if id, ok := x.(*ast.Ident); ok {
				h.local[id.Name] = true
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncLit:
		return false
	case *ast.BranchStmt:
		h.jumps = h.jumps || n.Tok == token.GOTO
	case *ast.AssignStmt:
		if n.Tok == token.DEFINE {
			note(n.Lhs...)
		}
	case *ast.RangeStmt:
		if n.Tok == token.DEFINE {
			note(n.Key, n.Value)
		}
	case *ast.ValueSpec:
		for _, id := range n.Names {
			note(id)
		}
	case *ast.Field:
		for _, id := range n.Names {
			note(id)
		}
	}
	return true
}

// list rewrites the outermost loops that qualify in a list of statements.
func (h *holder) list(list []ast.Stmt) {
	for i, s := range list {
		loop := s
		if l, ok := s.(*ast.LabeledStmt); ok {
			loop = l.Stmt
		}
		switch loop := loop.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if held, called := h.held(loop); len(held) > 0 {
				list[i] = h.hold(s, held, called)
				continue
			}
		case *ast.AssignStmt:
			h.assign(loop)
		}
		ast.Inspect(loop, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.BlockStmt:
				h.list(n.List)
				return false
			case *ast.CaseClause:
				h.list(n.Body)
				return false
			}
			return true
		})
	}
}

// held returns the names of the variables that a loop changes, and of those that hold the
// literals which it calls, if it qualifies.
func (h *holder) held(loop ast.Stmt) (held, called []string) {
	names, not, calls := map[string]bool{}, map[string]bool{}, map[string]bool{}
	ok := true
	// assigned notes a target; in a list of statements, a statement can follow that writes the variable.
	assigned := func(x ast.Expr, inList bool) {
		ok = ok && h.isSafe(x)
		if id := root(x); id != nil && h.isNumber(id) && inList {
			names[id.Name] = true
		} else if id != nil {
			not[id.Name] = true
		}
	}
	inLists := map[ast.Stmt]bool{}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			for _, s := range n.List {
				inLists[s] = true
			}
		case *ast.CaseClause:
			for _, s := range n.Body {
				inLists[s] = true
			}
		case *ast.AssignStmt:
			plain := len(n.Lhs) == 1 || !slices.ContainsFunc(n.Lhs, func(x ast.Expr) bool { _, isName := x.(*ast.Ident); return !isName })
			for _, x := range n.Lhs {
				if n.Tok != token.DEFINE {
					assigned(x, inLists[n] && plain)
				}
			}
		case *ast.IncDecStmt:
			assigned(n.X, inLists[n])
		case *ast.RangeStmt:
			ok = ok && h.isData(n.X)
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if x != nil && n.Tok == token.ASSIGN {
					assigned(x, false)
				}
			}
		case *ast.CallExpr:
			if id, lit := h.literal(n.Fun); lit == nil {
				ok = ok && h.isQuiet(n.Fun)
			} else if !calls[id.Name] {
				calls[id.Name] = true
				maps.Copy(not, h.declaredIn(lit))
				ast.Inspect(lit.Body, visit)
			}
		case *ast.UnaryExpr:
			ok = ok && n.Op != token.AND && n.Op != token.ARROW
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt, *ast.SelectStmt:
			ok = false
		}
		return ok
	}
	ast.Inspect(loop, visit)
	maps.DeleteFunc(names, func(name string, _ bool) bool { return not[name] || h.local[name] })
	if !ok {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(calls))
}

// root returns the variable that a target belongs to, or nil if it is an element of another value.
func root(x ast.Expr) *ast.Ident {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return root(x.X)
	}
	return nil
}

// isSafe reports whether a write to a target changes no other variable.
func (h *holder) isSafe(x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident, *ast.IndexExpr:
		return true
	case *ast.SelectorExpr:
		tv, ok := h.info.Types[x.X]
		if !ok {
			return false
		}
		_, isPointer := tv.Type.Underlying().(*types.Pointer)
		return !isPointer && h.isSafe(x.X)
	}
	return false
}

// isNumber reports whether a variable is a number, a truth value, or a small struct of these.
func (h *holder) isNumber(id *ast.Ident) bool {
	v, ok := h.info.ObjectOf(id).(*types.Var)
	if !ok {
		return false
	}
	const fields = 4 // the compiler keeps larger structs in memory
	if s, ok := v.Type().Underlying().(*types.Struct); ok && s.NumFields() <= fields {
		for f := range s.Fields() {
			if !isScalar(f.Type()) {
				return false
			}
		}
		return true
	}
	return isScalar(v.Type())
}

func isScalar(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// isData reports whether a loop over x runs no code of cells and waits for nothing.
func (h *holder) isData(x ast.Expr) bool {
	tv, ok := h.info.Types[x]
	if !ok {
		return false
	}
	switch tv.Type.Underlying().(type) {
	case *types.Signature, *types.Chan, *types.TypeParam, *types.Interface:
		return false
	}
	return true
}

// quiet are packages whose functions run no code of cells and change no variable of theirs.
var quiet = []string{"math", "math/bits", "math/cmplx", "strconv", "unicode", "unicode/utf8"}

// support are functions of the session that loops call and that run no code of cells.
var support = []string{"b__kernel____Poll", "b__kernel____At", "b__kernel____Room"}

// isQuiet reports whether a call is a conversion, or of a function that cannot run code of cells.
func (h *holder) isQuiet(fun ast.Expr) bool {
	if h.info.Types[fun].IsType() || h.info.Types[fun].IsBuiltin() {
		return true
	}
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return types.Universe.Lookup(f.Name) != nil && h.info.Uses[f] == nil || slices.Contains(support, f.Name)
	case *ast.SelectorExpr:
		fn, ok := h.info.Uses[f.Sel].(*types.Func)
		return ok && fn.Signature().Recv() == nil && slices.Contains(quiet, fn.Pkg().Path())
	}
	return false
}

// prefix begins the name of the local variable that stands for one of the session.
const prefix = "l__"

// hold returns a loop with local variables in place of those that are held, and of those that
// hold the literals which it calls.
func (h *holder) hold(loop ast.Stmt, held, called []string) ast.Stmt {
	block := &ast.BlockStmt{}
	local := func(name string, value ast.Expr) {
		block.List = append(block.List, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent(prefix + name)}, Tok: token.DEFINE, Rhs: []ast.Expr{value}})
	}
	for _, name := range held {
		local(name, ast.NewIdent(name))
	}
	for _, name := range called {
		lit := h.copied(name)
		h.rename(lit.Body, held)
		local(name, lit)
	}
	callLocal(loop, called)
	h.rename(loop, held)
	block.List = append(block.List, loop)
	return block
}

// rename puts local variables in place of those that are held.
func (h *holder) rename(n ast.Node, held []string) {
	astutil.Apply(n, func(c *astutil.Cursor) bool {
		id, ok := c.Node().(*ast.Ident)
		if ok && slices.Contains(held, id.Name) && c.Name() != "Sel" && c.Name() != "Label" && !(c.Name() == "Key" && h.isField(id)) {
			c.Replace(&ast.Ident{NamePos: id.NamePos, Name: prefix + id.Name})
		}
		return true
	}, nil)
	astutil.Apply(n, nil, func(c *astutil.Cursor) bool {
		var targets []ast.Expr
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			targets = n.Lhs
		case *ast.IncDecStmt:
			targets = []ast.Expr{n.X}
		}
		for _, x := range targets {
			if id := root(x); id != nil && strings.HasPrefix(id.Name, prefix) && c.Index() >= 0 {
				c.InsertAfter(&ast.AssignStmt{Lhs: []ast.Expr{outside(x)}, Tok: token.ASSIGN, Rhs: []ast.Expr{x}})
			}
		}
		return true
	})
}

// isField reports whether the key in a literal is a name of a field.
func (h *holder) isField(key *ast.Ident) bool {
	v, ok := h.info.Uses[key].(*types.Var)
	return !ok || v.IsField()
}

// outside returns a target in the variable of the session that a local one stands for.
func outside(x ast.Expr) ast.Expr {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return &ast.SelectorExpr{X: outside(x.X), Sel: x.Sel}
	case *ast.Ident:
		return ast.NewIdent(strings.TrimPrefix(x.Name, prefix))
	}
	return x
}
