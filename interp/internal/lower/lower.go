// Package lower rewrites checked Go trees into Go that a back end runs correctly. Each
// rewrite has its own file, which names the gap that it closes; an engine lists the rewrites
// that it needs. The package knows nothing about cells or engines.
package lower

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Mark is a place where a cell may fail.
type Mark struct {
	Pos   token.Pos
	Func  string // enclosing function, if it marks the function's entry
	Whole bool   // whether it is the statement that starts at Pos, and not the operation there
	Again string // enclosing function, if the mark may call it again
	Kept  []Kept // local variables whose values are stored before the statement
}

// Rewrite is a pass over a unit.
type Rewrite struct {
	Name string
	gap  string // what an engine lacks without it
	run  func(*Unit)
}

// Rewrites is the list of all rewrites in the order in which they run.
var Rewrites = []Rewrite{
	{"functypes", "names of generic func types", (*Unit).functionTypes},
	{"lifetimes", "early releases of tensors", (*Unit).lifetimes},
	{"dotimport", "names of dot imports", (*Unit).dotImports},
	{"localtypes", "types that functions declare", (*Unit).localTypes},
	{"parentheses", "types in parentheses", (*Unit).bareTypes},
	{"variabletypes", "types of package variables with names of fields or parameters", (*Unit).variableTypes},
	{"constants", "constant expressions, iota, untyped arithmetic", (*Unit).constants},
	{"promoted", "promoted fields in composite literals", (*Unit).promotedFields},
	{"streams", "standard streams of the cell that uses them", (*Unit).streams},
	{"instances", "generics of compiled packages", (*Unit).instances},
	{"labelnames", "labels with the names of variables", (*Unit).labelNames},
	{"caselabel", "labels in the clauses of switch and select", (*Unit).caseLabels},
	{"late", "variables that operands compute with and later calls change", (*Unit).lateReads},
	{"rangeassign", "range loops that assign", (*Unit).rangeAssigns},
	{"interfaces", "methods, interfaces, and the types of what they hold", (*Unit).interfaces},
	{"interfaceexpr", "method expressions of compiled interfaces", (*Unit).interfaceExprs},
	{"index", "indexes that cannot fail, which need no marks", (*Unit).safeIndexes},
	{"nilfirst", "comparisons that begin with nil", (*Unit).nilOperands},
	{"shift", "shifts of constants by variables", (*Unit).shifts},
	{"tuple", "results of a call as arguments of built-in functions", (*Unit).tupleArguments},
	{"dropped", "unused values", (*Unit).droppedValues},
	{"results", "named results that begin with zero", (*Unit).namedResults},
	{"order", "elements that are appended to a part of the slice that holds them", (*Unit).operandOrder},
	{"newvalue", "new of a value", (*Unit).newValues},
	{"fresh", "variables that literals and second results define, one for each execution", (*Unit).freshLiterals},
	{"arraylen", "lengths of arrays behind nil pointers, indexes of arrays without elements", (*Unit).arrayLengths},
	{"room", "allocations that exceed memory", (*Unit).rooms},
	{"concat", "strings that exceed memory", (*Unit).concatenations},
	{"minmax", "min, max, clear", (*Unit).minmax},
	{"empty", "empty statements in clauses", (*Unit).emptyStatements},
	{"switch", "switches over computed cases, cases of several conditions, a default clause that is not the last", (*Unit).switches},
	{"logical", "operands of && and || that begin with a type", (*Unit).logicals},
	{"variadic", "interpreted values in variadic interfaces and in literals of compiled slice types", (*Unit).variadics},
	{"elements", "elements of literals that are parts of results of compiled code", (*Unit).literalElements},
	{"wait", "interruptible waiting", (*Unit).waitCalls},
	{"defer", "deferred calls that panic or call recover", (*Unit).deferred},
	{"rangevalue", "range loops whose value variable is a channel", (*Unit).rangeValues},
	{"rangefunc", "range over functions", (*Unit).rangeFunc},
	{"rangeint", "range over integers", (*Unit).rangeInt},
	{"rangestring", "range over strings", (*Unit).rangeStrings},
	{"assign", "assignments in which an operand depends on another, or is a literal or of an interface type", (*Unit).assignments},
	{"return", "operands of return that calls compute", (*Unit).returns},
	{"funcvalue", "functions that are returned or assigned to variables", (*Unit).functionValues},
	{"print", "print and println", (*Unit).prints},
	{"loopvar", "loop variables per iteration", (*Unit).loopVars},
	{"go", "goroutines that belong to a cell and whose panics do not end the process", (*Unit).goStatements},
	{"channel", "interruptible channel operations, all forms of select", (*Unit).channels},
	{"forinit", "loops with only an init statement", (*Unit).forInit},
	{"packagevar", "variables of compiled packages", (*Unit).packageVars},
	{"recover", "recover that lets interrupts pass", (*Unit).recovers},
	{"closure", "closures that deferred calls call or that outlive their loop iteration", (*Unit).closures},
	{"mark", "lines of panics", (*Unit).statementMarks},
	{"watch", "lines that call the libraries, for observers", (*Unit).watches},
	{"barrier", "panics, which the back end raises again in every function on their way", func(u *Unit) { u.barriers = true }},
	{"counters", "counters of calls that goroutines do not share", func(u *Unit) { u.counters = true }},
	{"turns", "loops that run alone", func(u *Unit) { u.turns = true }},
	{"depth", "endless recursion", (*Unit).depth},
	{"poll", "interrupts of loops", (*Unit).polls},
}

