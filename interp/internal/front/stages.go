package front

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"

	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Shared is what the front end uses of a session, the same for all stages of a cell.
type Shared struct {
	Fset      *token.FileSet
	Ground    token.Pos // position for declarations of earlier cells, whose files may have been released
	Importer  types.Importer
	Std       *Std
	Packages  *Packages
	Instances bool                // the engine knows generic types by their instances, which cannot gain methods later
	Taken     map[string]bool     // names known to the engine
	BySlot    map[string]*Binding // what the session knows, by names in the engine
	Tainted   map[*Binding]bool   // types of which the engine may have seen methods of a rejected cell
	// Failed returns the number of the latest cell that declares a name but did not run, or 0.
	Failed func(name string) int
	// Before returns the number of the latest cell of the notebook's kernel before this one that declares a name, or 0.
	Before func(name string) int
	// AutoImport reports whether a cell can use packages of the standard library without an import.
	AutoImport bool
}

// Input is a cell as it arrives.
type Input struct {
	Session *Shared
	N, Seq  int
	Code    string
	Debug   bool // to be compiled with stops
	Files   *Files
}

// Files are the files that the front end has made from a cell.
type Files struct {
	made   int
	Parsed []*DeclFile
}

// Parsed is a cell cut into items.
type Parsed struct {
	Input
	Pieces   syntax.Pieces
	Imported []string // import paths loaded from source
	Env      *Env     // the session's environment with the cell's imports
}

// Checked is a cell that the type checker has accepted.
type Checked struct {
	*Parsed
	Stmts      *DeclFile
	Body       *ast.FuncDecl
	Decls      []*DeclFile         // declarations of the cell and of dependants
	Repeated   map[*Source]*Source // declarations already in force
	Superseded map[*Binding]bool
	Pinned     map[*Source]string  // dependants that keep the old declarations, and why
	Outs       map[string]*Binding // values of earlier cells that the cell uses, by checker name
	Known      *Env                // the environment of the checker: types that the cell declares are retired
	Pkg        *types.Package
	Info       *types.Info
	byFile     map[*token.File]*DeclFile // of Decls
	newVars    []*types.Var
	standIns   map[string]bool // variables of the cell that its functions use
	// Find returns what the checker knows by a name, besides what the cell mentions. It may be nil.
	Find func(check string) types.Object
	// AutoImported lists the paths of packages that the cell uses without an import.
	AutoImported []string
}

// Declaration returns the declaration of the cell that a position is in, or nil.
func (c *Checked) Declaration(pos token.Pos) *DeclFile {
	if c.byFile == nil {
		c.byFile = map[*token.File]*DeclFile{}
		for _, f := range c.Decls {
			c.byFile[f.Tok] = f
		}
	}
	return c.byFile[c.Session.Fset.File(pos)]
}

// Object returns what the checker knows of a binding, or nil. Other uses of the checker must wait meanwhile.
func (c *Bound) Object(b *Binding) types.Object {
	check := c.Env.Of(b).Check
	if o := c.Pkg.Scope().Lookup(check); o != nil || c.Find == nil {
		return o
	}
	return c.Find(check)
}

// Slotted returns the binding that has a name in the engine, or nil.
func (c *Bound) Slotted(slot string) *Binding {
	if c.made == nil {
		c.made = map[string]*Binding{}
		for _, b := range c.Names {
			c.made[b.Slot] = b
		}
	}
	return cmp.Or(c.made[slot], c.Session.BySlot[slot])
}

// Bound is a cell whose declarations have names in the engine.
type Bound struct {
	*Checked
	Env        *Env // the environment after the cell
	Slots      map[string]bool
	made       map[string]*Binding // of Names, by slot
	Names      map[types.Object]*Binding
	Vars       map[*Binding]types.Object
	localTypes map[types.Object]string // engine names of types declared in functions
	Fresh      []*Binding              // variables with a new slot
	Reused     map[*Binding]bool       // variables that keep their slot
	NewMethods []newMethod
	newHooks   map[*Method]bool
	methodFns  map[*types.Func]*Binding // generic methods of the cell
	Touched    map[*Binding]bool        // types of earlier cells that gain methods
	Hooked     []hooked
	hooks      map[*Binding]bool // of Hooked
	KeepsIn    bool              // the value of In may outlive the cell
	UnitPaths  map[string]bool   // packages that the unit mentions
	flat       bool              // the cell uses packages run from source
}

// Target is what the engine needs of a unit, and the session's state that a unit refers to.
type Target struct {
	Needs     engine.Needs
	Generics  *Generics
	Included  map[string]bool
	Labels    map[string]string
	FirstMark int
	Types     *dynamic.Space
	Variable  func(path, name string) (string, bool)
	Iface     func(path, name string) (lower.Iface, bool)
	Compiled  func(instance string, t types.Type) ast.Expr
	TypeLabel func(*Generics) func(name string, argument bool) string
	Stops     func(*Lowering, *lower.Unit) // nil without the debugger
	Check     func(*lower.Unit) error      // refuses rewritten units that the engine may run wrongly; may be nil
}

// Lowering is a cell on its way to a unit.
type Lowering struct {
	*Bound
	Lowered
	to        *Target
	generated map[*ast.FuncDecl]bool
	methodOf  map[*ast.FuncDecl]*newMethod // of NewMethods
	inits     int
}

// Lowered is what lower makes of a cell.
type Lowered struct {
	Unit       *engine.Unit
	Marks      []lower.Mark
	Labels     map[string]string
	Results    []outValue
	Suspicions []string        // notes on valid code that may mean something else
	Generics   *Generics       // nil if the cell uses no generics
	Included   map[string]bool // standard library source, or nil if the cell uses none
}

// outValue is a slot for a value of the last expression.
type outValue struct {
	Slot string
	Typ  types.Type
	Note string // what the user may have meant, usually ""
}
