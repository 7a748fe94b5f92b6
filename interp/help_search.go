package interp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/kernel"
)

// maxNames is the number of names of packages that %help WORD lists.
const maxNames = 12

// magicHelp shows the index, the documentation of a name or magic, or what is found about words.
func (s *Session) magicHelp(c call) kernel.Result {
	words := strings.Fields(strings.ToLower(strings.TrimRight(c.args, "?")))
	switch len(words) {
	case 0:
		return shown(overview())
	case 1:
		name := strings.TrimRight(c.args, "?")
		for _, n := range []string{name, "%" + name, "%%" + name} {
			if n != name && findMagic(n) == nil {
				continue
			}
			if e, known := s.helpFor(n, 0); known {
				return kernel.Result{Payload: []kernel.Payload{{Source: "page", Data: e.bundle()}}}
			}
		}
	}
	found := s.about(words)
	if len(found) == 0 {
		return s.wrong(c, "nothing is called or described as %q; %%help lists packages, tasks and commands", c.args)
	}
	return kernel.Result{Payload: []kernel.Payload{{Source: "page", Data: explanation{index: found}.bundle()}}}
}

// about lists the tasks, packages, magics and names of packages with all the words in their name or
// summary, or, if nothing has all of them, those with any.
func (s *Session) about(words []string) []section {
	snap := s.snapshot()
	snap.session = s
	topics := []section{{title: "Tasks"}, {title: "Packages"}, {title: "Commands"}, {title: "Names"}}
	for _, t := range tasks {
		topics[0].list = append(topics[0].list, entry{decl: strings.Join(t.try, "   "), summary: t.what})
	}
	for _, name := range slices.Sorted(maps.Keys(preloaded)) {
		if path := preloaded[name]; strings.HasPrefix(path, "halfnote/") {
			topics[1].list = append(topics[1].list, entry{decl: "package " + name, summary: topic(path)})
			topics[3].list = append(topics[3].list, inside(snap, name, "*")...)
		}
	}
	for _, m := range magics {
		line, _, _ := strings.Cut(m.help, "\n")
		topics[2].list = append(topics[2].list, entry{decl: strings.TrimSpace(m.name + " " + m.args), summary: line})
	}
	for _, enough := range []int{len(words), 1} {
		var found []section
		for _, t := range topics {
			if t.list = matching(t.list, words, enough); len(t.list) > 0 {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// matching returns the entries that have enough of the words, those with most of them in their names
// first, and at most maxNames.
func matching(list []entry, words []string, enough int) []entry {
	score := func(e entry) int {
		decl, _, _ := strings.Cut(strings.ToLower(e.decl), "(")
		all := strings.ToLower(e.decl + " " + e.summary)
		n, named := 0, 0
		for _, w := range words {
			if strings.Contains(all, w) {
				n++
			}
			if strings.Contains(decl, w) {
				named++
			}
		}
		if n < enough {
			return 0
		}
		return n*len(words) + named
	}
	var found []entry
	for _, e := range list {
		if score(e) > 0 {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b entry) int { return score(b) - score(a) })
	if more := len(found) - maxNames; more > 0 {
		found = append(found[:maxNames], entry{decl: fmt.Sprintf("… and %d more", more)})
	}
	return found
}
