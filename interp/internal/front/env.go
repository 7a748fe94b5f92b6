package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"maps"
	"slices"
	"strings"

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
	// users are the sources that use the binding, and some that are not in force any more.
	users []*Source
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

// refers reports whether is returns true for a binding that the headers refer to.
func (f *fact) refers(is func(*Binding) bool) bool {
	has := func(h Header) bool { return slices.ContainsFunc(h.refs, func(r ref) bool { return is(r.b) }) }
	return has(f.Header) || slices.ContainsFunc(f.Methods, func(m Declared) bool { return has(m.Header) })
}

// mentions reports whether the headers refer to a binding.
func (f *fact) mentions(b *Binding) bool { return f.refers(func(x *Binding) bool { return x == b }) }

// declare adds a method, or replaces the one of its name.
func (f *fact) declare(m *Method, h Header) {
	i, found := slices.BinarySearchFunc(f.Methods, m.Name, func(m Declared, name string) int { return strings.Compare(m.Name, name) })
	if !found {
		f.Methods = slices.Insert(f.Methods, i, Declared{})
	}
	f.Methods[i] = Declared{m, h}
}

// nonEmpty returns nil for a map without elements, which takes no memory.
func nonEmpty[K comparable, V any](m map[K]V) map[K]V {
	if len(m) == 0 {
		return nil
	}
	return m
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
	names   layers[string, Binding]
	Old     []*Binding        // types that others have replaced, and what else a cell replaces and still mentions
	Imports map[string]string // name to path, from the session's import declarations
	Dots    []string          // paths of dot imports
	outputs
	facts layers[*Binding, fact]
	moved []*Binding // those that have got or lost a meaning since Sweep
}

func NewEnv() *Env { return &Env{Imports: map[string]string{}} }

// Clone returns an environment that can change without the receiver. It costs little however many names there are.
func (e *Env) Clone() *Env {
	return &Env{
		names: e.names.clone(), Old: slices.Clone(e.Old), Imports: maps.Clone(e.Imports), Dots: slices.Clone(e.Dots),
		outputs: outputs{slices.Clone(e.Kept), e.Last}, facts: e.facts.clone(), moved: slices.Clone(e.moved),
	}
}

// Freeze ends the changes of an environment, so that clones can be made while others read it.
func (e *Env) Freeze() {
	e.names.share()
	e.facts.share()
}

// Named returns the current meaning of a name, or nil.
func (e *Env) Named(name string) *Binding { return e.names.get(name) }

// Names returns the names and their current meanings.
func (e *Env) Names() iter.Seq2[string, *Binding] { return e.names.all() }

// Candidates returns the names that may have a meaning, some of them repeatedly.
func (e *Env) Candidates() iter.Seq[string] { return e.names.keys() }

// Bindings returns all bindings that the environment knows, also those that have no name.
func (e *Env) Bindings() iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for b := range e.facts.all() {
			if !yield(b) {
				return
			}
		}
	}
}

// noFact stands for the fact of a binding that an environment does not hold.
var noFact = &fact{}

// Of returns what the environment holds of a binding.
func (e *Env) Of(b *Binding) *fact { return cmp.Or(e.facts.get(b), noFact) }

// change returns the binding's fact for the caller to change.
func (e *Env) change(b *Binding) *fact {
	f := e.facts.own[b]
	if f == nil {
		again := *e.Of(b)
		again.Methods = slices.Clone(again.Methods)
		f = &again
		e.facts.set(b, f)
	}
	return f
}

// add gives a binding a name for the checker and, as a rule, its own name a new meaning.
func (e *Env) add(b *Binding) {
	e.hide(b.Name)
	e.facts.set(b, &fact{Check: b.Name})
	e.names.set(b.Name, b)
	e.moved = append(e.moved, b)
}

// hide takes the meaning from a name.
func (e *Env) hide(name string) {
	if b := e.Named(name); b != nil {
		e.moved = append(e.moved, b)
		e.names.set(name, nil)
	}
}

// byCheck returns the binding with the given name in the checker.
func (e *Env) byCheck(name string) *Binding {
	if b := e.Named(name); b != nil && e.Of(b).Check == name {
		return b
	}
	if strings.Contains(name, "__") {
		for _, b := range e.Old {
			if e.Of(b).Check == name {
				return b
			}
		}
	}
	return nil
}