// Lower runs the rewrites named in needs. A construct that cannot be rewritten is an
// *Unsupported.
func (u *Unit) Lower(needs []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			x, ok := r.(*Unsupported)
			if !ok {
				panic(r)
			}
			err = x
		}
	}()
	u.markVars, u.made, u.safe = map[string]bool{}, map[*ast.FuncLit]bool{}, map[ast.Expr]bool{}
	u.recovering = map[*ast.BlockStmt]bool{}
	u.expanded, u.preceded, u.dispatchers = map[*ast.SelectorExpr]int{}, map[*ast.BlockStmt]bool{}, map[string]string{}
	if u.Generated == nil {
		u.Generated = map[*ast.FuncDecl]bool{}
	}
	for _, r := range Rewrites {
		if slices.Contains(needs, r.Name) && !(raced && r.Name == "mark") {
			r.run(u)
		}
	}
	u.File.Decls = append(u.vars, u.File.Decls...)
	if u.imports {
		u.Import(SupportPath)
	}
	return nil
}

// Unsupported reports a construct that cannot be rewritten for the engine.
type Unsupported struct {
	Pos  token.Pos
	What string
}

func (x *Unsupported) Error() string { return x.What }

func (u *Unit) unsupported(n interface{ Pos() token.Pos }, format string, args ...any) {
	panic(&Unsupported{n.Pos(), fmt.Sprintf(format, args...)})
}

// SupportPath is the import path of the functions that rewritten code calls. Cells
// cannot import it.
const SupportPath = "kernel__"

// Support returns a call of a support function.
func Support(name string, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: SupportName(name), Args: args}
}

// SupportName returns the name of a support symbol.
func SupportName(name string) ast.Expr {
	return &ast.SelectorExpr{X: ast.NewIdent("p__kernel__"), Sel: ast.NewIdent(name)}
}

// temp returns a name that is unique in the session.
func (u *Unit) temp(hint string) *ast.Ident {
	u.fresh++
	return ast.NewIdent(fmt.Sprintf("%s__%d", hint, u.fresh))
}

// typeOf returns the type of an expression, or nil if the checker did not see it.
func (u *Unit) typeOf(e ast.Expr) types.Type {
	if tv, ok := u.Info.Types[e]; ok {
		return tv.Type
	}
	if id, ok := e.(*ast.Ident); ok {
		if o := u.objectOf(id); o != nil {
			return o.Type()
		}
	}
	return nil
}

func (u *Unit) objectOf(id *ast.Ident) types.Object {
	if o := u.Info.Uses[id]; o != nil {
		return o
	}
	return u.Info.Defs[id]
}

// as records that e has the type and value of old, and returns e.
func (u *Unit) as(e, old ast.Expr) ast.Expr {
	if tv, ok := u.Info.Types[old]; ok {
		u.Info.Types[e] = tv
	}
	return e
}

