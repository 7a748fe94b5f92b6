package assist

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/exports"
)

// maxNames is the number of names of packages that %help WORD lists.
const maxNames = 40

// About lists the tasks, packages, magics and names of packages with all the words in their name or
// summary, or, if nothing has all of them, those with any. ok reports whether there are any.
func About(snap Snapshot, words []string) (page display.Bundle, ok bool) {
	topics := []section{{title: "Tasks"}, {title: "Packages"}, {title: "Commands"}, {title: "Names"}}
	for _, t := range Tasks {
		topics[0].list = append(topics[0].list, t.entry())
	}
	for _, name := range slices.Sorted(maps.Keys(exports.Preloaded)) {
		if path := exports.Preloaded[name]; strings.HasPrefix(path, "halfnote/") {
			topics[1].list = append(topics[1].list, entry{decl: "package " + name, summary: topic(path)})
			topics[3].list = append(topics[3].list, inside(snap, name, "*")...)
		}
	}
	for _, m := range snap.Magics {
		line, _, _ := strings.Cut(m.Help, "\n")
		topics[2].list = append(topics[2].list, entry{decl: strings.TrimSpace(m.Name + " " + m.Args), summary: line})
	}
	for _, enough := range []int{len(words), 1} {
		var found []section
		for _, t := range topics {
			if t.list = matching(t.list, words, enough); len(t.list) > 0 {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			return explanation{index: found}.bundle(), true
		}
	}
	return display.Bundle{}, false
}

// IsTask reports whether a task has all the words.
func IsTask(words []string) bool {
	var list []entry
	for _, t := range Tasks {
		list = append(list, t.entry())
	}
	return len(matching(list, words, len(words))) > 0
}

// entry returns the line of a task in lists.
func (t Task) entry() entry {
	return entry{decl: strings.Join(t.Try, " or "), summary: t.What, words: t.Also}
}

// matching returns the entries that have enough of the words, those with most of them in their names
// first, and at most maxNames.
func matching(list []entry, words []string, enough int) []entry {
	score := func(e entry) int {
		decl, _, _ := strings.Cut(strings.ToLower(e.decl), "(")
		all := strings.ToLower(e.decl + " " + e.summary + " " + e.words)
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
		found = append(found[:maxNames], entry{decl: "…", summary: fmt.Sprintf("%d more: another word narrows the search", more)})
	}
	return found
}
