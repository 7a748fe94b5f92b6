package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/clone"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/syntax"
)

// Kind is the kind of thing that a name denotes.
type Kind int

const (
	KindVar Kind = iota
	KindFunc
	KindType
	KindConst
)

func (k Kind) String() string {
	return [...]string{"variable", "function", "type", "constant"}[k]
}

// Binding is one meaning of a name of the session. Redeclaring a name makes a new
// Binding or, for a variable of the same type, keeps the existing one. A binding does not
// change: what changes from cell to cell is the fact that an environment holds of it.
type Binding struct {
	Name    string
	Kind    Kind
	Made    int    // number of the cell In[n] that declared it first
	Seq     int    // sequence number of that cell in the session
	Slot    string // name in the engine, unique in the session
	Typ     string // type as users see it
	Src     *Source
	Generic bool
	Again   bool // whether it is a generic method that replaces one of its type
}

// Cell returns the number of the cell In[n] that declares the binding.
func (b *Binding) Cell() int {
	if b.Src != nil {
		return b.Src.Cell
	}
	return b.Made
}

// Method is a method of a session type. The engine's method calls through a variable,
// so that a new body also serves existing values.
type Method struct {
	Name string
	Typ  *Binding
	sig  string
	Hook string   // the engine's variable
	Fn   *Binding // the function that a generic method has become, which then has no variable
	Src  *Source
}

// Source is a declaration as written. It is compiled again when something that it uses
// is redeclared. Only commit changes a source: it moves one that a later cell repeats.
type Source struct {
	Cell int
	Item syntax.Item
	norm string
	// Pkgs maps each package name, by its offset in the text, to its import path.
	Pkgs map[int]string
	// Names maps each package name to its import path.
	Names map[string]string
	Uses  map[*Binding]bool
	Stops bool // compiled with stops for the debugger
	// Binds and methods are its declarations that are still in force.
	Binds   []*Binding
	Methods []*Method
}

// fact is what an environment holds of a binding. A fact does not change: an environment
// that differs holds another fact.
type fact struct {
	// Check is the binding's name for the checker: its name while it is current, another
	// when a newer version has taken the name and old values still have it.
	Check string
	// Header declares the binding to the checker: a variable's type, a function's
	// Header, a type.
	Header  Header
	Methods []Declared // sorted by name
	// Hook is the engine's variable through which function literals call the function,
	// empty as long as none does.
	Hook string
	// Captured reports whether code that outlives its cell may hold the variable.
	Captured bool
	// OnlyShown reports whether only shown values of cells still have this old version
	// of a type.
	OnlyShown bool
}

// Declared is a method of a type, and its header.
type Declared struct {
	*Method
	Header
}

// Method returns the method of that name, or nil.
func (f *fact) Method(name string) *Method {
	for _, m := range f.Methods {
		if m.Name == name {
			return m.Method
		}
	}
	return nil
}

// declare adds a method, or replaces the one of its name.
func (f *fact) declare(m *Method, h Header) {
	i, found := slices.BinarySearchFunc(f.Methods, m.Name, func(m Declared, name string) int { return strings.Compare(m.Name, name) })
	if !found {
		f.Methods = slices.Insert(f.Methods, i, Declared{})
	}
	f.Methods[i] = Declared{m, h}
}

// Header is a declaration for the checker.
type Header struct {
	Decls []ast.Decl
	Paths map[string]bool // packages that it mentions
	Refs  []Ref
}

// Ref is an identifier of a header that denotes a binding.
type Ref struct {
	id *ast.Ident
	b  *Binding
}

// refer notes that an identifier denotes a binding.
func (h *Header) refer(id *ast.Ident, b *Binding) { h.Refs = append(h.Refs, Ref{id, b}) }

// nonEmpty returns nil for a map without elements, which takes no memory.
func nonEmpty[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return m
}