// typed records that e is a value of type t, and returns e.
func (u *Unit) typed(e ast.Expr, t types.Type) ast.Expr {
	u.Info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

// typeExpr writes a type for the engine.
func (u *Unit) typeExpr(at ast.Node, t types.Type) ast.Expr {
	w := typeWriter{name: u.Name, params: u.paramNames()}
	e := w.expr(t)
	if w.err != nil {
		u.unsupported(at, "%v", w.err)
	}
	if u.isPlain {
		e = u.plain(e).(ast.Expr)
	}
	if u.written == nil {
		u.written = map[ast.Expr]types.Type{}
	}
	u.written[e] = t
	return e
}

// paramNames returns the names of the type parameters in the unit, which differ from their own where those would hide a type.
func (u *Unit) paramNames() map[*types.TypeParam]string {
	if u.params == nil {
		u.params = map[*types.TypeParam]string{}
		for id, o := range u.Info.Defs {
			if o, ok := o.(*types.TypeName); ok {
				if p, ok := o.Type().(*types.TypeParam); ok {
					u.params[p] = id.Name
				}
			}
		}
	}
	return u.params
}

// Written returns the type that a rewrite has written as an expression, or nil.
func (u *Unit) Written(e ast.Expr) types.Type { return u.written[e] }

// each calls f for every node after its children; f may replace it.
func (u *Unit) each(f func(c *astutil.Cursor)) {
	for i, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
		u.File.Decls[i] = astutil.Apply(d, nil, func(c *astutil.Cursor) bool { f(c); return true }).(ast.Decl)
	}
}

// eachOf is each, limited to the declarations that contain a node for which is returns true.
// The search takes a fraction of the time of each.
func (u *Unit) eachOf(is func(ast.Node) bool, f func(c *astutil.Cursor)) {
	for i, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
		found := false
		ast.Inspect(d, func(n ast.Node) bool {
			found = found || n != nil && is(n)
			return !found
		})
		if found {
			u.File.Decls[i] = astutil.Apply(d, nil, func(c *astutil.Cursor) bool { f(c); return true }).(ast.Decl)
		}
	}
}

func isA[T ast.Node](n ast.Node) bool {
	_, ok := n.(T)
	return ok
}

// callsBuiltin returns a function that reports whether a node is a call of one of the
// built-in functions.
func (u *Unit) callsBuiltin(names ...string) func(ast.Node) bool {
	return func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		return ok && slices.ContainsFunc(names, func(name string) bool { return u.isBuiltin(x.Fun, name) })
	}
}

// Replace replaces expressions in n by the results of f, outer ones first. It descends into
// an expression if f returns nil for it.
func Replace(n ast.Node, f func(ast.Expr) ast.Expr) {
	astutil.Apply(n, func(c *astutil.Cursor) bool {
		e, ok := c.Node().(ast.Expr)
		if !ok {
			return true
		}
		x := f(e)
		if x != nil {
			c.Replace(x)
		}
		return x == nil
	}, nil)
}

// funcs calls f for every function body of the user, of declarations and literals.
func (u *Unit) funcs(f func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt)) {
	for _, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); !ok || !u.Generated[fd] {
			funcsOf(d, f)
		}
	}
}

// funcsOf is funcs for one declaration.
func funcsOf(d ast.Decl, f func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt)) {
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				f(n, n.Type, n.Body)
			}
		case *ast.FuncLit:
			f(n, n.Type, n.Body)
		}
		return true
	})
}

// NameParams names the unnamed parameters and returns all names.
func NameParams(list *ast.FieldList) []*ast.Ident {
	var all []*ast.Ident
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		if len(f.Names) == 0 {
			f.Names = []*ast.Ident{ast.NewIdent("_")}
		}
		all = append(all, f.Names...)
	}
	return all
}

// Print writes a tree as Go source.
func Print(n ast.Node) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, token.NewFileSet(), n); err != nil {
		return fmt.Sprint("/* ", err, " */")
	}
	return strings.TrimSpace(b.String())
}

func ident(name string) *ast.Ident { return ast.NewIdent(name) }

func block(list ...ast.Stmt) *ast.BlockStmt { return &ast.BlockStmt{List: list} }

func assign(lhs, rhs ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{lhs}, Tok: token.ASSIGN, Rhs: []ast.Expr{rhs}}
}

func define(lhs, rhs ast.Expr) *ast.AssignStmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{lhs}, Tok: token.DEFINE, Rhs: []ast.Expr{rhs}}
}

func declare(name *ast.Ident, t ast.Expr) ast.Stmt {
	return &ast.DeclStmt{Decl: &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{name}, Type: t},
	}}}
}

func call(f ast.Expr, args ...ast.Expr) *ast.CallExpr { return &ast.CallExpr{Fun: f, Args: args} }

// calledFrom sets the position of a call, which messages show if the call panics.
func calledFrom(pos token.Pos, x *ast.CallExpr) *ast.CallExpr {
	x.Lparen = pos
	return x
}

func expr(e ast.Expr) ast.Stmt { return &ast.ExprStmt{X: e} }
