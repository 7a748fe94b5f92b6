package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Plot shows one or more lines of a reader's own data:
//
//	chart.Plot(losses)                         // over 0, 1, 2 …
//	chart.Plot(x, y)
//	chart.Plot(train, "train", valid, "valid") // lines with names
//	chart.Plot(x, train, "train", x, valid, "valid").XLabel("epoch").LogY()
//
// The values of a line are a slice or array of numbers or a tensor. Two such arguments in a row are
// positions and values. A string is the name of the line before it. inf and NaN are drawn as ▲ at the
// edge. Arguments that cannot be drawn give a chart that says why. It is matplotlib.pyplot.plot.
func Plot(data ...any) *Figure {
	series, refusal := seriesOf("Plot", data)
	if refusal != nil {
		return refusal
	}
	l := lineChart{axes: axes{x: words.plotX}, plot: true}.with(series)
	if len(l.series) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Plot"))
	}
	return l.figure()
}

// Scatter shows points. Its arguments are those of [Plot]; each set of points has its own colour and
// mark. With one set, the title gives the correlation of its x and y. It is matplotlib.pyplot.scatter.
func Scatter(data ...any) *Figure {
	series, refusal := seriesOf("Scatter", data)
	if refusal != nil {
		return refusal
	}
	s := scatter{lineChart{axes: axes{x: words.plotX, y: words.plotY}}.with(series)}
	if len(s.series) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Scatter"))
	}
	return s.figure()
}

// scatter is a chart of points.
type scatter struct{ lineChart }

func (s scatter) figure() *Figure {
	f := &Figure{
		theme: Light, sentence: s.sentence(), height: 260, draw: s.draw, narrow: true, axes: s.axes, data: s.all,
		head: []string{words.headName, words.headPoints, words.headFrom + " " + s.axes.x, words.headTo + " " + s.axes.x, words.headFrom + " " + s.axes.y, words.headTo + " " + s.axes.y, words.headBad},
		remake: func(a axes) *Figure {
			changed := s
			changed.axes = a
			return changed.figure()
		},
	}
	for _, l := range s.series {
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

func (s scatter) draw(t Theme, c draw.Canvas) {
	var explain []key
	bad, whole := false, true
	p := t.plot()
	for i, l := range s.series {
		mark, col := marks5[i%len(marks5)], t.nth(i)
		if d, order := dtypeOf(l.DType); order < len(dtypes) {
			col = d.color(t)
		}
		if l.Name != "" {
			explain = append(explain, key{mark, col, l.Name})
		}
		bad = bad || l.bad > 0
		points := cloud{mark: mark, color: col, bad: t.Skip, x: make([]float64, len(l.Values)), y: make([]float64, len(l.Values))}
		for i, v := range l.Values {
			points.x[i], points.y[i] = place(l.x(i), s.logX), place(v, s.logY)
			whole = whole && l.X == nil
		}
		p.Add(points)
	}
	if bad {
		explain = append(explain, key{up, t.Skip, words.notFinite})
	}
	if s.logY && slices.ContainsFunc(s.series, lineSeries.below) {
		explain = append(explain, key{down, t.Skip, words.notPositive})
	}
	c = keys(t, c, s.axes.y, explain)
	p.X.Label.Text = printable(s.axes.x)
	s.scale(p, c, whole)
	pad := (p.X.Max - p.X.Min) * .02
	p.X.Min, p.X.Max = p.X.Min-pad, p.X.Max+pad
	paint(p, c)
}

func square(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(col, rectangle(p.X-r, p.Y-r, p.X+r, p.Y+r))
}

// marks5 are the marks of sets of points.
var marks5 = []shape{dot, diamond, up, cross, hollowDiamond}

// cloud draws points. Points that would cover each other are drawn once, so that the file is small.
type cloud struct {
	x, y  []float64
	mark  shape
	color colour
	bad   colour
}

// DataRange implements plot.DataRanger.
func (p cloud) DataRange() (xmin, xmax, ymin, ymax float64) {
	return curve{x: p.x, y: p.y}.DataRange()
}

func (p cloud) Plot(c draw.Canvas, plt *plot.Plot) {
	x, y := plt.Transforms(&c)
	r := vg.Length(3.2)
	if len(p.x) > 300 {
		r = 2
	}
	type cell struct{ x, y int }
	seen := map[cell]bool{}
	if len(p.x) > 3000 { // squares are shorter to write than circles
		p.mark, r = square, 1
	}
	for i, v := range p.y {
		if !finite(p.x[i]) {
			continue
		}
		at, mark, col := vg.Point{X: x(p.x[i])}, p.mark, p.color
		switch {
		case math.IsInf(v, -1):
			at.Y, mark, col = c.Min.Y+5, down, p.bad
		case !finite(v):
			at.Y, mark, col = c.Max.Y-5, up, p.bad
		default:
			at.Y = y(v)
		}
		if k := (cell{int(at.X), int(at.Y)}); !seen[k] {
			seen[k] = true
			mark(&c, at, r, col)
		}
	}
}
