package interp

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/interp/internal/library"
	"halfnote/kernel/eval"
)

// reload reads packages again whose files have changed, and says so.
func (s *Session) reload(out eval.Output) {
	retired, changed, err := s.front.Packages.Reload()
	switch {
	case err != nil:
		fmt.Fprintf(out.Stderr(), "note: %s changed on disk and cannot be read again; the notebook keeps the version that it has read: %v\n", namesOf(changed), err)
	case len(changed) > 0:
		e := s.env.Clone()
		for _, r := range retired {
			e.Moved(r.Old.Path, r.Kept.Path)
		}
		s.take(e)
		fmt.Fprintf(out.Stderr(), "note: %s changed on disk and was read again\n", namesOf(changed))
	}
}

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
