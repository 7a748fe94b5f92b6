package interp

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
)

// reload reads the user's own packages again whose files have changed, and the packages that
// import them. Functions, types and constants of cells that mention them are compiled again with
// the cell. Variables keep their values and the types of the old packages, as they do when a cell
// declares a type again. A package that cannot be read stays as it was.
func (s *Session) reload(c *cell) {
	p := s.packages
	for path := range p.reloaded { // a cell that was rejected may have left them unused
		if l := p.loader.Loaded(path); l == nil || p.units[l.Types] == nil {
			_, _ = s.importSource(path)
		}
	}
	changed := map[*library.Package]bool{}
	var list []*library.Package
	for _, u := range p.units {
		if u.declared && p.loader.Own(u.Package) && p.loader.Loaded(u.Path) == u.Package && !isRetired(u.Path) && u.Touched() && u.Changed() {
			changed[u.Package] = true
		}
	}
	if len(changed) == 0 {
		return
	}
	for _, u := range p.units {
		if u.declared && !isRetired(u.Path) && slices.ContainsFunc(closure(u.Package, nil), func(l *library.Package) bool { return changed[l] }) {
			list = append(list, u.Package)
		}
	}
	slices.SortFunc(list, func(a, b *library.Package) int { // dependencies are shorter
		if d := len(closure(a, nil)) - len(closure(b, nil)); d != 0 {
			return d
		}
		return strings.Compare(a.Path, b.Path)
	})
	p.versions++
	retired, err := p.loader.Reload(list, func(path string) string { return fmt.Sprintf("%s%s%d", path, retiredMark, p.versions) })
	if err != nil {
		fmt.Fprintf(c.out.Stderr(), "note: %s changed on disk and cannot be read again; the notebook keeps the version that it has read: %v\n", namesOf(changed), err)
		return
	}
	for _, r := range retired {
		u := p.units[r.Old.Types]
		delete(p.units, r.Old.Types)
		p.units[r.Kept.Types] = &sourceUnit{Package: r.Kept, seq: u.seq, declared: true}
		p.pending[r.Old.Path], p.reloaded[r.Old.Path] = true, true
	}
	for _, r := range retired {
		_, _ = s.importSource(r.Old.Path) // has just been read
	}
	s.mu.Lock()
	for _, b := range slices.Concat(slices.Collect(maps.Values(c.env.cur)), c.env.old) {
		for _, r := range retired {
			b.moved(r.Old.Path, r.Kept.Path)
		}
	}
	for _, v := range s.outs.kept {
		for _, r := range retired {
			v.moved(r.Old.Path, r.Kept.Path)
		}
	}
	s.snap = nil
	s.mu.Unlock()
	s.noteOutputs()
	fmt.Fprintf(c.out.Stderr(), "note: %s changed on disk and was read again\n", namesOf(changed))
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

// namesOf lists packages for a note.
func namesOf(set map[*library.Package]bool) string {
	var names []string
	for p := range set {
		names = append(names, fmt.Sprintf("%q", p.Path))
	}
	slices.Sort(names)
	if len(names) == 1 {
		return "package " + names[0]
	}
	return "packages " + strings.Join(names, ", ")
}

// moved records that the binding's types belong to a package that has another path now.
func (b *binding) moved(from, to string) {
	move := func(paths map[string]bool, decls ...ast.Node) {
		if !paths[from] {
			return
		}
		delete(paths, from)
		paths[to] = true
		for _, d := range decls {
			ast.Inspect(d, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := x.X.(*ast.Ident); ok && id.Name == alias(from) {
						id.Name = alias(to)
					}
				}
				return true
			})
		}
	}
	var nodes []ast.Node
	for _, d := range b.decls {
		nodes = append(nodes, d)
	}
	move(b.paths, nodes...)
	for _, m := range b.methods {
		move(m.paths, m.header)
	}
}
