package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"halfnote/interp/internal/dynamic"
)

// Unit is the input of rewrites: one file whose identifiers already have the engine's
// names. Info describes the nodes as the checker saw them; a rewrite that replaces an
// expression records its type for later rewrites.
type Unit struct {
	Tree
	Names
	// Functions are methods that have become functions, by the functions' names.
	Functions map[string]string
	// FirstMark is the number of the first mark.
	FirstMark int
	// Marks are the statements that may fail, in the order of their numbers.
	Marks []Mark

	added
	known
	represented
}

// Tree is the file of a unit.
type Tree struct {
	File *ast.File
	Fset *token.FileSet
	Pkg  *types.Package
	Info *types.Info
	Seq  int // part of the names of new package-level variables
	// Outer is the function that holds the cell's statements.
	Outer *ast.FuncDecl
	// Generated are functions that do not come from the user's code.
	Generated map[*ast.FuncDecl]bool
}

// Names tells what a unit may refer to, and under which names.
type Names struct {
	// Name writes the name of a type for the engine.
	Name Namer
	// Import makes a package available and returns its name in the unit.
	Import func(path string) string
	// Var makes a pointer to a package's variable available and returns the
	// support symbol that holds it; ok is false if there is no such variable.
	Var func(path, name string) (symbol string, ok bool)
	// Watched reports whether a compiled package needs to know the line that calls it; it
	// may be nil.
	Watched func(path string) bool
	// Tensors is the path of the package of tensors, or "" if their memory is left to the garbage
	// collector.
	Tensors string
	// Unmarked reports whether a function is not the user's: a panic in it is shown at the
	// user's call of it. It may be nil.
	Unmarked func(name string) bool
	// Types holds the descriptions of the session's types at run time.
	Types *dynamic.Space
	// Own reports whether a type that is not of Pkg is interpreted; it may be nil.
	Own func(types.Object) bool
	// Label returns the name that Go shows for a type by the engine's name, alone or in a type argument; nil
	// means that they are the same.
	Label func(name string, argument bool) string
	// Instances are the engine's names of instances of generic types, by their text.
	Instances map[string]string
	// Hook returns the variable that holds the latest version of a method, by the
	// engine's name of its type; "" if there is none.
	Hook func(typ, method string) string
	// Iface makes the support functions of a compiled package's interface
	// available; the path of error is "". ok is false if there is no such interface.
	Iface func(path, name string) (f Iface, ok bool)
}

// added is what rewrites add to a unit.
type added struct {
	written     map[ast.Expr]types.Type
	fresh       int
	imports     bool
	markVars    map[string]bool
	vars        []ast.Decl
	more        []ast.Decl        // functions
	dispatchers map[string]string // names of helpers and of their variables
	helpers     []ast.Decl
	setup       []ast.Stmt // statements that run before all others in the unit
}

// known is what rewrites have found out about the nodes of a unit, for later ones.
type known struct {
	makers     map[*ast.CallExpr]bool        // calls that make a closure, and cannot fail
	made       map[*ast.FuncLit]bool         // literals around code that rewrites add, which need no poll
	around     map[*ast.FuncLit]*ast.FuncLit // literal that makes the closure of another literal
	safe       map[ast.Expr]bool             // indexes and slices that have been tested
	held       map[types.Object]bool         // variables that function literals and pointers hold
	recurses   *recursion
	idents     map[string]bool           // names that the unit declares
	barriers   bool                      // whether panics must be stopped on their way
	counters   bool                      // whether there are several counters of calls
	turns      bool                      // whether loops count their turns
	untyped    bool                      // whether interfaces of cells are any, as the rewrite "interfaces" makes them
	recovering map[*ast.BlockStmt]bool   // functions that call recover, and literals that call what may be one
	expanded   map[*ast.SelectorExpr]int // number of embedded fields already written out on the path to a promoted one
	preceded   map[*ast.BlockStmt]bool   // blocks of statements and the switch or loop after them
}

// represented holds the types of a unit as the engine sees them.
type represented struct {
	isPlain bool                        // whether types are written for a back end without interfaces
	hoisted map[*types.TypeName]string  // types that functions declare
	params  map[*types.TypeParam]string // names of type parameters in the unit
	named   map[string]*types.Named     // declared types by the engine's name
}
