// Package near finds names that a misspelled name may be meant for.
package near

import (
	"slices"
	"strings"
)

// Names returns up to n of the candidates that name may be meant for, nearest first:
// those that differ in case or in few letters, one for every three.
func Names(name string, candidates []string, n int) []string {
	type match struct {
		name string
		far  int
	}
	var list []match
	for _, c := range slices.Compact(slices.Sorted(slices.Values(candidates))) {
		far := Distance(strings.ToLower(name), strings.ToLower(c))
		if c != name && far <= (len(name)+1)/3 && far < len(c) {
			list = append(list, match{c, far})
		}
	}
	slices.SortStableFunc(list, func(a, b match) int { return a.far - b.far })
	var names []string
	for _, m := range list[:min(n, len(list))] {
		names = append(names, m.name)
	}
	return names
}

// Distance is the number of letters to insert, delete or replace between a and b, where
// a transposition of two adjacent letters counts as one: F. J. Damerau, A technique for
// computer detection and correction of spelling errors, 1964.
func Distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j]+cost, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// Fold returns a name without case and underscores, as another library may spell it.
func Fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
