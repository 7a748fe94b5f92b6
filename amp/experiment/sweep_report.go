package experiment

import (
	"fmt"
	"math"
	"strings"

	"halfnote/display/chart"
	"halfnote/internal/text"
	"halfnote/tensor/data"
)

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
