package chart

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Plot shows one or more lines of a reader's own data:
//
//	chart.Plot(losses)                         // over 0, 1, 2 …
//	chart.Plot(x, y)
//	chart.Plot(train, "train", valid, "valid") // lines with names
//	chart.Plot(x, train, "train", x, valid, "valid").XLabel("epoch").LogY()
//
// The values of a line are a slice or array of numbers or a tensor. Two such arguments in a row are
// positions and values. A string is the name of the line before it. A table, such as that of data.LoadCSV, is followed by names of its
// columns: x and y, or several y, or y alone; a last column of texts divides the rows into a line for each text.
//
//	chart.Plot(table, "epoch", "train loss", "valid loss")
//	chart.Plot(table, "epoch", "loss", "dtype")
//
// inf and NaN are drawn as ▲ at the edge. It panics for arguments that cannot be drawn. It is matplotlib.pyplot.plot.
func Plot(data ...any) *Figure { return linesOf("Plot", false, data) }

// Step shows lines that keep each value up to the next position, where they jump: a learning rate, a loss scale, a count. Its
// arguments are those of [Plot]:
//
//	chart.Step(epochs, rates, "lr").XLabel("epoch").LogY()
//
// It is matplotlib.pyplot.step with where="post".
func Step(data ...any) *Figure { return linesOf("Step", true, data) }

// linesOf returns the chart of Plot or Step.
func linesOf(name string, steps bool, data []any) *Figure {
	series, named := seriesOf(name, true, data)
	l := lineChart{axes: axes{x: words.plotX}.named(named), plot: true, steps: steps}.with(series)
	if len(l.series) == 0 {
		return blank(fmt.Sprintf(words.plotNone, name))
	}
	return l.figure()
}

// Scatter shows points. Its arguments are those of [Plot]; each set of points has its own colour and
// mark. With one set, the title gives the correlation of its x and y. It is matplotlib.pyplot.scatter.
func Scatter(data ...any) *Figure {
	series, named := seriesOf("Scatter", true, data)
	s := scatter{lineChart{axes: axes{x: words.plotX, y: words.plotY}.named(named)}.with(series)}
	if len(s.series) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Scatter"))
	}
	return s.figure()
}

// scatter is a chart of points.
type scatter struct{ lineChart }

func (s scatter) figure() *Figure {
	f := s.view().figure(s.sentence())
	f.narrow, f.axes, f.data, f.rows = true, s.axes, s.all, nil
	f.head = []string{words.headName, words.headPoints, words.headFrom + " " + s.axes.x, words.headTo + " " + s.axes.x, words.headFrom + " " + s.axes.y, words.headTo + " " + s.axes.y, words.headBad}
	f.remake = func(a axes) *Figure {
		changed := s
		changed.axes = a
		return changed.figure()
	}
	for _, l := range s.series {
		f.sets = append(f.sets, len(l.Values))
		x, y := spanOf(l.positions()), spanOf(l.Values)
		f.rows = append(f.rows, []any{l.Name, len(l.Values), short(x.lo), short(x.hi), short(y.lo), short(y.hi), l.bad})
	}
	f.rows = cutRows(f.rows, 40)
	return f
}

func (s scatter) sentence() string {
	var parts []string
	var x, y [][]float64
	for _, l := range s.series {
		part := counted(len(l.Values), words.scatterPoint, words.scatterPoints)
		if l.Name != "" {
			part = l.Name + " " + part
		}
		parts, x, y = append(parts, part), append(x, l.positions()), append(y, l.Values)
	}
	sx, sy := spanOf(x...), spanOf(y...)
	text := fmt.Sprintf(words.scatterSpan, strings.Join(parts, words.listAnd), s.axes.x, short(sx.lo), short(sx.hi), s.axes.y, short(sy.lo), short(sy.hi))
	if r := correlation(s.series[0]); len(s.series) == 1 && finite(r) {
		text += fmt.Sprintf(words.scatterTies, strings.Replace(fmt.Sprintf("%.2f", r), "-", "−", 1))
	}
	return text
}

// setInk returns the colour of set i: that of its dtype, unless another set has the same dtype.
func setInk(list []Series, i int) role {
	d, order := dtypeOf(list[i].DType)
	for k, s := range list {
		if order == len(dtypes) || k != i && s.DType == list[i].DType {
			return func(t Theme) color.NRGBA { return t.nth(i) }
		}
	}
	return d.color
}

// correlation returns Pearson's coefficient of the points that are finite.
func correlation(l lineSeries) float64 {
	var n, mx, my float64
	each := func(f func(x, y float64)) {
		for i, y := range l.Values {
			if x := l.x(i); finite(x) && finite(y) {
				f(x, y)
			}
		}
	}
	each(func(x, y float64) { n, mx, my = n+1, mx+x, my+y })
	mx, my = mx/n, my/n
	var xx, yy, xy float64
	each(func(x, y float64) { xx, yy, xy = xx+(x-mx)*(x-mx), yy+(y-my)*(y-my), xy+(x-mx)*(y-my) })
	return xy / math.Sqrt(xx) / math.Sqrt(yy)
}

// view returns the points.
func (s scatter) view() view {
	v := view{x: scale{title: s.axes.x, whole: true, margin: .02}, y: scale{title: s.axes.y, margin: .04}, height: 205, zoom: []string{"x", "y"},
		facts: []fact{{"kind", words.headName}, {"x", s.axes.x}, {"y", s.axes.y}}}
	if s.logX {
		v.x.base, v.facts[1].key = 10, "at"
	}
	if s.logY {
		v.y.base, v.facts[2].key, v.lowest = 10, "value", kind{name: words.notPositive, color: skipInk}
	}
	var given []Series
	for _, l := range s.series {
		given = append(given, l.Series)
	}
	for i, l := range s.series {
		v.kinds = append(v.kinds, kind{name: v.distinct(l.Name), symbol: sets[i%len(sets)], color: setInk(given, i)})
		mark := points{}
		switch n := len(l.Values); {
		case n > 3000: // squares are shorter to write than circles
			mark = points{width: 1, symbol: square}
		case n > 300:
			mark = points{width: 2}
		}
		cloud := layer{mark: mark, rows: make([]row, 0, len(l.Values))}
		for j, y := range l.Values {
			r := row{x: place(l.x(j), s.logX), y: place(y, s.logY), kind: i}
			if s.logX || s.logY || !finite(r.y) { // otherwise the place is all
				r.facts = []any{l.Name, l.x(j), y}
			}
			cloud.rows = append(cloud.rows, r)
		}
		v.layers, v.x.whole = append(v.layers, cloud), v.x.whole && l.X == nil
	}
	return v.withErrors(s.axes, len(s.series), s.shown(linePoints))
}
