package assist

import (
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"halfnote/display"
)

// Search lists the names that match a pattern such as "nn.*Norm*", in which * stands for any
// text, in any case. A pattern without a dot is compared with the names of the session and
// those of every package that needs no import.
func Search(snap Snapshot, pattern string) display.Bundle {
	within, name := "", pattern
	if dot := strings.LastIndexByte(pattern, '.'); dot >= 0 {
		within, name = pattern[:dot], pattern[dot+1:]
	}
	var places []string // expressions that have the names as members; "" is the session
	switch {
	case within == "":
		places = append([]string{""}, slices.Sorted(maps.Keys(snap.Imports))...)
	case strings.Contains(within, "*"):
		for _, p := range slices.Sorted(maps.Keys(snap.Imports)) {
			if like(within, p) {
				places = append(places, p)
			}
		}
	default:
		places = []string{within}
	}
	found := section{title: "Names like " + pattern}
	for _, place := range places {
		found.list = append(found.list, inside(snap, place, name)...)
	}
	for _, place := range places {
		path := snap.Imports[place]
		if strings.HasPrefix(path, "halfnote/") && (within != "" || len(found.list) == 0) {
			found.list = append(found.list, methodsIn(snap, path, place, name)...)
		}
	}
	if len(found.list) == 0 {
		return display.Text("no name matches " + pattern)
	}
	return explanation{index: []section{found}}.bundle()
}

// inside returns the members of an expression whose names match a pattern, or the names of the
// session for the expression "".
func inside(snap Snapshot, place, pattern string) (list []entry) {
	code := ""
	if place != "" {
		code = place + "."
	}
	c := newCompleter(code, len(code))
	c.gather(snap)
	slices.SortStableFunc(c.matches, c.compare)
	for _, m := range c.matches {
		if m.object == nil || !like(pattern, m.Text) {
			continue
		}
		e := c.probe.entry(m.object)
		if kind, rest, ok := strings.Cut(e.decl, " "); ok && token.IsKeyword(kind) {
			e.decl = kind + " " + code + rest
		} else {
			e.decl = code + strings.TrimPrefix(e.decl, "field ")
		}
		list = append(list, e)
	}
	return list
}

// methodsIn returns the methods of a package's types whose names match a pattern. A pattern that matches all names is about the
// package's own names only.
func methodsIn(snap Snapshot, path, name, pattern string) (list []entry) {
	c := newCompleter(name+".", len(name)+1)
	c.gather(snap)
	pkg, err := snap.Importer.Import(path)
	if err != nil || strings.Trim(pattern, "*") == "" {
		return nil
	}
	for _, n := range pkg.Scope().Names() {
		t, ok := pkg.Scope().Lookup(n).(*types.TypeName)
		if !ok || !t.Exported() || t.IsAlias() {
			continue
		}
		for _, m := range c.probe.methods(t) {
			if like(pattern, m.Name()) {
				e := c.probe.entry(m)
				e.decl = name + "." + n + "." + e.decl
				list = append(list, e)
			}
		}
	}
	return list
}

// like reports whether a name matches a pattern, in any case.
func like(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}
