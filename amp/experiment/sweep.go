package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/display/chart"
	"halfnote/internal/text"
	"halfnote/tensor/data"
)

// resultName is the column of the results in a table of runs.
const resultName = "result"

// SweepReport is the result of [Sweep]. Its table has a row for each setting: the mean of its results and, with several seeds,
// their standard deviation (with n-1) and number.
type SweepReport struct {
	Report
	Grid  Grid
	Runs  *data.Table // a row for each run: the parameters, "result", and what [Point.Record] added
	Means *data.Table // a row for each setting: the parameters without the seed, mean, std and runs

	settings []setting
}

// setting is the results of the runs that differ in the seed only.
type setting struct {
	point   Point
	results []float64
}

// mean returns the mean of the results and their standard deviation, which is NaN for less than two.
func (s setting) mean() (mean, std float64) {
	for _, x := range s.results {
		mean += x / float64(len(s.results))
	}
	if len(s.results) < 2 {
		return mean, math.NaN()
	}
	for _, x := range s.results {
		std += (x - mean) * (x - mean) / float64(len(s.results)-1)
	}
	return mean, math.Sqrt(std)
}

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

// params returns the parameters without the seed.
func (r *SweepReport) params() (list []Param) {
	for _, p := range r.Grid {
		if p.Name != seedName {
			list = append(list, p)
		}
	}
	return list
}

// seeds returns the number of seeds, 0 without them.
func (r *SweepReport) seeds() int {
	for _, p := range r.Grid {
		if p.Name == seedName {
			return len(p.Values)
		}
	}
	return 0
}

// summarize fills the table, the sentence and the chart.
func (r *SweepReport) summarize() {
	r.Means = data.NewTable()
	params := r.params()
	for _, p := range params {
		texts := make([]string, len(r.settings))
		for i, s := range r.settings {
			texts[i] = s.point.Text(p.Name)
		}
		r.Means.AddTexts(p.Name, texts)
		r.Header = append(r.Header, p.Name)
	}
	means, stds, runs := make([]float64, len(r.settings)), make([]float64, len(r.settings)), make([]float64, len(r.settings))
	for i, s := range r.settings {
		means[i], stds[i] = s.mean()
		runs[i] = float64(len(s.results))
	}
	r.Means.AddNumbers("mean", means).AddNumbers("std", stds).AddNumbers("runs", runs)
	r.Header = append(r.Header, resultName)
	if r.seeds() > 1 {
		r.Header = append(r.Header[:len(r.Header)-1], "mean", "± std", "runs")
	}
	for i, s := range r.settings {
		var cells []any
		for _, p := range params {
			cells = append(cells, s.point.Text(p.Name))
		}
		cells = append(cells, text.Number(means[i], 5))
		if r.seeds() > 1 {
			std := "–"
			if !math.IsNaN(stds[i]) {
				std = "± " + text.Number(stds[i], 2)
			}
			cells = append(cells, std, len(s.results))
		}
		r.row(cells...)
	}
	r.Says = r.sentence()
	switch len(params) {
	case 1:
		r.Figure = r.plot(params[0], means, stds)
	case 2:
		r.Figure = r.HeatMap(params[0].Name, params[1].Name)
	}
}

func (r *SweepReport) sentence() string {
	high, low := r.extreme(1), r.extreme(-1)
	said := text.Count(len(r.settings), "setting")
	if n := r.seeds(); n > 1 {
		said += fmt.Sprintf(" with %d seeds each", n)
	}
	bad := 0
	for _, s := range r.settings {
		for _, x := range s.results {
			if x-x != 0 {
				bad++
			}
		}
	}
	if high < 0 {
		return said + ": no result is finite."
	}
	said += fmt.Sprintf(": highest %s with %s, lowest %s with %s.", r.settings[high].text(), r.settings[high].point, r.settings[low].text(), r.settings[low].point)
	if bad > 0 {
		said += fmt.Sprintf(" Not finite: %s.", text.Count(bad, "result"))
	}
	return said
}

// text returns the mean and the spread.
func (s setting) text() string {
	mean, std := s.mean()
	if math.IsNaN(std) {
		return text.Number(mean, 5)
	}
	return text.Number(mean, 5) + " ± " + text.Number(std, 2)
}