// retire gives a declaration that is being replaced another name for the checker, wherever the
// environment mentions it: existing values keep a type.
func (e *Env) retire(b *Binding) {
	name := fmt.Sprintf("%s__%d", b.Name, b.Seq)
	if b.Kind != KindType { // one cell can declare a type and a variable of that name
		name = fmt.Sprintf("%s__0%d", b.Name, b.Seq)
	}
	e.hide(b.Name)
	e.Old = append(e.Old, b)
	for x, f := range e.facts.all() {
		if x != b && !f.mentions(b) {
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
// that are gone, which it returns.
func (e *Env) Sweep() (gone []*Binding) {
	old, kept := map[*Binding]bool{}, map[*Binding]bool{}
	for _, b := range e.Old {
		old[b] = true
	}
	isOld := func(b *Binding) bool { return old[b] }
	if len(old) > 0 && slices.ContainsFunc(e.moved, func(b *Binding) bool { return old[b] || e.Of(b).refers(isOld) }) {
		e.moved = append(e.moved, e.Old...)
		e.sweepTypes()
		clear(old)
		for _, b := range e.Old {
			old[b] = true
		}
	}
	for _, v := range e.Kept {
		kept[v.Binding] = true
	}
	for _, b := range e.moved {
		if e.current(b) || old[b] || kept[b] || e.facts.get(b) == nil {
			continue
		}
		for _, m := range e.Of(b).Methods {
			if m.Fn != nil {
				e.facts.set(m.Fn, nil)
			}
		}
		e.facts.set(b, nil)
		gone = append(gone, b)
	}
	e.moved = nil
	return gone
}

// sweepTypes forgets versions of types that nothing mentions any more.
func (e *Env) sweepTypes() {
	e.Old = slices.DeleteFunc(e.Old, func(b *Binding) bool { return b.Kind != KindType }) // only one cell mentioned them
	used, shown := map[*Binding]bool{}, map[*Binding]bool{}
	note := func(owner *Binding, into map[*Binding]bool) {
		e.Of(owner).refers(func(b *Binding) bool {
			if b != owner {
				into[b] = true
			}
			return false
		})
	}
	for _, b := range e.Names() {
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

// use notes that a source uses a binding.
func (e *Env) use(b *Binding, src *Source) {
	f := e.change(b)
	if len(f.users) == cap(f.users) { // as many again before the next time
		live := slices.DeleteFunc(slices.Clone(f.users), func(src *Source) bool { return !e.live(src) })
		f.users = slices.Grow(live, len(live)+1)
	}
	f.users = append(f.users, src)
}

// users returns the sources in force that use a binding.
func (e *Env) users(b *Binding) iter.Seq[*Source] {
	return func(yield func(*Source) bool) {
		for _, src := range e.Of(b).users {
			if e.live(src) && !yield(src) {
				return
			}
		}
	}
}

// live reports whether some declaration of a source is in force.
func (e *Env) live(src *Source) bool {
	return slices.ContainsFunc(src.Binds, func(b *Binding) bool { return e.Named(b.Name) == b }) || slices.ContainsFunc(src.Methods, e.inForce)
}

// inForce reports whether a method is one of its type, which has its name still.
func (e *Env) inForce(m *Method) bool {
	return e.Named(m.Typ.Name) == m.Typ && e.Of(m.Typ).Method(m.Name) == m
}

// Used reports whether a declaration in force uses a binding.
func (e *Env) Used(b *Binding) bool {
	for range e.users(b) {
		return true
	}
	return false
}

// Source returns the source of the declaration of a name of the checker, T.M for methods. That of a variable is nil. ok is false
// if the name has no meaning.
func (e *Env) Source(name string) (src *Source, ok bool) {
	typ, method, isMethod := strings.Cut(name, ".")
	b := e.byCheck(typ)
	if b == nil || !isMethod {
		return cmp.Or(b, &Binding{}).Src, b != nil
	}
	m := e.Of(b).Method(method)
	if m == nil {
		return nil, false
	}
	return m.Src, true
}

// Sources lists all sources that can be compiled again, in the order of cells.
func (e *Env) Sources() []*Source {
	seen := map[*Source]bool{}
	for _, b := range e.Names() {
		seen[b.Src] = true
		for _, m := range e.Of(b).Methods {
			seen[m.Src] = true
		}
	}
	delete(seen, nil)
	return inOrder(seen)
}

// inOrder lists sources in the order of cells.
func inOrder(set map[*Source]bool) []*Source {
	return slices.SortedFunc(maps.Keys(set), func(a, b *Source) int {
		return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Item.Line, b.Item.Line), cmp.Compare(a.Item.Text, b.Item.Text))
	})
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
