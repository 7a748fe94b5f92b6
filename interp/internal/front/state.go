package front

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/syntax"
)

// State is what the front end keeps from cell to cell, besides the environment. A cell that is refused
// may add names to Taken and Tainted; it changes nothing else.
type State struct {
	Shared
	Binary   types.ImporterFrom // importer of compiled packages
	Loader   types.ImporterFrom // importer of compiled packages and packages from source
	Generics *Generics
	Included map[string]bool // standard library source that the engine has
	seq      int
}

// NewState returns the state before the first cell, for an engine with these files and needs. binary
// imports the compiled packages.
func NewState(files *token.FileSet, needs engine.Needs, binary types.ImporterFrom) *State {
	s := &State{Binary: binary, Generics: NewGenerics(), Included: map[string]bool{}}
	packages := NewPackages(files, binary, s.next)
	s.Loader = packages.Loader
	s.Shared = Shared{
		Fset: files, Ground: token.Pos(files.AddFile("earlier", -1, 0).Base()), Importer: packages.Loader,
		Std: NewStd(files), Packages: packages, Instances: needs.Instances, Taken: map[string]bool{}, Tainted: map[*Binding]bool{}, BySlot: map[string]*Binding{},
		Failed: func(string) int { return 0 }, Before: func(string) int { return 0 }, AutoImport: true,
	}
	return s
}

// next returns a number that is new in the state.
func (s *State) next() int {
	s.seq++
	return s.seq
}

// Input returns cell n as the front end takes it. With stops, it is compiled with stops.
func (s *State) Input(n int, code string, files *Files, stops bool) Input {
	return Input{N: n, Seq: s.next(), Code: code, Debug: stops, Files: files, Session: &s.Shared}
}

// Release forgets the files of a cell that has not been accepted, and packages that only it imported.
func (s *State) Release(files *Files) {
	for _, f := range files.Parsed {
		s.Fset.RemoveFile(f.Tok)
	}
	s.Packages.Forget()
}

// Take records the names of a cell or package that an engine is about to see.
func (s *State) Take(slots map[string]bool) { maps.Copy(s.Taken, slots) }

// Adopt takes over what a unit has added to the engine's generics.
func (s *State) Adopt(l *Lowered) {
	if l.Generics != nil {
		s.Generics = l.Generics
	}
	if l.Included != nil {
		s.Included = l.Included
	}
}

// Accept records that the engine has accepted a cell, whose environment is the next one. It returns the
// bindings that nothing uses any more.
func (s *State) Accept(c *Bound, l *Lowered) (unused []*Binding) {
	for again, src := range c.Repeated { // its place is now the latest run
		src.Cell, src.Item = again.Cell, again.Item
	}
	clear(s.Packages.Pending)
	s.Adopt(l)
	for b := range c.Superseded {
		captured := c.Env.Of(b).Captured || c.Known.Of(b).Captured
		if c.Env.Named(b.Name) != b && !c.Env.Used(b) && (b.Kind == KindFunc || b.Kind == KindVar && !captured) {
			unused = append(unused, b)
		}
	}
	for _, b := range c.Names {
		s.BySlot[b.Slot] = b
	}
	for _, b := range c.Env.Sweep() {
		delete(s.BySlot, b.Slot)
	}
	c.Env.Freeze()
	return unused
}

// Forget returns an environment in which names have no meaning, and the bindings that nothing uses any more. Existing values of a type
// keep it.
func (s *State) Forget(e *Env, names []string) (next *Env, unused []*Binding, err error) {
	next = e.Clone()
	var gone []*Binding
	for _, name := range names {
		b := next.Named(name)
		switch {
		case b == nil && next.Imports[name] == "":
			return nil, nil, fmt.Errorf("no cell declares %s; %%who lists the variables, and %%who func type const the other declarations", name)
		case b == nil:
			delete(next.Imports, name)
			continue
		case b.Kind == KindType:
			next.retire(b)
		default:
			next.hide(name)
		}
		gone = append(gone, b)
	}
	for _, b := range gone {
		for src := range next.users(b) {
			return nil, nil, fmt.Errorf("%s is used by %s of %s; name that too, or declare it again without %s first", b.Name, src.label(next), syntax.Label(src.Cell), b.Name)
		}
		if f := next.Of(b); b.Kind == KindFunc && f.Hook == "" || b.Kind == KindVar && !f.Captured {
			unused = append(unused, b)
		}
	}
	for _, b := range next.Sweep() {
		delete(s.BySlot, b.Slot)
	}
	next.Freeze()
	return next, unused, nil
}

// label names a declaration that is in force.
func (src *Source) label(e *Env) string {
	for _, b := range src.Binds {
		if e.Named(b.Name) == b {
			return fmt.Sprintf("%s %s", b.Kind, b.Name)
		}
	}
	return "method " + src.Methods[0].Name + " of type " + src.Methods[0].Typ.Name
}

// IsValue reports whether an expression can begin with a name: that of a variable, constant or function
// or, before a dot, of a package.
func (e *Env) IsValue(name string, beforeDot bool) bool {
	if b := e.Named(name); b != nil {
		return b.Kind != KindType
	}
	return name == "true" || name == "false" || beforeDot && (e.Imports[name] != "" || exports.Preloaded[name] != "")
}