// mentions reports whether the header refers to a binding.
func (h Header) mentions(b *Binding) bool {
	return slices.ContainsFunc(h.Refs, func(r Ref) bool { return r.b == b })
}

// clone returns a deep copy.
func (h Header) clone() Header {
	n := Header{Paths: maps.Clone(h.Paths)}
	denotes := map[*ast.Ident]*Binding{}
	for _, r := range h.Refs {
		denotes[r.id] = r.b
	}
	for _, d := range h.Decls {
		old, again := identsOf(d), clone.Tree(d, nil)
		for i, id := range identsOf(again) {
			if b := denotes[old[i]]; b != nil {
				n.refer(id, b)
			}
		}
		n.Decls = append(n.Decls, again)
	}
	return n
}

// renamed returns the header with another name for a binding.
func (h Header) renamed(b *Binding, name string) Header {
	if !h.mentions(b) {
		return h
	}
	h = h.clone()
	for _, r := range h.Refs {
		if r.b == b {
			r.id.Name = name
		}
	}
	return h
}

// identsOf lists the identifiers of a tree in order.
func identsOf(n ast.Node) (list []*ast.Ident) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			list = append(list, id)
		}
		return true
	})
	return list
}

// Env maps names to their meanings. An environment that the session has taken does not
// change. A cell works on a clone, which the session takes once the cell is accepted.
type Env struct {
	Cur     map[string]*Binding
	Old     []*Binding        // types replaced by newer versions
	Imports map[string]string // name to path, from the session's import declarations
	Dots    []string          // paths of dot imports
	outputs
	Facts map[*Binding]*fact
	own   map[*Binding]bool // bindings whose facts belong to this environment alone
	// sharesCur and sharesFacts report whether another environment has the same map, which is then copied
	// before it changes.
	sharesCur, sharesFacts bool
}

func NewEnv() *Env {
	return &Env{Cur: map[string]*Binding{}, Imports: map[string]string{}, Facts: map[*Binding]*fact{}, own: map[*Binding]bool{}}
}

// Clone returns an environment that can change without the receiver. The two share their maps until one changes.
func (e *Env) Clone() *Env {
	e.sharesCur, e.sharesFacts = true, true
	return &Env{
		Cur: e.Cur, Old: slices.Clone(e.Old), Imports: maps.Clone(e.Imports), Dots: slices.Clone(e.Dots),
		outputs: outputs{slices.Clone(e.Kept), e.Last}, Facts: e.Facts, own: map[*Binding]bool{}, sharesCur: true, sharesFacts: true,
	}
}

// cur returns Cur for the caller to change.
func (e *Env) cur() map[string]*Binding {
	if e.sharesCur {
		e.Cur, e.sharesCur = maps.Clone(e.Cur), false
	}
	return e.Cur
}

// facts returns Facts for the caller to change.
func (e *Env) facts() map[*Binding]*fact {
	if e.sharesFacts {
		e.Facts, e.sharesFacts, e.own = maps.Clone(e.Facts), false, map[*Binding]bool{}
	}
	return e.Facts
}

// noFact stands for the fact of a binding that an environment does not hold.
var noFact = &fact{}

// Of returns what the environment holds of a binding.
func (e *Env) Of(b *Binding) *fact {
	if f := e.Facts[b]; f != nil {
		return f
	}
	return noFact
}

// change returns the binding's fact for the caller to change.
func (e *Env) change(b *Binding) *fact {
	f := e.facts()[b]
	if f == nil || !e.own[b] {
		again := *e.Of(b)
		again.Methods = slices.Clone(again.Methods)
		f = &again
		e.Facts[b], e.own[b] = f, true
	}
	return f
}

// add gives a binding a name for the checker and, as a rule, its own name a new meaning.
func (e *Env) add(b *Binding) {
	e.facts()[b], e.own[b] = &fact{Check: b.Name}, true
	e.cur()[b.Name] = b
}

