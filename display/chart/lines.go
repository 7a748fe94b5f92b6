package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Series is one line of a chart.
type Series struct {
	Name   string
	DType  string    // dtype that selects the colour and dashes; may be empty
	X      []float64 // position of each value, for example its step; nil: 0, 1, 2 …
	Values []float64 // inf and NaN are drawn as ▲ at the edge
}

// Loss shows the losses of one or more runs over their steps.
func Loss(series []Series) *Figure { return Lines("loss", series) }

// Lines shows series of a quantity such as "accuracy" over their steps, or over their X, each
// labelled at its end. The y axis is logarithmic if all values are positive and their range is wide.
func Lines(what string, series []Series) *Figure {
	return lineChart{what: what, axes: axes{x: words.step, y: what}, auto: true}.with(series).figure()
}

// Needed shows the amount of a quantity such as "memory" that each series needs, in a unit such
// as "B", over the operations of a step, and states the maximum of each series.
func Needed(what, unit string, series []Series) *Figure {
	f := lineChart{what: what, axes: axes{x: words.headOp, y: what}, auto: true}.with(series).figure()
	var most []string
	for _, s := range series {
		if len(s.Values) > 0 {
			text := words.notFinite
			if at := spanOf(s.Values); finite(at.hi) {
				text = amount(at.hi, unit)
			}
			if l := newLine(s); l.bad > 0 && l.bad < len(s.Values) {
				text = fmt.Sprintf(words.lineBad, text, l.bad)
			}
			most = append(most, strings.TrimSpace(s.Name+" "+text))
		}
	}
	if len(most) > 0 {
		f.sentence = fmt.Sprintf(words.lineMost, capital(what), strings.Join(most, words.listAnd))
	}
	f.remake = nil
	return f
}

// lineChart is a chart of lines over an axis.
type lineChart struct {
	axes
	what   string // quantity
	plot   bool   // made by Plot or Step, which have a different sentence
	steps  bool   // each line is constant up to the next position
	series []lineSeries
	auto   bool // the y axis may become logarithmic
}

// with returns the chart with the series that have values.
func (l lineChart) with(series []Series) lineChart {
	for _, s := range series {
		if s.X != nil {
			n := min(len(s.X), len(s.Values))
			s.X, s.Values = s.X[:n], s.Values[:n]
		}
		if len(s.Values) > 0 {
			s.X, s.Values = slices.Clone(s.X), slices.Clone(s.Values) // a live chart is drawn later
			l.series = append(l.series, newLine(s))
		}
	}
	return l
}

func (l lineChart) figure() *Figure {
	if len(l.series) == 0 {
		return blank(fmt.Sprintf(words.lineNone, capital(l.what)))
	}
	l.logY = l.logY || l.auto && l.wide()
	var rows [][]any
	for _, s := range l.series {
		rows = append(rows, []any{s.Name, len(s.Values), short(s.Values[0]), short(s.Values[len(s.Values)-1]), short(s.low), s.bad})
	}
	f := &Figure{
		theme: Light, sentence: l.sentence(), height: 240, body: fitted(l.fit), narrow: true, lines: true, axes: l.axes,
		head: []string{words.headRun, words.headSteps, words.headFirst, words.headLast, words.headMin, words.headBad}, rows: rows, data: l.all,
		remake: func(a axes) *Figure {
			changed := l
			changed.axes = a
			return changed.figure()
		},
	}
	for _, s := range l.series {
		f.sets = append(f.sets, len(s.Values))
	}
	if l.plot {
		f.head = []string{words.headName, words.headPoints, words.headFirst, words.headLast, words.headMin, words.headBad}
	}
	return f
}

// sentence states how the lines end.
func (l lineChart) sentence() string {
	var ends []string
	longest, positions := 0, false
	var x [][]float64
	for _, s := range l.series {
		ends = append(ends, s.end(l.axes.x, l.plot))
		longest, positions, x = max(longest, len(s.Values)), positions || s.X != nil, append(x, s.positions())
	}
	list, over := strings.Join(ends, words.listAnd), spanOf(x...)
	switch {
	case l.plot:
		if s := l.series[0]; len(l.series) == 1 && s.from == len(s.Values) {
			list += fmt.Sprintf(words.plotBetween, short(s.low), short(spanOf(s.Values).hi))
		}
		return fmt.Sprintf(words.plotOver, list, l.axes.x, short(over.lo), short(over.hi))
	case positions:
		return fmt.Sprintf(words.lineOver, capital(l.what), l.axes.x, short(over.lo), short(over.hi), list)
	}
	return fmt.Sprintf(words.lineEnds, capital(l.what), stepsText(longest), list)
}

