package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/tensor/data"
)

// resultName is the column of the results in a table of runs.
const resultName = "result"

// Sweep calls run with each setting of a grid and returns the results in a table, with a chart for one parameter and a heat map for
// two:
//
//	experiment.Sweep(experiment.Grid{
//		experiment.Over("dtype", "float32", "bfloat16"),
//		experiment.Over("lr", 0.01, 0.1),
//		experiment.Seeds(5),
//	}, func(p experiment.Point) float64 {
//		return train(p.Text("dtype"), p.Number("lr"), p.Seed())
//	}, "sweep.csv")
//
// While it runs, the results so far are shown. A file, if given, keeps each result as soon as there is one: after an interrupt or a
// restart the same call continues with the settings that are missing, and a grid with more values runs those. The report says how many
// results are from the file. The file knows the values of the parameters but not the function: delete it when run changes. Without a
// file nothing is kept: after an interrupt the call begins with the first setting, in the same session too. Sweep
// panics if the grid is not one, or if the file is not that of a sweep over the same parameters.
func Sweep(grid Grid, run func(Point) float64, file ...string) *SweepReport {
	return sweepOn(display.NewProgress, display.Live, grid, run, file)
}

// SweepOn is [Sweep] on a screen.
func SweepOn(s *display.Screen, grid Grid, run func(Point) float64, file ...string) *SweepReport {
	return sweepOn(s.NewProgress, s.Live, grid, run, file)
}

func sweepOn(progress func(int, string) *display.Progress, show func(any) *display.Handle, grid Grid, run func(Point) float64, file []string) *SweepReport {
	needed("Sweep", "run", run != nil, "a function of a setting that returns its result")
	grid.check()
	s := &sweep{grid: grid, points: grid.points(), done: map[string][]recorded{}}
	if len(file) > 0 {
		s.file = file[0]
		s.load()
	}
	kept := 0
	for _, p := range s.points {
		if _, found := s.done[s.key(p)]; found {
			kept++
		}
	}
	bar := progress(len(s.points), "sweep")
	bar.Add(kept)
	live := show(s.sofar())
	for _, p := range s.points {
		if _, found := s.done[s.key(p)]; found {
			continue
		}
		results := []recorded{{resultName, 0}}
		p.recorded = &results
		results[0].value = run(p) // Record may have added to results
		s.done[s.key(p)] = results
		s.save()
		bar.Add(1)
		live.Update(s.sofar())
	}
	bar.Finish()
	live.Update(display.Bundle{Data: map[string]any{"text/plain": "", "text/html": ""}})
	r := s.report()
	if kept > 0 {
		r.Says += fmt.Sprintf(" %d of the %d results are from %s.", kept, len(s.points), s.file)
	}
	return r
}

// sweep is a sweep that runs.
type sweep struct {
	grid   Grid
	points []Point
	file   string
	done   map[string][]recorded // results by key; the first is the result itself
	others [][]string            // rows of the file that are not of the grid, in its columns
	head   []string              // columns of the file
}

// key returns what tells settings apart.
func (s *sweep) key(p Point) string {
	var parts []string
	for _, v := range p.values {
		parts = append(parts, fmt.Sprintf("%q", fmt.Sprint(v)))
	}
	return strings.Join(parts, " ")
}

// names returns the names of the parameters.
func (s *sweep) names() (names []string) {
	for _, p := range s.grid {
		names = append(names, p.Name)
	}
	return names
}

// table returns the runs that are done, in the order of the grid.
func (s *sweep) table() *data.Table {
	extra := []string{}
	var runs []Point
	for _, p := range s.points {
		results, found := s.done[s.key(p)]
		if !found {
			continue
		}
		runs = append(runs, p)
		for _, r := range results[1:] {
			if !slices.Contains(extra, r.name) {
				extra = append(extra, r.name)
			}
		}
	}
	t := data.NewTable()
	for k, q := range s.grid {
		texts := make([]string, len(runs))
		for i, p := range runs {
			texts[i] = fmt.Sprint(p.values[k])
		}
		t.AddTexts(q.Name, texts)
	}
	for _, name := range append([]string{resultName}, extra...) {
		numbers := make([]float64, len(runs))
		for i, p := range runs {
			results := s.done[s.key(p)]
			numbers[i] = math.NaN()
			if k := slices.IndexFunc(results, func(r recorded) bool { return r.name == name }); k >= 0 {
				numbers[i] = results[k].value
			}
		}
		t.AddNumbers(name, numbers)
	}
	return t
}

// lastRows is the number of settings that are shown while a sweep runs: those that ran last.
const lastRows = 12

// sofar returns what is shown while the sweep runs.
func (s *sweep) sofar() display.Bundle {
	all := s.report()
	r := all.Report
	r.Figure = nil
	r.Rows = r.Rows[max(len(r.Rows)-lastRows, 0):]
	kept := "With the name of a file as third argument, Sweep would continue from here after an interrupt."
	if s.file != "" {
		kept = fmt.Sprintf("They are in %s: after an interrupt, the same call continues from there.", s.file)
	}
	done := all.Runs.Len()
	if r.Says = fmt.Sprintf("%d of %d runs are done. %s", done, len(s.points), kept); r.Rows == nil {
		return display.Bundle{Data: map[string]any{"text/html": "", "text/plain": ""}}
	}
	return display.Bundle{Data: map[string]any{"text/html": r.HTML(), "text/plain": r.Says}}
}

// report returns the report of the runs that are done.
func (s *sweep) report() *SweepReport {
	r := &SweepReport{Grid: s.grid, Runs: s.table()}
	at := map[string]int{}
	for _, p := range s.points {
		results, found := s.done[s.key(p)]
		if !found {
			continue
		}
		k, found := at[p.String()]
		if !found {
			k = len(r.settings)
			at[p.String()], r.settings = k, append(r.settings, setting{point: p})
		}
		r.settings[k].results = append(r.settings[k].results, results[0].value)
	}
	r.summarize()
	return r
}
