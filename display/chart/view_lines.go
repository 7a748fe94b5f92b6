package chart

import (
	"fmt"
	"image/color"
	"slices"
	"strings"
)

// linePoints is the maximum number of points of a line in a picture.
const linePoints = 20000

// lineView returns a view with a line for each series that has values. first is the position of the first
// value of a series without X, and at returns the position of a value on the y axis. The facts of a point are the name of its
// line, its position and its value.
func lineView(given []Series, mark markType, first float64, at func(float64) float64) (view, []lineSeries) {
	var l lineChart
	for _, s := range given {
		if s.X == nil {
			s.X = make([]float64, len(s.Values))
			for i := range s.X {
				s.X[i] = first + float64(i)
			}
		}
		l = l.with([]Series{s})
	}
	v := view{height: 220, zoom: []string{"x"}, x: scale{whole: true}, y: scale{margin: .04},
		facts: []fact{{"series", words.headRun}, {"at", words.step}, {"value", words.headValue}}}
	lines := layer{mark: mark}
	for i, s := range l.series {
		name := v.distinct(s.Name)
		_, dashes := l.look(Light, i)
		v.kinds = append(v.kinds, kind{name: name, dashes: dashes, mark: dot, path: "circle", color: func(t Theme) color.NRGBA {
			c, _ := l.look(t, i)
			return c.(color.NRGBA)
		}})
		v.points += len(s.Values)
		for _, k := range decimate(s.Values, linePoints) {
			lines.rows = append(lines.rows, row{x: place(s.x(k), false), y: at(s.Values[k]), kind: i, facts: []any{name, s.x(k), s.Values[k]}})
		}
	}
	v.layers = []layer{lines}
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