// extreme returns the index of the setting whose finite mean is highest, or lowest with the sign -1. It is -1 if no mean is finite.
func (r *SweepReport) extreme(sign float64) int {
	at, most := -1, math.Inf(-1)
	for i, s := range r.settings {
		if mean, _ := s.mean(); mean-mean == 0 && sign*mean > most {
			at, most = i, sign*mean
		}
	}
	return at
}

// Highest returns the setting with the highest mean result, and that mean. It panics if no result is finite.
func (r *SweepReport) Highest() (Point, float64) { return r.best("Highest", 1) }

// Lowest returns the setting with the lowest mean result, and that mean. It panics if no result is finite.
func (r *SweepReport) Lowest() (Point, float64) { return r.best("Lowest", -1) }

func (r *SweepReport) best(name string, sign float64) (Point, float64) {
	i := r.extreme(sign)
	if i < 0 {
		panic(fmt.Sprintf("experiment: %s: no setting has a finite mean", name))
	}
	mean, _ := r.settings[i].mean()
	return r.settings[i].point, mean
}

// plot returns the results over the values of a parameter: a line if they are numbers in order, otherwise bars.
func (r *SweepReport) plot(p Param, means, stds []float64) *chart.Figure {
	errors := make([]float64, len(stds))
	for i, std := range stds {
		if std-std == 0 {
			errors[i] = std
		}
	}
	names, x := make([]string, len(r.settings)), make([]float64, len(r.settings))
	ascends := true
	for i, s := range r.settings {
		names[i] = s.point.Text(p.Name)
		number, ok := asNumber(s.point.Value(p.Name))
		x[i] = number
		ascends = ascends && ok && (i == 0 || number > x[i-1])
	}
	if !ascends || len(x) < 3 {
		return chart.BarPlot(names, means).ErrorBars(errors).XLabel(p.Name).YLabel(resultName)
	}
	f := chart.Plot(x, means).ErrorBars(errors).XLabel(p.Name).YLabel(resultName)
	if x[0] > 0 && x[len(x)-1]/x[0] >= 100 {
		f = f.LogX()
	}
	return f
}

// asNumber returns a value as a number, and reports whether it is one.
func asNumber(v any) (x float64, ok bool) {
	defer func() { ok = ok && recover() == nil }()
	ok = true
	return Point{grid: Grid{{Name: "x"}}, values: []any{v}}.Number("x"), ok
}

// HeatMap returns the mean results as a heat map, with the values of one parameter as columns and those of another one as rows. It is
// the mean over the other parameters. It panics if the grid does not have the parameters.
func (r *SweepReport) HeatMap(columns, rows string) *chart.Figure {
	title := resultName + " by " + columns + " and " + rows
	find := func(name string) Param {
		for _, p := range r.params() {
			if p.Name == name {
				return p
			}
		}
		panic(fmt.Sprintf("experiment: HeatMap: the grid has no parameter %q; want two of its parameters but the seed", name))
	}
	x, y := find(columns), find(rows)
	if columns == rows {
		panic(fmt.Sprintf("experiment: HeatMap: parameter %q twice; want two parameters", rows))
	}
	var others []string
	for _, p := range r.params() {
		if p.Name != columns && p.Name != rows {
			others = append(others, p.Name)
		}
	}
	if r.seeds() > 1 {
		others = append(others, fmt.Sprintf("%d seeds", r.seeds()))
	}
	if len(others) > 0 {
		title += ", mean over " + strings.Join(others, ", ")
	}
	cells := make([][]float64, len(y.Values))
	for i := range cells {
		cells[i] = make([]float64, len(x.Values))
		for k := range cells[i] {
			sum, n := 0., 0.
			for _, s := range r.settings {
				if s.point.Text(columns) == fmt.Sprint(x.Values[k]) && s.point.Text(rows) == fmt.Sprint(y.Values[i]) {
					mean, _ := s.mean()
					sum, n = sum+mean, n+1
				}
			}
			cells[i][k] = sum / n // NaN before the first run
		}
	}
	texts := func(p Param) (list []string) {
		for _, v := range p.Values {
			list = append(list, fmt.Sprint(v))
		}
		return list
	}
	return chart.Imshow(cells).XTicks(nil, texts(x)...).YTicks(nil, texts(y)...).XLabel(columns).YLabel(rows).Title(title)
}
