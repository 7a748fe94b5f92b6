package interp

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/interp/lower"
)

// kind is the kind of thing that a name denotes.
type kind int

const (
	kindVar kind = iota
	kindFunc
	kindType
	kindConst
)

func (k kind) String() string {
	return [...]string{"variable", "function", "type", "constant"}[k]
}

// binding is one meaning of a name of the session. Redeclaring a name makes a new
// binding or, for a variable of the same type, keeps the existing one.
type binding struct {
	name string
	kind kind
	cell int    // number of the declaring cell In[n]
	seq  int    // sequence number of that cell in the session
	slot string // name in the engine, unique in the session
	// check is its name for the type checker: name while it is current, another when a
	// newer version has taken the name and old values still have it.
	check string
	// decls declare it to the checker: a variable's type, a function's header, a type
	// with the headers of its methods.
	decls []ast.Decl
	// idents are the identifiers that denote this binding in decls of any binding.
	idents []*ast.Ident
	// paths holds the packages that decls mention.
	paths   map[string]bool
	typ     string // type as users see it
	src     *source
	methods map[string]*method
	generic bool
	// hook is the engine's variable through which function literals call the function,
	// empty as long as none does.
	hook string
	// captured reports whether code that outlives its cell may hold the variable.
	captured bool
	// tainted reports whether the engine may have seen methods of the type that a
	// rejected cell declared.
	tainted bool
	// onlyShown reports whether only shown values of cells still have this old version
	// of a type.
	onlyShown bool
}

// method is a method of a session type. The engine's method calls through a variable,
// so that a new body also serves existing values.
type method struct {
	name   string
	typ    *binding
	header *ast.FuncDecl // declaration for the checker
	paths  map[string]bool
	sig    string
	hook   string // the engine's variable
	cell   int
	src    *source
}

// source is a declaration as written. It is compiled again when something that it uses
// is redeclared.
type source struct {
	cell int
	item item
	norm string
	// pkgs maps each package name, by its offset in the text, to its import path.
	pkgs map[int]string
	// names maps each package name to its import path.
	names map[string]string
	uses  map[*binding]bool
	stops bool // compiled with stops for the debugger
	// binds and methods are its declarations that are still in force.
	binds   []*binding
	methods []*method
}

// env maps names to their meanings. A cell works on a copy, which takes effect when the
// cell has been accepted.
type env struct {
	cur     map[string]*binding
	old     []*binding        // types replaced by newer versions
	imports map[string]string // name to path, from the session's import declarations
	dots    []string          // paths of dot imports
}

func newEnv() *env {
	return &env{cur: map[string]*binding{}, imports: map[string]string{}}
}

func (e *env) clone() *env {
	return &env{maps.Clone(e.cur), slices.Clone(e.old), maps.Clone(e.imports), slices.Clone(e.dots)}
}

// byCheck returns the binding with the given name in the checker.
func (e *env) byCheck(name string) *binding {
	if b := e.cur[name]; b != nil && b.check == name {
		return b
	}
	for _, b := range e.old {
		if b.check == name {
			return b
		}
	}
	return nil
}

// sources lists all sources that can be compiled again, in the order of cells.
func (e *env) sources() []*source {
	seen := map[*source]bool{}
	var list []*source
	add := func(s *source) {
		if s != nil && !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	for _, b := range e.cur {
		add(b.src)
		for _, m := range b.methods {
			add(m.src)
		}
	}
	slices.SortFunc(list, func(a, b *source) int {
		if a.cell != b.cell {
			return a.cell - b.cell
		}
		if a.item.line != b.item.line {
			return a.item.line - b.item.line
		}
		return strings.Compare(a.item.text, b.item.text)
	})
	return list
}

// rename changes the binding's name for the checker, everywhere.
func (b *binding) rename(name string) {
	b.check = name
	for _, id := range b.idents {
		id.Name = name
	}
}

// alias returns the name under which trees import a package.
func alias(path string) string { return library.Alias(path) }

// importDecl declares packages under their aliases.
func importDecl(paths map[string]bool) *ast.GenDecl {
	d := &ast.GenDecl{Tok: token.IMPORT, Lparen: 1, Rparen: 1}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		d.Specs = append(d.Specs, importSpec(alias(p), p))
	}
	return d
}

func importSpec(name, path string) *ast.ImportSpec {
	return &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: fmt.Sprintf("%q", path)}}
}

// header returns the declaration of o for the checker, without bodies.
func header(o types.Object, name lower.Namer) ([]ast.Decl, error) {
	id := ast.NewIdent(o.Name())
	switch o := o.(type) {
	case *types.Var:
		t, err := lower.TypeExpr(o.Type(), name)
		return []ast.Decl{&ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}, Type: t}}}}, err
	case *types.Const:
		v := &ast.ValueSpec{Names: []*ast.Ident{id}, Values: []ast.Expr{lower.Constant(o.Val())}}
		var err error
		if b, ok := o.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			v.Type, err = lower.TypeExpr(o.Type(), name)
		} else if b.Kind() == types.UntypedRune {
			v.Values[0] = untypedRune(o.Val())
		}
		return []ast.Decl{&ast.GenDecl{Tok: token.CONST, Specs: []ast.Spec{v}}}, err
	case *types.Func:
		f, err := funcHeader(o, nil, name)
		return []ast.Decl{f}, err
	case *types.TypeName:
		spec := &ast.TypeSpec{Name: id}
		var err error
		if a, ok := o.Type().(*types.Alias); ok {
			spec.Assign = 1
			if spec.TypeParams, err = lower.TypeParams(a.TypeParams(), name); err == nil {
				spec.Type, err = lower.TypeExpr(a.Rhs(), name)
			}
		} else {
			n := o.Type().(*types.Named)
			if spec.TypeParams, err = lower.TypeParams(n.TypeParams(), name); err == nil {
				spec.Type, err = lower.TypeExpr(n.Underlying(), name)
			}
		}
		return []ast.Decl{&ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{spec}}}, err
	}
	return nil, fmt.Errorf("%s cannot be declared", o)
}

func untypedRune(v constant.Value) ast.Expr {
	n, _ := constant.Int64Val(v)
	return &ast.BinaryExpr{X: &ast.BasicLit{Kind: token.CHAR, Value: `'\x00'`}, Op: token.ADD, Y: lower.Int(n)}
}

// funcHeader returns the header of a function or of a method, whose receiver type recv
// is the binding's identifier.
func funcHeader(f *types.Func, recv ast.Expr, name lower.Namer) (*ast.FuncDecl, error) {
	sig := f.Signature()
	t, err := lower.FuncType(sig, name)
	if err != nil {
		return nil, err
	}
	d := &ast.FuncDecl{Name: ast.NewIdent(f.Name()), Type: t}
	if sig.TypeParams().Len() > 0 {
		if t.TypeParams, err = lower.TypeParams(sig.TypeParams(), name); err != nil {
			return nil, err
		}
	}
	if recv != nil {
		d.Recv = &ast.FieldList{Opening: 1, Closing: 1, List: []*ast.Field{{Names: []*ast.Ident{ast.NewIdent("_")}, Type: recv}}}
	}
	if sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
		// The checker requires a body for generic functions.
		d.Body = &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{
			Fun: ast.NewIdent("panic"), Args: []ast.Expr{lower.Int(0)},
		}}}}
	}
	return d, nil
}
