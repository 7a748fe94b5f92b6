package assist

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/syntax"
)

// probe is a cell that a user is writing, type-checked as far as its mistakes allow.
type probe struct {
	Snapshot
	pkg  *types.Package
	find func(name string) types.Object // see Package
	info types.Info
	pos  token.Pos // position of the cursor
	// path is the list of nodes from the innermost one at the cursor to the file.
	path []ast.Node
	// missing maps names to the packages that would have to be imported, the likeliest
	// first.
	missing map[string][]string
}

// maxErrors is the length of the texts of errors after which a cell is not examined further. A text may hold the rest of
// the cell, so the texts of nested errors grow with the square of their number.
const maxErrors = 1 << 17

// newProbe checks a cell. cursor is a byte offset into code. The checker knows names of earlier cells that the cell mentions,
// and further ones.
func newProbe(snap Snapshot, code string, cursor int, further map[string]bool) (p *probe) {
	snap.Checking.Lock()
	defer snap.Checking.Unlock()
	p = &probe{Snapshot: snap, missing: map[string][]string{}, info: types.Info{
		Types:      map[ast.Expr]types.TypeAndValue{},
		Defs:       map[*ast.Ident]types.Object{},
		Uses:       map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
		Scopes:     map[ast.Node]*types.Scope{},
	}}
	code = syntax.BlankMagic(code)
	items := syntax.Split(code).Items
	text, at := p.arrange(code, items, cursor)
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "cell", text, syntax.ParseMode)
	if err != nil { // the parser skips code after a mistake: leave out broken items elsewhere
		items = slices.DeleteFunc(items, func(it syntax.Item) bool { return !it.Holds(cursor) && it.Broken() })
		text, at = p.arrange(code, items, cursor)
		file, _ = parser.ParseFile(fset, "cell", text, syntax.ParseMode)
	}
	if file == nil || !file.Package.IsValid() || at < 0 || syntax.TooDeep(file).IsValid() {
		return p
	}
	p.pos = fset.File(file.Package).Pos(at)
	var stack []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			if len(stack) > len(p.path) {
				p.path = slices.Clone(stack)
			}
			stack = stack[:len(stack)-1]
			return false
		}
		if p.pos < n.Pos() || p.pos > n.End() {
			return false
		}
		stack = append(stack, n)
		return true
	})
	slices.Reverse(p.path)
	instead := p.nameOutputs(file)

	names := maps.Clone(further)
	if names == nil {
		names = map[string]bool{}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names[id.Name] = true
		}
		return true
	})
	earlier := func(names map[string]bool, known func(string) bool) *ast.File {
		f, _ := parser.ParseFile(fset, "prelude", snap.Earlier.File(names, known), parser.SkipObjectResolution)
		return f
	}
	prelude := earlier(names, func(string) bool { return false })

	length := 0
	cfg := types.Config{Importer: snap.Importer, DisableUnusedImportCheck: true, Error: func(err error) {
		if length += len(err.Error()); length > maxErrors {
			panic("not Go")
		}
	}}
	defer func() {
		if recover() != nil { // go/types panics on some trees that the parser has repaired, too
			p.pkg, p.info = types.NewPackage("main", "main"), types.Info{} // what it has found so far may lack types
			p.find = func(string) types.Object { return nil }
		}
	}()
	if syntax.Doubling([]*ast.File{file, prelude}, func(string) ast.Expr { return nil }) != nil {
		panic("not Go")
	}
	// The cell comes first, so that its redeclarations win.
	p.pkg = types.NewPackage("main", "main")
	checker := types.NewChecker(&cfg, fset, p.pkg, &p.info)
	_ = checker.Files([]*ast.File{file, prelude})
	p.find = func(name string) (o types.Object) {
		defer func() { _ = recover() }()
		known := func(name string) bool { return p.pkg.Scope().Lookup(name) != nil }
		_ = checker.Files([]*ast.File{earlier(map[string]bool{name: true}, known)})
		return p.pkg.Scope().Lookup(name)
	}
	for id, to := range instead { // the cursor may be at the replaced identifier
		if o := p.info.Uses[to]; o != nil {
			p.info.Uses[id] = o
		}
	}
	return p
}

