package exports

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/internal/near"
)

// unknown returns the error for a path that cells cannot import.
func unknown(path string) error {
	if err := Refused(path); err != nil {
		return err
	}
	list := nearest(path, 3)
	if len(list) == 0 {
		return fmt.Errorf("package %q is not available in cells", path)
	}
	return fmt.Errorf("package %q is not available in cells; available: %s", path, strings.Join(list, ", "))
}

// nearest returns up to n importable paths similar to path, nearest first: those with the
// same last element, such as "math/rand" for "rand", then those that differ in a few
// letters, then its neighbours in the tree.
func nearest(path string, n int) []string {
	type candidate struct {
		path string
		far  int
	}
	var list []candidate
	last := path[strings.LastIndexByte(path, '/')+1:]
	parent, _, _ := strings.Cut(path, "/")
	for _, e := range index() {
		d := near.Distance(path, e.path)
		switch {
		case e.met:
			continue
		case e.name == last || strings.HasSuffix(e.path, "/"+last):
			list = append(list, candidate{e.path, 0})
		case d <= 1+len(path)/5, len(last) > 2 && near.Distance(last, e.name) <= len(last)/4:
			list = append(list, candidate{e.path, d})
		case strings.HasPrefix(e.path, parent+"/"):
			list = append(list, candidate{e.path, 100 + d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.far - b.far })
	var paths []string
	for _, c := range list[:min(n, len(list))] {
		paths = append(paths, c.path)
	}
	return paths
}
