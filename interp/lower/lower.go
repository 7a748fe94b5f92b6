// Package lower rewrites checked Go trees into Go that a back end runs right. Each
// rewrite is a file of its own and says what it closes; an engine lists the ones
// that it needs. It knows nothing of cells or engines.
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

	"halfnote/interp/internal/dynamic"
)

// Unit is what rewrites work on: one file whose identifiers have the engine's
// names already. Info describes the nodes as the checker saw them; a rewrite that
// replaces an expression hands its type on, so later ones can ask.
type Unit struct {
	File *ast.File
	Fset *token.FileSet
	Pkg  *types.Package
	Info *types.Info
	Seq  int // part of the names of new package-level variables

	// Name writes the name of a type for the engine.
	Name Namer
	// Import makes a package available and returns its name in the unit.
	Import func(path string) string
	// Var makes a pointer to a package's variable available and returns the
	// support symbol that holds it; ok is false if there is no such variable.
	Var func(path, name string) (symbol string, ok bool)
	// Outer is the function that holds the cell's statements.
	Outer *ast.FuncDecl
	// Generated are functions that stand for no code of the user.
	Generated map[*ast.FuncDecl]bool

	// Watched tells which compiled packages ask for the line that calls them; it may
	// be nil.
	Watched func(path string) bool
	// Unmarked tells which functions are not the user's: a panic in one is shown
	// where the user's code calls it. It may be nil.
	Unmarked func(name string) bool
	// Types is what is known of the session's types while cells run.
	Types *dynamic.Space
	// Own reports whether a type is interpreted though it is not of Pkg; it may be nil.
	Own func(types.Object) bool
	// Label is what people call a type, by the engine's name; nil means that names
	// are those of package main.
	Label func(name string) string
	// Instances are the engine's names of instances of generic types, by their text.
	Instances map[string]string
	// Hook returns the variable that holds the latest version of a method, by the
	// engine's name of its type, "" if there is none.
	Hook func(typ, method string) string
	// Iface makes the support functions of a compiled package's interface
	// available; the path of error is "". ok is false if there is no such interface.
	Iface func(path, name string) (f Iface, ok bool)
	// Functions are methods that have become functions, by the name of those.
	Functions map[string]string

	// FirstMark is the number of the first mark.
	FirstMark int
	// Marks are the statements that may fail, in the order of their numbers.
	Marks []Mark

	fresh    int
	imports  bool
	lowered  map[ast.Node]bool
	wrapped  map[*ast.FuncLit]bool
	makers   map[*ast.CallExpr]bool        // calls that make a closure, and cannot fail
	made     map[*ast.FuncLit]bool         // literals around what rewrites add, which need no poll
	around   map[*ast.FuncLit]*ast.FuncLit // the literal that makes a closure of one
	safe     map[ast.Expr]bool             // indexes and slices that have been tested
	markVars map[string]bool
	vars     []ast.Decl
	more     []ast.Decl // functions that rewrites add

	recurses   *recursion
	barriers   bool                    // panics have to be stopped on their way
	recovering map[*ast.BlockStmt]bool // functions that call recover
	opened     map[*ast.BlockStmt]bool // switches that have become blocks

	isPlain     bool                       // types are written for a back end without interfaces
	hoisted     map[*types.TypeName]string // types that functions declare
	named       map[string]*types.Named    // by the engine's name
	expanded    map[*ast.SelectorExpr]int  // how much of the way to what is promoted is written out
	preceded    map[*ast.BlockStmt]bool    // a statement and the switch behind it
	dispatchers map[string]string          // names of helpers and of their variables
	helpers     []ast.Decl
	setup       []ast.Stmt // what runs before anything else in the unit
}

// Mark is a place where a cell may fail.
type Mark struct {
	Pos   token.Pos
	Func  string // the function it is in, if it marks the function's entry
	Whole bool   // the statement that starts at Pos, and not the operation there
	Again string // the function it is in, if it may call that again
}

// Rewrite is a pass over a unit.
type Rewrite struct {
	Name string
	// Closes says what a back end cannot do that asks for the rewrite.
	Closes string
	run    func(*Unit)
}