// lineSeries is a series with the values of its table row and label.
type lineSeries struct {
	Series
	low, last float64 // finite minimum and last value, NaN if there is none
	bad       int     // number of values that are not finite
	from      int     // index from which on no value is finite
}

func newLine(s Series) lineSeries {
	l := lineSeries{Series: s, low: math.Inf(1), last: nan}
	for i, v := range s.Values {
		if !finite(v) {
			l.bad++
			continue
		}
		l.low, l.last, l.from = min(l.low, v), v, i+1
	}
	if l.bad == len(s.Values) {
		l.low = nan
	}
	return l
}

// x returns the position of value i.
func (s lineSeries) x(i int) float64 {
	if s.X != nil {
		return s.X[i]
	}
	return float64(i)
}

// positions returns the first and last position, or all if they are given.
func (s lineSeries) positions() []float64 {
	if s.X != nil {
		return s.X
	}
	return []float64{0, float64(len(s.Values) - 1)}
}

// end returns the text for the last value of the series over an axis, as a part of a list or of a clause.
func (s lineSeries) end(axis string, clause bool) string {
	if s.from < len(s.Values) {
		kind := short(s.Values[s.from])
		for _, v := range s.Values[s.from:] {
			if short(v) != kind {
				kind = words.notFinite
			}
		}
		text := fmt.Sprintf(words.lineFrom, kind, axis, short(s.x(s.from)))
		if s.Name != "" {
			text = fmt.Sprintf(words.lineIs, s.Name, text)
		}
		return text
	}
	text := short(s.last)
	switch {
	case clause && s.Name == "":
		text = fmt.Sprintf(words.plotEnd, words.plotY, text)
	case clause:
		text = fmt.Sprintf(words.plotEnd, s.Name, text)
	case s.Name != "":
		text = s.Name + " " + text
	}
	if s.bad > 0 {
		text = fmt.Sprintf(words.lineBad, text, s.bad)
	}
	return text
}

func (l lineChart) wide() bool {
	lo, hi := l.reach()
	return lo > 0 && hi/lo > 300
}

// reach returns the lowest finite value and the highest positive one.
func (l lineChart) reach() (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, s := range l.series {
		for _, v := range s.Values {
			if finite(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// all returns a column for each series, or, if their positions differ, a row for each point.
func (l lineChart) all() (head []string, rows [][]any) {
	n, same := 0, true
	for _, s := range l.series {
		n = max(n, len(s.Values))
		same = same && slices.Equal(s.X, l.series[0].X) && (s.X == nil) == (l.series[0].X == nil)
	}
	if !same {
		blocks := make([][][]any, len(l.series))
		for k, s := range l.series {
			for i, v := range s.Values {
				blocks[k] = append(blocks[k], []any{s.Name, s.x(i), v})
			}
		}
		return l.withErrorColumns([]string{words.headName, l.axes.x, l.axes.y}, blocks)
	}
	head = []string{l.axes.x}
	var columns [][]float64
	for i, s := range l.series {
		head, columns = append(head, s.Name), append(columns, s.Values)
		for _, c := range l.errorColumns(i) {
			head, columns = append(head, strings.TrimSpace(s.Name+" "+c.name)), append(columns, c.values)
		}
	}
	for i := range n {
		row := []any{any(i)}
		if l.series[0].X != nil {
			row[0] = l.series[0].X[i]
		}
		for _, values := range columns {
			if i < len(values) {
				row = append(row, values[i])
			} else {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}

// look returns the colour and dashes of series i: those of its dtype, or other dashes if an
// earlier series has the same dtype.
func (l lineChart) look(t Theme, i int) (color.NRGBA, []vg.Length) {
	more := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}, {1, 3}}
	d, _ := dtypeOf(l.series[i].DType)
	if l.series[i].DType == "" {
		return t.nth(i), more[i%len(more)]
	}
	same := 0
	for _, s := range l.series[:i] {
		if s.DType == l.series[i].DType {
			same++
		}
	}
	if same == 0 {
		return d.color(t), d.dashes
	}
	return d.color(t), more[(i+same)%len(more)]
}

func capital(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return s
	}
	return strings.ToUpper(string(r[0])) + string(r[1:])
}
