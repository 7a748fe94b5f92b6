package data

import (
	"cmp"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strconv"
	"strings"

	"halfnote/tensor"
)

// What makes a table from another one. Each of these methods returns a new table and leaves t as it is.

// refuse panics with an error about a table.
func refuse(format string, args ...any) {
	panic(&tensor.Error{Op: "table", Why: fmt.Sprintf(format, args...)})
}

// Row is a row of a table.
type Row struct {
	table *Table
	Index int // position in the table, from 0
}

// Text returns the row's text in a column, as in the file. It panics if the column does not exist.
func (r Row) Text(name string) string { return r.table.column(name)[r.Index] }

// Number returns the row's number in a column, NaN if it is missing. It panics if the column does not exist or the text is not a
// number.
func (r Row) Number(name string) float64 {
	text := r.Text(name)
	if r.table.isMissing(text) {
		return math.NaN()
	}
	x, err := parseNumber(text)
	if err != nil {
		refuse("column %q, row %d: found %s; want a number, or Row.Text", name, r.Index, quoted(text))
	}
	return x
}

// Bool returns the row's truth value in a column, as pandas reads it, and false if it is missing. It panics if the column does not
// exist or the text is not true or false.
func (r Row) Bool(name string) bool {
	text := r.Text(name)
	is, known := truths[text]
	if !known && !r.table.isMissing(text) {
		refuse("column %q, row %d: found %s; want True or False", name, r.Index, quoted(text))
	}
	return is
}

// IsMissing reports whether the row's value in a column is missing. It panics if the column does not exist.
func (r Row) IsMissing(name string) bool { return r.table.isMissing(r.Text(name)) }

// Row returns row i. It panics if the table does not have it. It is pandas.DataFrame.iloc.
func (t *Table) Row(i int) Row {
	if i < 0 || i >= t.rows {
		refuse("row %d of %d; want 0 to %d", i, t.rows, t.rows-1)
	}
	return Row{t, i}
}

// Take returns the rows at the given positions, in that order. It panics if the table does not have one of them. It is
// pandas.DataFrame.iloc with a list.
func (t *Table) Take(rows []int) *Table {
	out := &Table{names: slices.Clone(t.names), columns: make(map[string][]string, len(t.names)), rows: len(rows), missing: t.missing}
	for _, i := range rows {
		t.Row(i)
	}
	for name, column := range t.columns {
		taken := make([]string, len(rows))
		for k, i := range rows {
			taken[k] = column[i]
		}
		out.columns[name] = taken
	}
	return out
}

// Filter returns the rows for which keep is true:
//
//	heavy := penguins.Filter(func(r data.Row) bool { return r.Number("mass") > 4000 && r.Text("island") == "Dream" })
//
// A missing number is NaN, which is not less than, equal to or greater than any number.
func (t *Table) Filter(keep func(Row) bool) *Table {
	var rows []int
	for i := range t.rows {
		if keep(Row{t, i}) {
			rows = append(rows, i)
		}
	}
	return t.Take(rows)
}

// Where returns the rows for which mask is true: a value for each row. It panics if their numbers differ. It is
// pandas.DataFrame[mask].
func (t *Table) Where(mask []bool) *Table {
	if len(mask) != t.rows {
		refuse("a mask of %d values for %d rows; want one for each row", len(mask), t.rows)
	}
	return t.Filter(func(r Row) bool { return mask[r.Index] })
}

// Tail returns the last n rows, or all if there are fewer. It panics if n is negative. It is pandas.DataFrame.tail.
func (t *Table) Tail(n int) *Table {
	if n < 0 {
		refuse("tail of %d rows; want 0 or more", n)
	}
	return t.Take(between(max(t.rows-n, 0), t.rows))
}

