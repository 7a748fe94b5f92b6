package front

import (
	"cmp"
	"regexp"
	"strings"

	"halfnote/interp/internal/library"
)

// numbers are what the engine's name of a type has behind that in the source, where several have the same.
var numbers = regexp.MustCompile(`(__\d+(_t?\d+)?)+$`)

// TypeLabel maps the engine's name of a session type to the name that users see, alone or in a type argument.
func (s *State) TypeLabel(g *Generics) func(string, bool) string {
	if g == nil {
		g = NewGenerics()
	}
	ofPackage := func(slot string, argument bool) string {
		if o := s.Packages.Object(slot); o != nil {
			if argument {
				return o.Pkg().Path() + "." + o.Name()
			}
			return o.Pkg().Name() + "." + o.Name()
		}
		if path, name, ok := library.StdPath(slot); ok {
			if argument {
				return path + "." + name
			}
			return path[strings.LastIndexByte(path, '/')+1:] + "." + name
		}
		return ""
	}
	var label func(slot string, argument bool) string
	label = func(slot string, argument bool) string {
		if name := ofPackage(slot, argument); name != "" {
			return name
		}
		base := cmp.Or(ofPackage(g.Origin[slot], argument), "main."+numbers.ReplaceAllString(slot, ""))
		args, number := cutNumber(g.Suffix[slot])
		if number == "" && args != "" {
			base, number = cutNumber(label(g.Origin[slot], argument))
			if outer, ok := strings.CutSuffix(base, "]"); ok { // a generic type that a generic function declares
				base, args = outer, ";"+args[1:]
			}
		}
		if argument {
			args += number
		}
		return base + args
	}
	return label
}

// cutNumber cuts off the number of a type that a function declares, with the dot before it.
func cutNumber(name string) (before, number string) {
	if i := strings.LastIndex(name, "·"); i > strings.LastIndexByte(name, ']') {
		return name[:i], name[i:]
	}
	return name, ""
}
