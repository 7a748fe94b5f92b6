package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one line of a chart, with one value per step.
type Series struct {
	Name  string
	DType string    // dtype that selects the colour and dashes; may be empty
	Values     []float64 // values; inf and NaN are drawn as ▲ at the edge
}

// Loss shows the losses of one or more runs over their steps.
func Loss(series []Series) *Figure { return Lines("loss", series) }

// Lines shows series of a quantity such as "accuracy" over their steps, each labelled at its end.
// The axis is logarithmic if all values are positive and their range is wide.
func Lines(what string, series []Series) *Figure {
	return lineChart{what: what, axis: words.step}.figure(series)
}

// Needed shows the amount of a quantity such as "memory" that each series needs, in a unit such
// as "B", over the operations of a step, and states the maximum of each series.
func Needed(what, unit string, series []Series) *Figure {
	f := lineChart{what: what, axis: words.headOp}.figure(series)
	var most []string
	for _, s := range series {
		if len(s.Values) > 0 {
			most = append(most, strings.TrimSpace(s.Name+" "+amount(slices.Max(s.Values), unit)))
		}
	}
	if len(most) > 0 {
		f.sentence = fmt.Sprintf(words.lineMost, capital(what), strings.Join(most, words.listAnd))
	}
	return f
}

func (l lineChart) figure(series []Series) *Figure {
	what := l.what
	for _, s := range series {
		if len(s.Values) > 0 {
			l.series = append(l.series, newLine(s))
		}
	}
	title := capital(what)
	if len(l.series) == 0 {
		return blank(fmt.Sprintf(words.lineNone, title))
	}
	l.log = l.wide()
	var ends []string
	longest := 0
	var rows [][]any
	for _, s := range l.series {
		longest = max(longest, len(s.Values))
		ends = append(ends, s.end())
		rows = append(rows, []any{s.Name, len(s.Values), short(s.Values[0]), short(s.Values[len(s.Values)-1]), short(s.low), s.bad})
	}
	return &Figure{
		theme: Light, sentence: fmt.Sprintf(words.lineEnds, title, stepsText(longest), strings.Join(ends, words.listAnd)),
		height: 240, draw: l.draw,
		head: []string{words.headRun, words.headSteps, words.headFirst, words.headLast, words.headMin, words.headBad}, rows: rows, data: l.all,
	}
}

// lineSeries is a series with the values of its table row and label.
type lineSeries struct {
	Series
	low, last float64 // finite minimum and last value, NaN if there is none
	bad       int
}

func newLine(s Series) lineSeries {
	l := lineSeries{Series: s, low: math.Inf(1), last: nan}
	for _, v := range s.Values {
		if !finite(v) {
			l.bad++
			continue
		}
		l.low, l.last = min(l.low, v), v
	}
	if l.bad == len(s.Values) {
		l.low = nan
	}
	return l
}

// end returns the text for the last value of the series.
func (s lineSeries) end() string {
	text := short(s.Values[len(s.Values)-1])
	if s.Name != "" {
		text = s.Name + " " + text
	}
	if s.bad > 0 {
		text = fmt.Sprintf(words.lineBad, text, s.bad)
	}
	return text
}

type lineChart struct {
	what   string
	axis   string // quantity on the x axis
	series []lineSeries
	log    bool
}

func (l lineChart) wide() bool {
	lo, hi := math.Inf(1), 0.
	for _, s := range l.series {
		for _, v := range s.Values {
			if finite(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo > 0 && hi/lo > 300
}

func (l lineChart) all() (head []string, rows [][]any) {
	head = []string{words.headStep}
	n := 0
	for _, s := range l.series {
		head = append(head, s.Name)
		n = max(n, len(s.Values))
	}
	for i := range n {
		row := []any{i}
		for _, s := range l.series {
			if i < len(s.Values) {
				row = append(row, s.Values[i])
			} else {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	return head, rows
}

func (l lineChart) draw(t Theme, c draw.Canvas) {
	var bad []key
	if slices.ContainsFunc(l.series, func(s lineSeries) bool { return s.bad > 0 }) {
		bad = append(bad, key{up, t.Skip, words.notFinite})
	}
	c = keys(t, c, l.what, bad)
	p := t.plot()
	p.X.Label.Text = l.axis
	label := t.style(labelSize, t.Text)
	var room vg.Length
	for i, s := range l.series {
		y := make([]float64, len(s.Values))
		for i, v := range s.Values {
			y[i] = l.place(v)
		}
		color, dashes := l.look(t, i)
		p.Add(curve{y: y, style: draw.LineStyle{Color: color, Width: 1.8, Dashes: dashes}, bad: t.Skip})
		room = max(room, label.Width(s.Name))
	}
	room = min(room, 190)
	if l.log {
		p.Y.Tick.Marker = powerTicks{10}
		if math.Floor(p.Y.Max) <= math.Ceil(p.Y.Min) { // the axis contains no power of ten
			p.Y.Min, p.Y.Max = math.Floor(p.Y.Min), math.Ceil(p.Y.Max)
		}
	}
	if pad := (p.Y.Max - p.Y.Min) * .04; pad > 0 {
		p.Y.Min, p.Y.Max = p.Y.Min-pad, p.Y.Max+2*pad
	} else {
		p.Y.Min, p.Y.Max = p.Y.Min-1, p.Y.Max+1
	}
	c = draw.Crop(c, 0, -room-12, 0, 0)
	p.Draw(c)

	// The labels stand at the ends of their lines: outside the plot, or inside it for a line that
	// ends early.
	inner := p.DataCanvas(c)
	toX, toY := p.Transforms(&inner)
	var tags []tag
	for i, s := range l.series {
		at := inner.Max.Y
		if finite(s.last) {
			at = toY(l.place(s.last))
		}
		style := label
		style.Color, _ = l.look(t, i)
		name := fit(style, s.Name, room)
		if x := toX(float64(len(s.Values) - 1)); x+style.Width(name)+16 < inner.Max.X {
			write(&c, style, vg.Point{X: x + 6, Y: at}, name)
			continue
		}
		tags = append(tags, tag{at, name, style})
	}
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.y, b.y) })
	spread(tags, labelSize+3, inner.Min.Y, inner.Max.Y)
	for _, g := range tags {
		write(&c, g.style, vg.Point{X: inner.Max.X + 8, Y: g.y}, g.text)
	}
}

// place returns the position of v on the axis. Values near the float64 limit would overflow in
// the axis arithmetic.
func (l lineChart) place(v float64) float64 {
	switch {
	case l.log:
		return math.Log10(v)
	case finite(v):
		return min(max(v, -1e200), 1e200)
	}
	return v
}

// look returns the colour and dashes of series i: those of its dtype, or other dashes if an
// earlier series has the same dtype.
func (l lineChart) look(t Theme, i int) (colour, []vg.Length) {
	more := [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {12, 4}, {1, 3}}
	d, _ := dtypeOf(l.series[i].DType)
	if l.series[i].DType == "" {
		return [...]colour{t.Float32, t.Float16, t.BFloat16, t.Promote, t.Neutral}[i%5], more[i%len(more)]
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
