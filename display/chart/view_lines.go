package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
)

// linePoints is the maximum number of points of a line in a picture.
const linePoints = 20000

// fit returns the lines for the room.
func (l lineChart) fit(r room) view {
	if r.points == 0 {
		return l.view(linePoints)
	}
	return l.view(max(r.points/len(l.series), 8))
}

// view returns the lines, each with at most most points. The facts of a point are the name of its line, its position and
// its value.
func (l lineChart) view(most int) view {
	v := view{height: 220, named: true, zoom: []string{"x"}, x: scale{title: l.axes.x, whole: true}, y: scale{title: l.axes.y, margin: .04},
		facts: []fact{{"kind", words.headRun}, {"x", l.axes.x}, {"y", l.axes.y}}}
	if l.logX {
		v.x.base, v.facts[1].key = 10, "at"
	}
	if l.logY {
		v.y.base, v.facts[2].key, v.lowest = 10, "value", kind{name: words.notPositive, color: skipInk}
	}
	if !slices.ContainsFunc(l.series, func(s lineSeries) bool { return s.X != nil || len(s.Values) > 1 }) {
		v.x.hi = 1 // the axis of a single step has no step below 0
	}
	lines := layer{mark: curves{steps: l.steps}}
	for i, s := range l.series {
		_, dashes := l.look(Light, i)
		v.ends = append(v.ends, s.Name)
		v.kinds = append(v.kinds, kind{name: v.distinct(s.Name), dashes: dashes, symbol: dot, color: func(t Theme) color.NRGBA {
			ink, _ := l.look(t, i)
			return ink
		}})
		v.points += len(s.Values)
		kept := decimate(s.Values, most)
		lines.rows = slices.Grow(lines.rows, len(kept))
		for _, k := range kept {
			x := place(s.x(k), l.logX)
			r := row{x: x, y: place(s.Values[k], l.logY), kind: i}
			if l.logX || l.logY || !finite(r.y) { // otherwise the place is all
				r.facts = []any{s.Name, s.x(k), s.Values[k]}
			}
			lines.rows = append(lines.rows, r)
			v.x.whole = v.x.whole && x == math.Trunc(x)
		}
	}
	v.layers = []layer{lines}
	return v.withErrors(l.axes, len(l.series), l.shown(most))
}

// shown returns a function that calls each with those values of a set that a view holds.
func (l lineChart) shown(most int) func(set int, each func(x, value float64, i int)) {
	return func(set int, each func(x, value float64, i int)) {
		s := l.series[set]
		for _, k := range decimate(s.Values, most) {
			each(place(s.x(k), l.logX), s.Values[k], k)
		}
	}
}

// lineView returns a view with a line for each series that has values, and those series. first is the position of
// the first value of a series without X.
func lineView(a axes, given []Series, mark curves, first float64) (view, []lineSeries) {
	l := lineChart{axes: a}
	for _, s := range given {
		if s.X == nil {
			s.X = make([]float64, len(s.Values))
			for i := range s.X {
				s.X[i] = first + float64(i)
			}
		}
		l = l.with([]Series{s})
	}
	v := l.view(linePoints)
	v.layers[0].mark, v.ends, v.named = mark, nil, false
	return v, l.series
}

// distinct returns a name for the next kind that differs from those before.
func (v view) distinct(name string) string {
	given := name
	for n := len(v.kinds) + 1; name == "" || slices.ContainsFunc(v.kinds, func(k kind) bool { return k.name == name }); n++ {
		name = strings.TrimSpace(fmt.Sprintf("%s %d", given, n))
	}
	return name
}

// seriesData returns the data of lines: a row for each point.
func seriesData(list []lineSeries, x, y string) func() ([]string, [][]any) {
	return func() (head []string, rows [][]any) {
		for _, s := range list {
			for i, value := range s.Values {
				rows = append(rows, []any{s.Name, s.x(i), value})
			}
		}
		return []string{words.headRun, x, y}, rows
	}
}
