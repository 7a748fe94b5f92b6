package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Groups are the rows of a table that have the same values in some columns.
type Groups struct {
	table *Table
	by    []string
	rows  [][]int // positions of the rows of each group
}

// GroupBy returns the rows in groups of equal values of the given columns, sorted by them. Rows with a missing value in one of these
// columns are in no group. It panics if a column does not exist or none is given.
//
//	penguins.GroupBy("species").Mean()
//	penguins.GroupBy("species", "sex").Agg("mass", "mean", "std", "count")
//
// It is pandas.DataFrame.groupby.
func (t *Table) GroupBy(by ...string) *Groups {
	if len(by) == 0 {
		refuse("groups by no column; want one or more of %q", t.names)
	}
	g := &Groups{table: t, by: slices.Clone(by)}
	columns, kinds := make([][]string, len(by)), make([]string, len(by))
	for k, name := range by {
		columns[k] = t.column(name)
		kinds[k], _ = t.kind(name)
	}
	at := map[string]int{}
	for i := range t.rows {
		var key strings.Builder
		known := true
		for k, column := range columns {
			value := sameText(column[i], kinds[k])
			fmt.Fprintf(&key, "%d:%s", len(value), value)
			known = known && !t.isMissing(column[i])
		}
		if !known {
			continue
		}
		k, found := at[key.String()]
		if !found {
			k = len(g.rows)
			at[key.String()], g.rows = k, append(g.rows, nil)
		}
		g.rows[k] = append(g.rows[k], i)
	}
	var orders []func(i, j int) int
	for _, name := range by {
		orders = append(orders, t.order(name, 1))
	}
	slices.SortStableFunc(g.rows, func(a, b []int) int {
		for _, order := range orders {
			if c := order(a[0], b[0]); c != 0 {
				return c
			}
		}
		return 0
	})
	return g
}

// sameText returns a text that equal values of a column of some kind have in common: 1, 1.0 and 1e0 are equal.
func sameText(text, kind string) string {
	switch kind {
	case boolColumn:
		return strings.ToLower(text)
	case int64Column:
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
			return strconv.FormatInt(n, 10)
		}
	case float64Column:
		if x, err := parseNumber(text); err == nil {
			return numberText(x + 0) // -0 and 0 are equal
		}
	}
	return text
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.rows) }

// Keys returns the values that each group has in the columns, joined by a comma and a blank if there are several columns.
func (g *Groups) Keys() []string {
	keys := make([]string, len(g.rows))
	for k, rows := range g.rows {
		parts := make([]string, len(g.by))
		for i, name := range g.by {
			parts[i] = g.table.columns[name][rows[0]]
		}
		keys[k] = strings.Join(parts, ", ")
	}
	return keys
}

// Table returns the rows of group k, in the order of Keys. It panics if there is no such group.
func (g *Groups) Table(k int) *Table {
	if k < 0 || k >= len(g.rows) {
		refuse("group %d of %d; want 0 to %d", k, len(g.rows), len(g.rows)-1)
	}
	return g.table.Take(g.rows[k])
}

// keyed returns a table with the columns of the groups, a row for each group.
func (g *Groups) keyed() *Table {
	first := make([]int, len(g.rows))
	for k, rows := range g.rows {
		first[k] = rows[0]
	}
	return g.table.Select(g.by...).Take(first)
}

// Count returns a table with the number of rows of each group. It is pandas.DataFrameGroupBy.size.
func (g *Groups) Count() *Table {
	n := make([]int, len(g.rows))
	for k, rows := range g.rows {
		n[k] = len(rows)
	}
	return g.keyed().With(g.free("count"), n)
}

// free returns name, or a form of it that is not a column of the groups.
func (g *Groups) free(name string) string {
	for slices.Contains(g.by, name) {
		name += "_"
	}
	return name
}

// statistic is a number that describes values, which are sorted and not missing.
type statistic struct {
	name string
	of   func(sorted []float64) float64
}