// between returns the numbers from first on that are less than end.
func between(first, end int) []int {
	out := make([]int, end-first)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// Split returns the rows in random order as two tables: the given share of them, rounded down, and the others. The same
// seed gives the same rows. It panics if the share is not between 0 and 1. It is sklearn.model_selection.train_test_split.
func (t *Table) Split(share float64, seed int64) (first, second *Table) {
	if !(share >= 0 && share <= 1) {
		refuse("split at a share of %v; want 0 to 1", share)
	}
	order := rand.New(rand.NewSource(seed)).Perm(t.rows)
	n := int(share * float64(t.rows))
	return t.Take(order[:n]), t.Take(order[n:])
}

// Sort returns the rows in the order of the first column given, those that are equal there in the order of the next one, and so on.
// "-mass" is the descending order of mass. Numbers are ordered by size and texts by their characters; missing values are last.
// Rows that are equal keep their order. It panics if a column does not exist. It is pandas.DataFrame.sort_values.
func (t *Table) Sort(by ...string) *Table {
	var orders []func(i, j int) int
	for _, name := range by {
		sign := 1
		if _, found := t.columns[name]; !found && strings.HasPrefix(name, "-") {
			name, sign = name[1:], -1
		}
		orders = append(orders, t.order(name, sign))
	}
	rows := between(0, t.rows)
	slices.SortStableFunc(rows, func(i, j int) int {
		for _, order := range orders {
			if c := order(i, j); c != 0 {
				return c
			}
		}
		return 0
	})
	return t.Take(rows)
}

// order returns the order of the rows by a column, with missing values last whatever the sign.
func (t *Table) order(name string, sign int) func(i, j int) int {
	texts, missing := t.column(name), t.IsMissing(name)
	compare := func(i, j int) int { return strings.Compare(texts[i], texts[j]) }
	if numbers, err := t.Numbers(name); err == nil {
		compare = func(i, j int) int { return cmp.Compare(numbers[i], numbers[j]) }
	}
	return func(i, j int) int {
		switch {
		case missing[i] && missing[j]:
			return 0
		case missing[i]:
			return 1
		case missing[j]:
			return -1
		}
		return sign * compare(i, j)
	}
}

// Select returns the columns with the given names, in that order. It panics if one does not exist or is named twice. It is
// pandas.DataFrame[names].
func (t *Table) Select(names ...string) *Table {
	out := &Table{columns: map[string][]string{}, rows: t.rows, missing: t.missing}
	for _, name := range names {
		column := t.column(name)
		if _, twice := out.columns[name]; twice {
			refuse("column %q is selected twice", name)
		}
		out.names, out.columns[name] = append(out.names, name), column
	}
	return out
}

// Drop returns the other columns. It panics if one of the names does not exist. It is pandas.DataFrame.drop.
func (t *Table) Drop(names ...string) *Table {
	for _, name := range names {
		t.column(name)
	}
	return t.Select(slices.DeleteFunc(t.Names(), func(name string) bool { return slices.Contains(names, name) })...)
}

// Rename returns the table with another name for a column. It panics if the column does not exist or the new name does. It is
// pandas.DataFrame.rename.
func (t *Table) Rename(from, to string) *Table {
	column := t.column(from)
	if _, found := t.columns[to]; found && to != from {
		refuse("rename column %q to %q, which exists; want a new name", from, to)
	}
	out := t.Select(t.names...)
	delete(out.columns, from)
	out.columns[to] = column
	out.names[slices.Index(out.names, from)] = to
	return out
}

// With returns the table with a column of values, which replaces one of the same name. Values are a slice of numbers, of texts
// or of bool, a tensor with one element for each row, or a function of a [Row] that returns a float64, a string or a bool:
//
//	t = t.With("ratio", func(r data.Row) float64 { return r.Number("length") / r.Number("depth") })
//
// NaN is a missing value. It panics if there is not one value for each row. It is pandas.DataFrame.assign.
func (t *Table) With(name string, values any) *Table {
	texts := t.texts(name, values)
	if len(texts) != t.rows && len(t.names) > 0 {
		refuse("column %q of %d values for %d rows; want one for each row", name, len(texts), t.rows)
	}
	out := t.Select(t.names...)
	if _, found := out.columns[name]; !found {
		out.names = append(out.names, name)
	}
	out.columns[name], out.rows = texts, len(texts)
	return out
}

// texts returns values as the texts of a new column.
func (t *Table) texts(name string, values any) (texts []string) {
	add := func(text string) { texts = append(texts, text) }
	number := func(x float64) { add(numberText(x)) }
	switch v := values.(type) {
	case []string:
		return slices.Clone(v)
	case []float64:
		each(v, number)
	case []float32:
		each(v, func(x float32) { number(float64(x)) })
	case []int:
		each(v, func(n int) { add(strconv.Itoa(n)) })
	case []int64:
		each(v, func(n int64) { add(strconv.FormatInt(n, 10)) })
	case []bool:
		each(v, func(b bool) { add(truthText(b)) })
	case *tensor.Tensor:
		if v.Numel() != t.rows && len(t.names) > 0 {
			refuse("column %q of a tensor of shape %v for %d rows; want one element for each row", name, v.Shape(), t.rows)
		}
		each(v.Float64s(), number)
	case func(Row) float64:
		for i := range t.rows {
			number(v(Row{t, i}))
		}
	case func(Row) string:
		for i := range t.rows {
			add(v(Row{t, i}))
		}
	case func(Row) bool:
		for i := range t.rows {
			add(truthText(v(Row{t, i})))
		}
	default:
		refuse("column %q of a %T; want a slice of numbers, texts or bool, a tensor, or a function of a data.Row that returns a float64, a string or a bool", name, values)
	}
	return texts
}

func each[T any](list []T, do func(T)) {
	for _, v := range list {
		do(v)
	}
}

// numberText returns a number so that it reads back exactly, and NaN as an empty field.
func numberText(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// truthText is Python's text of a bool.
func truthText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// DropMissing returns the rows in which none of the given columns has a missing value, by default none of all columns. It panics if
// a column does not exist. It is pandas.DataFrame.dropna.
func (t *Table) DropMissing(names ...string) *Table {
	if len(names) == 0 {
		names = t.names
	}
	for _, name := range names {
		t.column(name)
	}
	return t.Filter(func(r Row) bool { return !slices.ContainsFunc(names, r.IsMissing) })
}

// FillMissing returns the table with a number or a text in place of a column's missing values. It panics if the column does not
// exist. It is pandas.Series.fillna.
func (t *Table) FillMissing(name string, value any) *Table {
	text := fmt.Sprint(value)
	switch v := value.(type) {
	case float64:
		text = numberText(v)
	case bool:
		text = truthText(v)
	}
	filled := t.Texts(name)
	for i, old := range filled {
		if t.isMissing(old) {
			filled[i] = text
		}
	}
	return t.With(name, filled)
}

// Unique returns the values of a column without the missing ones, sorted: numbers by size. It panics if the column does not
// exist. It is pandas.Series.unique.
func (t *Table) Unique(name string) []string {
	return t.Select(name).DropMissing().GroupBy(name).Keys()
}
