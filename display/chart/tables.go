package chart

import (
	"slices"
	"strings"
)

// table is a table with named columns, such as data.Table.
type table interface {
	Names() []string
	Numbers(name string) ([]float64, error)
	Texts(name string) []string
	IsNumeric(name string) bool
}

// namesAfter returns the strings at the start of arguments.
func namesAfter(data []any) (names []string) {
	for _, v := range data {
		name, ok := v.(string)
		if !ok {
			break
		}
		names = append(names, name)
	}
	return names
}

// setsOf returns sets of points of a table: the columns x and y, several y, or y alone, and perhaps a last column of texts that
// divides the rows.
func setsOf(function string, paired bool, t table, names []string) (list []Series, named axes) {
	names, by := divided(function, t, names)
	var x []float64
	if len(names) > 1 && paired {
		x, named.x, names = numbersIn(function, t, names[0]), names[0], names[1:]
	}
	if len(names) == 1 {
		named.y = names[0]
	}
	for _, name := range names {
		values := numbersIn(function, t, name)
		if by == "" {
			s := Series{Name: name, X: x, Values: values}
			if len(names) == 1 {
				s.Name = ""
			}
			list = append(list, s)
			continue
		}
		for _, g := range groups(t.Texts(by)) {
			s := Series{Name: g.text, Values: g.of(values)}
			if len(names) > 1 {
				s.Name = name + ", " + g.text
			}
			if x != nil {
				s.X = g.of(x)
			}
			list = append(list, s)
		}
	}
	return list, named
}

// divided returns the names of columns without a last one that divides the rows, and that one.
func divided(function string, t table, names []string) (numbers []string, by string) {
	if len(names) == 0 {
		refuse(function, "a table without names of columns after it; want some of %q", t.Names())
	}
	for _, name := range names {
		if !slices.Contains(t.Names(), name) {
			refuse(function, "the table has no column %q; want some of %q", name, t.Names())
		}
	}
	if last := names[len(names)-1]; len(names) > 1 && !t.IsNumeric(last) {
		return names[:len(names)-1], last
	}
	return names, ""
}

// numbersIn returns the numbers of a column.
func numbersIn(function string, t table, name string) []float64 {
	values, err := t.Numbers(name)
	if err != nil {
		refuse(function, "%s", strings.TrimPrefix(err.Error(), "data: csv: "))
	}
	return values
}

// group is the rows with the same text in a column.
type group struct {
	text string
	rows []int
}

// groups returns the rows of each text, in the order of the texts. Rows without a text are left out.
func groups(texts []string) (list []group) {
	at := map[string]int{}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		k, found := at[text]
		if !found {
			k = len(list)
			at[text], list = k, append(list, group{text: text})
		}
		list[k].rows = append(list[k].rows, i)
	}
	slices.SortFunc(list, func(a, b group) int { return strings.Compare(a.text, b.text) })
	return list
}

func (g group) of(values []float64) []float64 {
	out := make([]float64, len(g.rows))
	for k, i := range g.rows {
		out[k] = values[i]
	}
	return out
}