// arrange makes one file of the cell: imports, declarations, and the statements in a
// function. It returns the offset of the cursor in the file, or -1 if the cursor is between
// items.
func (p *probe) arrange(code string, items []syntax.Item, cursor int) (text string, at int) {
	var b strings.Builder
	at = -1
	write := func(it syntax.Item) {
		if it.Holds(cursor) {
			at = b.Len() + cursor - it.Off
		}
		b.WriteString(it.Text + "\n")
	}
	hidden := map[string]bool{}
	for _, it := range items {
		if it.Kind == syntax.Decl {
			for _, name := range syntax.DeclaredIn(it.Text) {
				hidden[name] = true
			}
		}
	}
	b.WriteString("package main\n")
	for _, it := range items {
		if it.Kind == syntax.Import {
			write(it)
			for _, name := range p.imported(it.Text) {
				hidden[name] = true
			}
		}
	}
	used := syntax.Words(code)
	for name, path := range p.Imports {
		if used[name] && !hidden[name] && !p.Earlier.Declares(name) {
			fmt.Fprintf(&b, "import %s %q\n", name, path)
		}
	}
	for name := range used { // imports the packages whose imports are missing
		if paths := exports.Named(name); len(paths) > 0 && !hidden[name] && !p.Earlier.Declares(name) && p.Imports[name] == "" && strings.Contains(code, name+".") {
			fmt.Fprintf(&b, "import %s %q\n", name, paths[0])
			p.missing[name] = paths
		}
	}
	for _, path := range p.Dots {
		fmt.Fprintf(&b, "import . %q\n", path)
	}
	for _, it := range items {
		if it.Kind == syntax.Decl {
			write(it)
		}
	}
	b.WriteString("func cell__() {\n")
	for _, it := range items {
		if it.Kind == syntax.Statement {
			write(it)
			b.WriteString(";\n") // ends an incomplete statement
		}
	}
	b.WriteString("}\n")
	return b.String(), at
}

// checked returns the package of the cell.
func (p *probe) checked() Package { return Package{p.pkg, p.find} }

// ident returns the identifier at the cursor, or nil.
func (p *probe) ident() *ast.Ident {
	if len(p.path) > 0 {
		id, _ := p.path[0].(*ast.Ident)
		return id
	}
	return nil
}

// object returns the object of an identifier, or nil if the checker does not know it.
func (p *probe) object(id *ast.Ident) types.Object {
	return cmp.Or(p.info.Uses[id], p.info.Defs[id])
}

// scope returns the innermost scope at the cursor.
func (p *probe) scope() *types.Scope {
	for _, n := range p.path {
		if f, ok := n.(*ast.FuncDecl); ok {
			n = f.Type
		}
		if f, ok := n.(*ast.FuncLit); ok {
			n = f.Type
		}
		if s := p.info.Scopes[n]; s != nil {
			return s
		}
	}
	return nil
}

// qualify names packages in types as cells do.
func (p *probe) qualify(pkg *types.Package) string {
	if pkg == p.pkg {
		return ""
	}
	return pkg.Name()
}

// typeString and objectString format types as cells write them; a replaced version of a
// type has its plain name.
func (p *probe) typeString(t types.Type) string {
	return syntax.Versioned.ReplaceAllString(types.TypeString(t, p.qualify), "$1")
}

func (p *probe) objectString(o types.Object) string {
	if c, ok := o.(*types.Const); ok {
		return p.declString(o) + " = " + c.Val().String()
	}
	return p.declString(o)
}

func (p *probe) declString(o types.Object) string {
	if name := p.outputName(o.Name()); name != "" && o.Parent() == p.pkg.Scope() {
		return "var " + name + " " + p.typeString(o.Type())
	}
	return syntax.Versioned.ReplaceAllString(types.ObjectString(o, p.qualify), "$1")
}

// imported returns the package names that an import declaration declares.
func (p *probe) imported(text string) []string {
	f, _ := parser.ParseFile(token.NewFileSet(), "", "package p;"+text, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	var names []string
	for _, s := range f.Imports {
		if s.Name != nil {
			names = append(names, s.Name.Name)
		} else if pkg, err := p.Importer.Import(strings.Trim(s.Path.Value, "\"`")); err == nil {
			names = append(names, pkg.Name())
		}
	}
	return names
}