// Rewrites is the list of all rewrites in the order in which they run.
var Rewrites = []Rewrite{
	{"localtypes", "types that functions declare", (*Unit).localTypes},
	{"constants", "constant expressions, iota, untyped arithmetic", (*Unit).constants},
	{"keys", "literals without field names of structs that another unit declares", (*Unit).keys},
	{"recursive", "structs that refer to themselves by way of others", (*Unit).recursiveTypes},
	{"dotimport", "names of dot imports", (*Unit).dotImports},
	{"streams", "standard streams of the cell that uses them", (*Unit).streams},
	{"instances", "inferred type arguments", (*Unit).instances},
	{"caselabel", "labels in the clauses of switch and select", (*Unit).caseLabels},
	{"interfaces", "methods, interfaces, and the types of what they hold", (*Unit).interfaces},
	{"index", "errors of indexes that name index and length", (*Unit).indexChecks},
	{"shift", "shifts of constants by variables", (*Unit).shifts},
	{"tuple", "results of a call as arguments of built-in functions", (*Unit).tupleArguments},
	{"dropped", "values that nobody looks at", (*Unit).droppedValues},
	{"order", "operands that are read when others have been assigned", (*Unit).operandOrder},
	{"funcvalue", "functions that are returned or named anew", (*Unit).functionValues},
	{"newvalue", "new of a value", (*Unit).newValues},
	{"arraylen", "lengths of arrays behind nil pointers", (*Unit).arrayLengths},
	{"parallel", "operands of parallel assignments", (*Unit).parallelAssigns},
	{"parallellit", "composite literals of parallel assignments", (*Unit).parallelLiterals},
	{"commaok", "second results that are not of type bool", (*Unit).commaOk},
	{"room", "allocations that do not fit into memory", (*Unit).rooms},
	{"concat", "strings that do not fit into memory", (*Unit).concatenations},
	{"elements", "elements of literals that are parts of what compiled code returns", (*Unit).literalElements},
	{"minmax", "min, max, clear", (*Unit).minmax},
	{"switch", "switches over more than basic values, cases of several conditions", (*Unit).switches},
	{"variadic", "interpreted values in variadic interfaces and in literals of compiled slice types", (*Unit).variadics},
	{"wait", "waiting that an interrupt ends", (*Unit).waitCalls},
	{"defer", "deferred calls that panic or call recover", (*Unit).deferred},
	{"rangefunc", "range over functions", (*Unit).rangeFunc},
	{"rangeint", "range over integers", (*Unit).rangeInt},
	{"rangestring", "range over strings", (*Unit).rangeStrings},
	{"rangeassign", "range loops that assign", (*Unit).rangeAssigns},
	{"print", "print and println", (*Unit).prints},
	{"loopvar", "loop variables per iteration", (*Unit).loopVars},
	{"go", "goroutines that belong to a cell and whose panics do not end the process", (*Unit).goStatements},
	{"channel", "channel operations that an interrupt ends, all forms of select", (*Unit).channels},
	{"forinit", "loops of a first clause alone", (*Unit).forInit},
	{"loopdefer", "deferred calls in loops over functions", (*Unit).loopDefers},
	{"packagevar", "variables of compiled packages", (*Unit).packageVars},
	{"recover", "recover that lets interrupts pass", (*Unit).recovers},
	{"closure", "closures that deferred calls call or that outlive their loop's turn", (*Unit).closures},
	{"mark", "lines of panics", (*Unit).statementMarks},
	{"watch", "lines that call the libraries, for who observes these", (*Unit).watches},
	{"barrier", "panics, which it raises anew in every function on their way", func(u *Unit) { u.barriers = true }},
	{"depth", "endless recursion", (*Unit).depth},
	{"poll", "interrupts of loops", (*Unit).polls},
}

// Lower runs the rewrites that needs names. What cannot be rewritten is an
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

// Unsupported says that a construct cannot be rewritten for the engine.
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

// temp returns a name that nothing else in the session has.
func (u *Unit) temp(hint string) *ast.Ident {
	u.fresh++
	return ast.NewIdent(fmt.Sprintf("%s__%d", hint, u.fresh))
}

// typeOf returns the type of an expression, nil if the checker did not see it.
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

// as records that e has the type and value that old had, and returns e.
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
	e, err := TypeExpr(t, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	if u.isPlain {
		e = u.plain(e).(ast.Expr)
	}
	return e
}

// each calls f for every node after its children; f may replace it.
func (u *Unit) each(f func(c *astutil.Cursor)) {
	for i, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
		u.File.Decls[i] = astutil.Apply(d, nil, func(c *astutil.Cursor) bool { f(c); return true }).(ast.Decl)
	}
}

// eachOf is each for the declarations that contain a node for which is holds, which
// is found out in a fraction of the time.
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

// Replace puts what f returns in the place of expressions in n, outer ones first.
// It looks into those for which f returns nil.
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

// funcs calls f for every function body, of declarations and literals.
func (u *Unit) funcs(f func(node ast.Node, t *ast.FuncType, body *ast.BlockStmt)) {
	for _, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			continue
		}
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
}

// NameParams gives a name to parameters that have none and returns all names.
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

// calledFrom gives a call a position: there it was made, if it panics.
func calledFrom(pos token.Pos, x *ast.CallExpr) *ast.CallExpr {
	x.Lparen = pos
	return x
}

func expr(e ast.Expr) ast.Stmt { return &ast.ExprStmt{X: e} }
