package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"halfnote/tensor/data"
)

// load reads the results of the file, if it exists.
func (s *sweep) load() {
	t, err := data.LoadCSV(s.file, data.CSVOptions{})
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		panic(fmt.Sprintf("experiment: Sweep: %v", err))
	}
	n := len(s.grid)
	if s.head = t.Names(); len(s.head) <= n || !slices.Equal(s.head[:n], s.names()) || s.head[n] != resultName {
		panic(fmt.Sprintf("experiment: Sweep: %s has the columns %q; want %q, or a file that does not exist", s.file, s.head, append(s.names(), resultName)))
	}
	wanted := map[string]bool{}
	for _, p := range s.points {
		wanted[s.key(p)] = true
	}
	columns := map[string][]float64{}
	for _, name := range s.head[n:] {
		if columns[name], err = t.Numbers(name); err != nil {
			panic(fmt.Sprintf("experiment: Sweep: %s: %v", s.file, err))
		}
	}
	for i := range t.Len() {
		var row []string
		var p Point
		for k, name := range s.head {
			row = append(row, t.Texts(name)[i])
			if k < n {
				p.values = append(p.values, row[k])
			}
		}
		if !wanted[s.key(p)] {
			s.others = append(s.others, row)
			continue
		}
		var results []recorded
		for k, name := range s.head[n:] {
			if x := columns[name][i]; k == 0 || !math.IsNaN(x) {
				results = append(results, recorded{name, x})
			}
		}
		s.done[s.key(p)] = results
	}
}

// save writes the results so far to the file, with the rows that it had of other grids.
func (s *sweep) save() {
	if s.file == "" {
		return
	}
	t := s.table()
	names := t.Names()
	for _, name := range s.head {
		if !slices.Contains(names, name) && len(s.others) > 0 {
			names = append(names, name)
		}
	}
	all := data.NewTable()
	for _, name := range names {
		column := make([]string, t.Len())
		if slices.Contains(t.Names(), name) {
			column = t.Texts(name)
		}
		for _, row := range s.others {
			text := ""
			if k := slices.Index(s.head, name); k >= 0 {
				text = row[k]
			}
			column = append(column, text)
		}
		all.AddTexts(name, column)
	}
	if err := all.Save(s.file); err != nil {
		panic(fmt.Sprintf("experiment: Sweep: %v", err))
	}
}
