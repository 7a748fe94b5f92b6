package data

import (
	"fmt"
	"slices"
	"strings"
)

// Join returns the rows of two tables that have the same values in the given columns side by side: a row for each pair, in the order of
// t and then in that of other, with the columns of t and those that only other has. Columns of both that are not among the given ones
// end in _x and _y. Missing values equal each other.
//
//	runs.Join(machines, "host").GroupBy("processor").Mean("seconds")
//
// It panics if a column does not exist, if none is given, or if one has numbers in one table only. It is pandas.DataFrame.merge.
func (t *Table) Join(other *Table, on ...string) *Table { return t.join(other, on, false) }

// LeftJoin is [Table.Join] that also keeps each row of t without a partner, with missing values in the columns of other. It is
// pandas.DataFrame.merge with how="left".
func (t *Table) LeftJoin(other *Table, on ...string) *Table { return t.join(other, on, true) }

func (t *Table) join(other *Table, on []string, left bool) *Table {
	if other == nil || len(on) == 0 {
		refuse("join by no column or with no table; want a table and one or more of %q", t.names)
	}
	kinds := make([]string, len(on))
	for k, name := range on {
		kinds[k] = t.keyKind(other, name)
	}
	partners := map[string][]int{}
	for i := range other.rows {
		key := other.key(i, on, kinds)
		partners[key] = append(partners[key], i)
	}
	var rows, others []int
	for i := range t.rows {
		found := partners[t.key(i, on, kinds)]
		for _, k := range found {
			rows, others = append(rows, i), append(others, k)
		}
		if left && len(found) == 0 {
			rows, others = append(rows, i), append(others, -1)
		}
	}
	out := t.Take(rows)
	for _, name := range other.names {
		if slices.Contains(on, name) {
			continue
		}
		texts := make([]string, len(others))
		for k, i := range others {
			if i >= 0 && !other.isMissing(other.columns[name][i]) {
				texts[k] = other.columns[name][i]
			}
		}
		if _, both := out.columns[name]; both {
			out = out.Rename(name, name+"_x")
			name += "_y"
		}
		out = out.With(name, texts)
	}
	return out
}

// keyKind returns the kind by which the values of a column of two tables are compared.
func (t *Table) keyKind(other *Table, name string) string {
	t.column(name)
	other.column(name)
	a, _ := t.kind(name)
	b, _ := other.kind(name)
	numbers := func(kind string) bool { return kind == int64Column || kind == float64Column }
	switch {
	case a == b:
		return a
	case numbers(a) && numbers(b):
		return float64Column
	}
	refuse("column %q has %s here and %s in the other table; want the same kind of values", name, a, b)
	return ""
}

// key returns a text that rows with equal values in the given columns have in common.
func (t *Table) key(i int, names, kinds []string) string {
	var key strings.Builder
	for k, name := range names {
		value := t.columns[name][i]
		if t.isMissing(value) {
			key.WriteString("-")
			continue
		}
		value = sameText(value, kinds[k])
		fmt.Fprintf(&key, "%d:%s", len(value), value)
	}
	return key.String()
}