// statistics are what Agg knows, sorted by name.
var statistics = []statistic{
	{"count", func(v []float64) float64 { return float64(len(v)) }},
	{"max", func(v []float64) float64 { return quantile(v, 1) }},
	{"mean", func(v []float64) float64 { mean, _ := moments(v); return mean }},
	{"median", func(v []float64) float64 { return quantile(v, .5) }},
	{"min", func(v []float64) float64 { return quantile(v, 0) }},
	{"std", func(v []float64) float64 { _, std := moments(v); return std }},
	{"sum", func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum
	}},
}

// Agg returns a table with statistics of a column of numbers, a row for each group: count (of the values that are not missing), max,
// mean, median, min, std (with n-1) and sum. It panics if the column does not exist or is not of numbers, and for another
// statistic. It is pandas.SeriesGroupBy.agg.
func (g *Groups) Agg(column string, names ...string) *Table {
	out := g.keyed()
	for _, name := range names {
		i := slices.IndexFunc(statistics, func(s statistic) bool { return s.name == name })
		if i < 0 {
			var known []string
			for _, s := range statistics {
				known = append(known, s.name)
			}
			refuse("statistic %q; want one of %q, or Groups.Apply with a function", name, known)
		}
		out = out.With(g.free(name), g.apply(column, statistics[i].of))
	}
	return out
}

// Apply returns a table with what a function returns for each group's numbers in a column, in ascending order and without the missing
// ones. It panics if the column does not exist or is not of numbers.
func (g *Groups) Apply(column string, of func(values []float64) float64) *Table {
	return g.keyed().With(g.free(column), g.apply(column, of))
}

func (g *Groups) apply(column string, of func([]float64) float64) []float64 {
	numbers, err := g.table.Numbers(column)
	if err != nil {
		refuse("%v", err)
	}
	out := make([]float64, len(g.rows))
	for k, rows := range g.rows {
		var values []float64
		for _, i := range rows {
			if x := numbers[i]; !math.IsNaN(x) {
				values = append(values, x)
			}
		}
		slices.Sort(values)
		out[k] = of(values)
	}
	return out
}

// all returns a statistic of each of the given columns, by default of all columns of numbers.
func (g *Groups) all(name string, columns []string) *Table {
	if len(columns) == 0 {
		for _, c := range g.table.names {
			if kind, _ := g.table.kind(c); !slices.Contains(g.by, c) && (kind == int64Column || kind == float64Column) {
				columns = append(columns, c)
			}
		}
	}
	i := slices.IndexFunc(statistics, func(s statistic) bool { return s.name == name })
	out := g.keyed()
	for _, c := range columns {
		out = out.With(c, g.apply(c, statistics[i].of))
	}
	return out
}

// Mean returns a table with the mean of each of the given columns, by default of all columns of numbers, a row for each group. Missing
// values are left out. It panics if a column does not exist or is not of numbers.
func (g *Groups) Mean(columns ...string) *Table { return g.all("mean", columns) }

// Median is [Groups.Mean] for the median.
func (g *Groups) Median(columns ...string) *Table { return g.all("median", columns) }

// Std is [Groups.Mean] for the standard deviation, with n-1. That of a group of one row is missing.
func (g *Groups) Std(columns ...string) *Table { return g.all("std", columns) }

// Sum is [Groups.Mean] for the sum.
func (g *Groups) Sum(columns ...string) *Table { return g.all("sum", columns) }

// Min is [Groups.Mean] for the lowest value.
func (g *Groups) Min(columns ...string) *Table { return g.all("min", columns) }

// Max is [Groups.Mean] for the highest value.
func (g *Groups) Max(columns ...string) *Table { return g.all("max", columns) }

// String returns the number of rows of each group as a table.
func (g *Groups) String() string { return g.Count().String() }

// HTML returns the same for a cell's output.
func (g *Groups) HTML() string { return g.Count().HTML() }
