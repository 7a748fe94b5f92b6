package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// BoxPlot shows the distribution of sets of values: the median and the quartiles, lines up to the farthest values within 1.5 times
// the distance of the quartiles from them, and the values beyond, one by one. Its arguments are values, each with a name after
// it, or a table, a column of numbers and perhaps a column of texts that divides the rows:
//
//	chart.BoxPlot(a, "float32", b, "float16")
//	chart.BoxPlot(penguins, "mass", "species")
//
// inf and NaN are counted apart. It panics for arguments that cannot be drawn. It is matplotlib.pyplot.boxplot.
func BoxPlot(data ...any) *Figure {
	series, named := seriesOf("BoxPlot", false, data)
	b := boxPlot{axes: axes{}.named(named)}
	for _, s := range series {
		if len(s.Values) > 0 {
			b.boxes = append(b.boxes, newBox(s))
		}
	}
	if len(b.boxes) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "BoxPlot"))
	}
	var names []string
	for _, x := range b.boxes {
		names = append(names, x.Name)
	}
	b.xTicks = namesOf(names)
	return b.figure()
}

type boxPlot struct {
	axes
	boxes []boxOfValues
}

// boxOfValues is a box.
type boxOfValues struct {
	Series
	q         [3]float64 // quartiles; NaN without a finite value
	low, high float64    // ends of the lines
	beyond    []float64
	bad       int
}

func newBox(s Series) boxOfValues {
	b := boxOfValues{Series: s, q: [3]float64{nan, nan, nan}, low: nan, high: nan}
	v := make([]float64, 0, len(s.Values))
	for _, x := range s.Values {
		if finite(x) {
			v = append(v, x)
		}
	}
	b.bad = len(s.Values) - len(v)
	if len(v) == 0 {
		return b
	}
	slices.Sort(v)
	for i := range b.q {
		b.q[i] = quantileOf(v, float64(i+1)/4)
	}
	reach := 1.5 * (b.q[2] - b.q[0])
	b.low, b.high = b.q[0], b.q[2]
	for _, x := range v {
		switch {
		case x < b.q[0]-reach || x > b.q[2]+reach:
			b.beyond = append(b.beyond, x)
		default:
			b.low, b.high = min(b.low, x), max(b.high, x)
		}
	}
	return b
}

// quantileOf returns the value below which a share of sorted values lies, by linear interpolation, as numpy.percentile.
func quantileOf(v []float64, share float64) float64 {
	at := share * float64(len(v)-1)
	i := int(at)
	if i+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[i] + (v[i+1]-v[i])*(at-float64(i))
}

func (b boxPlot) figure() *Figure {
	var parts []string
	f := b.view().figure("")
	f.narrow, f.axes, f.rows = true, b.axes, nil
	f.remake = func(a axes) *Figure {
		changed := b
		changed.axes = a
		return changed.figure()
	}
	f.head = []string{words.headName, words.headPoints, words.boxMedian, words.boxQuartiles, words.boxWhiskers, words.boxOutliers, words.headBad}
	for _, x := range b.boxes {
		name := x.Name
		if name == "" {
			name = capital(words.headValue)
		}
		parts = append(parts, fmt.Sprintf(words.boxOf, name, short(x.q[1]), short(x.q[0]), short(x.q[2])))
		f.rows = append(f.rows, []any{x.Name, len(x.Values), short(x.q[1]), short(x.q[0]) + " … " + short(x.q[2]), short(x.low) + " … " + short(x.high), len(x.beyond), x.bad})
	}
	f.sentence = strings.Join(parts, "; ")
	f.data = b.all
	return f
}

// all returns a row for each box, and one for each value beyond its whiskers.
func (b boxPlot) all() (head []string, rows [][]any) {
	head = []string{words.headName, words.boxMedian, "25 %", "75 %", words.headMin, words.headMax, words.boxOutliers}
	for _, x := range b.boxes {
		rows = append(rows, []any{x.Name, x.q[1], x.q[0], x.q[2], x.low, x.high, nil})
		for _, value := range x.beyond {
			rows = append(rows, []any{x.Name, nil, nil, nil, nil, nil, value})
		}
	}
	return head, rows
}

// view returns the boxes.
func (b boxPlot) view() view {
	v := view{x: scale{title: b.axes.x, lo: -.6, hi: float64(len(b.boxes)) - .4}, y: scale{title: b.axes.y, margin: .05}, height: 220, named: true,
		facts: []fact{{"name", words.headName}, {"median", words.boxMedian}, {"lower", "25 %"}, {"upper", "75 %"}, {"low", words.headMin}, {"high", words.headMax}}}
	if b.logY {
		v.y.base = 10
	}
	boxes, medians, lines, beyond := layer{mark: rects{}}, layer{mark: rules{width: 2}}, layer{mark: rules{width: 1}}, layer{mark: points{symbol: dot, width: 2}}
	half := .25
	var given []Series
	for _, x := range b.boxes {
		given = append(given, x.Series)
	}
	for i, x := range b.boxes {
		v.kinds = append(v.kinds, kind{name: v.distinct(x.Name), color: setInk(given, i), quiet: true})
		at, facts := float64(i), []any{x.Name, x.q[1], x.q[0], x.q[2], x.low, x.high}
		y := func(value float64) float64 { return place(value, b.logY) }
		if math.IsNaN(x.q[1]) {
			continue
		}
		r := row{kind: i, facts: facts}
		add := func(l *layer, x, y, x2, y2 float64) {
			r.x, r.y, r.x2, r.y2 = x, y, x2, y2
			l.rows = append(l.rows, r)
		}
		r.faint = true
		add(&boxes, at-half, y(x.q[0]), at+half, y(x.q[2]))
		r.faint = false
		add(&medians, at-half, y(x.q[1]), at+half, y(x.q[1]))
		add(&lines, at, y(x.low), at, y(x.q[0]))
		add(&lines, at, y(x.q[2]), at, y(x.high))
		for _, end := range []float64{x.low, x.high} {
			add(&lines, at-half/2, y(end), at+half/2, y(end))
		}
		for _, value := range x.beyond {
			r := row{kind: i, x: at, y: y(value), facts: []any{x.Name, nil, nil, nil, value, value}}
			beyond.rows = append(beyond.rows, r)
		}
	}
	v.layers = []layer{lines, boxes, medians, beyond}
	return v
}