// byCheck returns the binding with the given name in the checker.
func (e *Env) byCheck(name string) *Binding {
	if b := e.Cur[name]; b != nil && e.Of(b).Check == name {
		return b
	}
	for _, b := range e.Old {
		if e.Of(b).Check == name {
			return b
		}
	}
	return nil
}

// retire gives a type that is being replaced another name for the checker, wherever the
// environment mentions it: existing values keep the type.
func (e *Env) retire(b *Binding) {
	name := fmt.Sprintf("%s__%d", b.Name, b.Seq)
	delete(e.cur(), b.Name)
	e.Old = append(e.Old, b)
	for x, f := range e.facts() {
		touched := x == b || f.Header.mentions(b)
		for _, m := range f.Methods {
			touched = touched || m.mentions(b)
		}
		if !touched {
			continue
		}
		f = e.change(x)
		f.Header = f.Header.renamed(b, name)
		for i, m := range f.Methods {
			f.Methods[i].Header = m.renamed(b, name)
		}
	}
	e.change(b).Check = name
}

// Sweep forgets versions of types that nothing mentions any more, and facts of bindings
// that are gone.
func (e *Env) Sweep() {
	if e.sharesCur && e.sharesFacts {
		return // nothing has changed
	}
	if len(e.Old) > 0 {
		used, shown := map[*Binding]bool{}, map[*Binding]bool{}
		note := func(owner *Binding, into map[*Binding]bool) {
			f := e.Of(owner)
			add := func(h Header) {
				for _, r := range h.Refs {
					if r.b != owner {
						into[r.b] = true
					}
				}
			}
			add(f.Header)
			for _, m := range f.Methods {
				add(m.Header)
			}
		}
		for _, b := range e.Cur {
			note(b, used)
		}
		for _, b := range e.Old {
			note(b, used)
		}
		for _, v := range e.Kept {
			note(v.Binding, shown)
		}
		e.Old = slices.DeleteFunc(e.Old, func(b *Binding) bool { return !used[b] && !shown[b] })
		for _, b := range e.Old {
			if e.Of(b).OnlyShown == used[b] {
				e.change(b).OnlyShown = !used[b]
			}
		}
	}
	held := map[*Binding]bool{}
	for _, b := range e.Old {
		held[b] = true
	}
	for _, v := range e.Kept {
		held[v.Binding] = true
	}
	maps.DeleteFunc(e.facts(), func(b *Binding, _ *fact) bool { return e.Cur[b.Name] != b && !held[b] })
}

// Used reports whether a declaration in force uses a binding.
func (e *Env) Used(b *Binding) bool {
	return slices.ContainsFunc(e.Sources(), func(src *Source) bool { return src.Uses[b] })
}

// Sources lists all sources that can be compiled again, in the order of cells.
func (e *Env) Sources() []*Source {
	seen := map[*Source]bool{}
	var list []*Source
	add := func(s *Source) {
		if s != nil && !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	for _, b := range e.Cur {
		add(b.Src)
		for _, m := range e.Of(b).Methods {
			add(m.Src)
		}
	}
	slices.SortFunc(list, func(a, b *Source) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Item.Line, b.Item.Line), cmp.Compare(a.Item.Text, b.Item.Text))
	})
	return list
}

// Alias returns the name under which trees import a package.
func Alias(path string) string { return library.Alias(path) }

// ImportDecl declares packages under their aliases.
func ImportDecl(paths map[string]bool) *ast.GenDecl {
	d := &ast.GenDecl{Tok: token.IMPORT, Lparen: 1, Rparen: 1}
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		d.Specs = append(d.Specs, importSpec(Alias(p), p))
	}
	return d
}

func importSpec(name, path string) *ast.ImportSpec {
	return &ast.ImportSpec{Name: ast.NewIdent(name), Path: &ast.BasicLit{Kind: token.STRING, Value: fmt.Sprintf("%q", path)}}
}
