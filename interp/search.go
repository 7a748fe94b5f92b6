package interp

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"halfnote/kernel"
)

// search lists the names that match a pattern such as "nn.*Norm*", in which * stands for any
// text, in any case. A pattern without a dot is compared with the names of the session and
// those of every package that needs no import.
func (s *Session) search(pattern string) string {
	sur := s.surroundings()
	sur.session = s
	within, name := "", pattern
	if dot := strings.LastIndexByte(pattern, '.'); dot >= 0 {
		within, name = pattern[:dot], pattern[dot+1:]
	}
	var places []string // expressions that have the names as members; "" is the session
	switch {
	case within == "":
		places = append([]string{""}, slices.Sorted(maps.Keys(sur.imports))...)
	case strings.Contains(within, "*"):
		for _, p := range slices.Sorted(maps.Keys(sur.imports)) {
			if like(within, p) {
				places = append(places, p)
			}
		}
	default:
		places = []string{within}
	}
	var b strings.Builder
	for _, place := range places {
		for _, m := range inside(sur, place) {
			if like(name, m.Text) {
				fmt.Fprintln(&b, strings.TrimPrefix(place+"."+entry(m), "."))
			}
		}
	}
	if b.Len() == 0 {
		return fmt.Sprintf("no name matches %s", pattern)
	}
	return b.String()
}

// inside returns the members of an expression, or the names of the session for "".
func inside(sur surroundings, place string) []kernel.Match {
	code := ""
	if place != "" {
		code = place + "."
	}
	list := complete(sur, code, utf8.RuneCountInString(code)).Matches
	return slices.DeleteFunc(list, func(m kernel.Match) bool { return m.Type == "keyword" })
}

// like reports whether a name matches a pattern, in any case.
func like(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// entry returns a match with its type: "Abs() *tensor.Tensor", "Linear struct".
func entry(m kernel.Match) string {
	switch {
	case m.Type == "function", m.Type == "method":
		return m.Text + m.Signature
	case m.Type == "type" && strings.ContainsAny(m.Signature, "{"):
		kind, _, _ := strings.Cut(m.Signature, "{")
		return m.Text + " " + kind
	case m.Type == "module":
		return m.Text + " package"
	}
	return strings.TrimSpace(m.Text + " " + m.Signature)
}
