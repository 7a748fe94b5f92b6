package exports

import (
	"fmt"
	"slices"
	"strings"
)

// unknown is the error for a path that cells cannot import.
func unknown(path string) error {
	near := nearest(path, 3)
	if len(near) == 0 {
		return fmt.Errorf("package %q is not available in cells", path)
	}
	return fmt.Errorf("package %q is not available in cells; available: %s", path, strings.Join(near, ", "))
}

// nearest returns up to n importable paths that path may be meant for, the
// nearest first: those with its last element, such as "math/rand" for "rand",
// then those that few changed letters away, then its neighbours in the tree.
func nearest(path string, n int) []string {
	type candidate struct {
		path string
		far  int
	}
	var list []candidate
	last := path[strings.LastIndexByte(path, '/')+1:]
	parent, _, _ := strings.Cut(path, "/")
	for _, e := range index() {
		d := distance(path, e.path)
		switch {
		case e.met:
			continue
		case e.name == last || strings.HasSuffix(e.path, "/"+last):
			list = append(list, candidate{e.path, 0})
		case d <= 1+len(path)/5, len(last) > 2 && distance(last, e.name) <= len(last)/4:
			list = append(list, candidate{e.path, d})
		case strings.HasPrefix(e.path, parent+"/"):
			list = append(list, candidate{e.path, 100 + d})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return a.far - b.far })
	var near []string
	for _, c := range list[:min(n, len(list))] {
		near = append(near, c.path)
	}
	return near
}

// distance is the number of letters to insert, delete or replace between a and
// b: V. I. Levenshtein, Binary codes capable of correcting deletions,
// insertions, and reversals, 1966.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
