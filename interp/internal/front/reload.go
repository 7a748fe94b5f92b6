package front

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
)

// Reload reads the user's own packages again whose files have changed, packages of which go.mod now
// selects another version, and the packages that import them. Functions, types and constants of cells that mention them are compiled again with
// the cell. Variables keep their values and the types of the old packages, as they do when a cell
// declares a type again. A package that cannot be read stays as it was.
func (p *Packages) Reload() (retired []library.Retired, changed map[*library.Package]bool, err error) {
	for path := range p.reloaded { // a cell that was rejected may have left them unused
		if l := p.Loader.Loaded(path); l == nil || p.Units[l.Types] == nil {
			_, _ = p.use(path)
		}
	}
	changed = map[*library.Package]bool{}
	var list []*library.Package
	moved := p.moved()
	for _, u := range p.Units {
		if u.Declared && p.Loader.Loaded(u.Path) == u.Package && !isRetired(u.Path) && (moved(u.Package) || p.Loader.Own(u.Package) && u.Touched() && u.Changed()) {
			changed[u.Package] = true
		}
	}
	if len(changed) == 0 {
		return nil, nil, nil
	}
	for _, u := range p.Units {
		if u.Declared && !isRetired(u.Path) && slices.ContainsFunc(Closure(u.Package, nil), func(l *library.Package) bool { return changed[l] }) {
			list = append(list, u.Package)
		}
	}
	slices.SortFunc(list, func(a, b *library.Package) int { // dependencies are shorter
		if d := len(Closure(a, nil)) - len(Closure(b, nil)); d != 0 {
			return d
		}
		return strings.Compare(a.Path, b.Path)
	})
	p.versions++
	retired, err = p.Loader.Reload(list, func(path string) string { return fmt.Sprintf("%s%s%d", path, retiredMark, p.versions) })
	if err != nil {
		return nil, changed, err
	}
	for _, r := range retired {
		u := p.Units[r.Old.Types]
		delete(p.Units, r.Old.Types)
		p.Units[r.Kept.Types] = &SourceUnit{Package: r.Kept, seq: u.seq, Declared: true}
		p.Pending[r.Old.Path], p.reloaded[r.Old.Path] = true, true
	}
	for _, r := range retired {
		_, _ = p.use(r.Old.Path) // has just been read
	}
	return retired, changed, nil
}

// moved returns a function that reports whether a package is in another folder since go.mod changed, in that of another version.
func (p *Packages) moved() func(*library.Package) bool {
	never := func(*library.Package) bool { return false }
	now := p.Loader.Modules()
	if now == p.modules {
		return never
	}
	p.modules = now
	moved, err := p.Loader.Relocate()
	if err != nil { // the next import reports it
		return never
	}
	return moved
}

// retiredMark follows the path of a package in the paths of its old versions.
const retiredMark = "@before"

// retiredType and quotedType match the types of a retired package and of its new version in a
// message of the checker, which names them by path.
var (
	retiredType = regexp.MustCompile(`"(?:[^"]*/)?([^"/]+)` + retiredMark + `\d+"\.(\w+)`)
	quotedType  = regexp.MustCompile(`"(?:[^"]*/)?([^"/]+)"\.(\w+)`)
)

func isRetired(path string) bool { return strings.Contains(path, retiredMark) }

// Moved records that the types of a package have another path now.
func (e *Env) Moved(from, to string) {
	for b, f := range e.facts.all() {
		touched := f.Header.Paths[from]
		for _, m := range f.Methods {
			touched = touched || m.Paths[from]
		}
		if !touched {
			continue
		}
		f = e.change(b)
		f.Header = f.Header.moved(from, to)
		for i, m := range f.Methods {
			f.Methods[i].Header = m.moved(from, to)
		}
	}
}
