package main

import (
	"go/types"
	"regexp"
	"slices"
	"testing"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/exports/list"
	"halfnote/interp/internal/exports/load"
)

// TestHeadersDescribeThePackages checks that the declarations of a header, type-checked,
// equal the export data of the compiler.
func TestHeadersDescribeThePackages(t *testing.T) {
	pkgs := loaded(t, slices.Concat(list.Own, list.Met))
	imp := exports.Importer()
	byPath := func(p *types.Package) string { return p.Path() }
	describe := func(o types.Object) (lines []string) {
		typ := o.Type()
		if s, ok := typ.Underlying().(*types.Struct); ok {
			lines = append(lines, types.TypeString(visible(s), byPath))
		} else {
			lines = append(lines, types.TypeString(typ.Underlying(), byPath))
		}
		lines = append(lines, plain(types.TypeString(typ, byPath)))
		if c, ok := o.(*types.Const); ok {
			lines = append(lines, c.Val().ExactString())
		}
		if _, ok := typ.Underlying().(*types.Interface); !ok {
			typ = types.NewPointer(typ)
		}
		set := types.NewMethodSet(typ)
		for m := range set.Methods() {
			if m.Obj().Exported() {
				lines = append(lines, plain(types.ObjectString(m.Obj(), byPath)))
			}
		}
		return lines
	}
	for _, p := range pkgs {
		got, err := imp.Import(p.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range p.Exported() {
			name := declared.Name()
			o := got.Scope().Lookup(name)
			if o == nil {
				t.Errorf("%s.%s: missing", p.Path, name)
				continue
			}
			if got, want := describe(o), describe(declared); !slices.Equal(got, want) {
				t.Errorf("%s.%s:\ngot  %q\nwant %q", p.Path, name, got, want)
			}
			if types.Comparable(o.Type()) != types.Comparable(declared.Type()) {
				t.Errorf("%s.%s: got comparable %t, want %t", p.Path, name, types.Comparable(o.Type()), !types.Comparable(o.Type()))
			}
		}
	}
}

// plain writes unnamed results without the compiler's names and parentheses.
func plain(s string) string {
	return unnamed.ReplaceAllString(single.ReplaceAllString(s, "$1"), "")
}

var single = regexp.MustCompile(`\(#rv1 (\w+)\)`)

func loaded(t *testing.T, paths []string) []*load.Package {
	t.Helper()
	pkgs, err := load.Packages(paths...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}
