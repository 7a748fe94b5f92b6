package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Panel is one quantity of [Panels].
type Panel struct {
	Name   string    // "loss"
	Unit   string    // such as "B" or "steps/s"; "%" for shares from 0 to 1; may be empty
	X      []float64 // steps of the values, ascending; nil: 0, 1, 2 …
	Values []float64 // inf and NaN are drawn as ▲ at the edge
	Marked []float64 // steps to mark with ✗, such as those that an optimizer skipped
	Power  bool      // the axis is logarithmic with base 2, and a value holds until the next one
}

// Panels shows several quantities of a run over the same steps, each in its own panel. In the
// interactive form, the step under the pointer shows its values in every panel, zoom applies to all,
// and steps selected in one panel by dragging with Shift are marked in the others.
func Panels(panels []Panel) *Figure {
	var b dashboard
	for _, p := range panels {
		if n := min(len(p.Values), xLen(p)); n > 0 {
			p.Values, p.Marked = slices.Clone(p.Values[:n]), slices.Clone(p.Marked)
			p.X = slices.Clone(p.X[:min(n, len(p.X))])
			s := spanOf(p.Values)
			wide := !p.Power && p.Unit == "" && s.lo > 0 && s.hi/s.lo > 300
			b = append(b, quantity{p, newLine(Series{Name: p.Name, X: p.X, Values: p.Values}), s, wide})
		}
	}
	if len(b) == 0 {
		return blank(words.panelsNone)
	}
	f := &Figure{
		theme: Light, sentence: b.sentence(), height: b.height(), body: fitted(b.fit), data: b.all,
		head: []string{words.headName, words.headPoints, words.headFirst, words.headLast, words.headMin, words.headMax, words.headBad},
	}
	for _, p := range b {
		s := p.span
		f.rows = append(f.rows, []any{p.Name, len(p.Values), p.text(p.Values[0]), p.text(p.end()), p.text(s.lo), p.text(s.hi), p.line.bad})
	}
	return f
}

func xLen(p Panel) int {
	if p.X == nil {
		return len(p.Values)
	}
	return len(p.X)
}

// dashboard is a list of panels with values.
type dashboard []quantity

type quantity struct {
	Panel
	line lineSeries
	span span // range of the values
	log  bool // the axis is logarithmic with base 10
}

// end returns the last value.
func (p quantity) end() float64 { return p.Values[len(p.Values)-1] }

// text formats a value with its unit.
func (p quantity) text(v float64) string {
	switch {
	case !finite(v):
		return short(v)
	case p.Power:
		return scaleText(v)
	case p.Unit == "%":
		return shareText(v)
	case p.Unit == "":
		return short(v)
	case len(p.Unit) == 1 && v >= 0:
		return amount(v, p.Unit)
	}
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64) + " " + p.Unit
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + p.Unit
}

// sentence states the number of steps and the last value of each panel.
func (b dashboard) sentence() string {
	var ends []string
	last := 0.
	for _, p := range b {
		last = max(last, orZero(p.line.x(len(p.Values)-1)))
		text := p.Name + " " + p.text(p.end())
		if n := len(p.Marked); n > 0 {
			text += fmt.Sprintf(words.panelsSkipped, n)
		}
		ends = append(ends, text)
	}
	return fmt.Sprintf(words.panelsEnds, stepsText(int(min(last, 1e15))+1), strings.Join(ends, words.listAnd))
}

// Dimensions of a panel: its name, its plot, the gap below it, and the axis below all.
const (
	panelName, panelGap, panelAxis = 17, 8, 35
	panelFirst, panelNext          = 110, 56
)

// panelPoints is the maximum number of points in the picture of a panel, which is drawn four times a
// second: about one for each two pixels.
const panelPoints = 300

func (b dashboard) plotHeight(i int) vg.Length {
	if i == 0 {
		return panelFirst
	}
	return panelNext
}

func (b dashboard) height() (h int) {
	for i := range b {
		h += panelName + int(b.plotHeight(i)) + panelGap
	}
	return h + panelAxis - panelGap
}

func (b dashboard) all() (head []string, rows [][]any) {
	for _, p := range b {
		for i, v := range p.Values {
			x := p.line.x(i)
			rows = append(rows, []any{p.Name, x, v, slices.Contains(p.Marked, x)})
		}
	}
	return []string{words.headName, words.step, words.headValue, words.skipped}, rows
}

// span returns the range of the steps of all panels.
func (b dashboard) span() span {
	var x [][]float64
	for _, p := range b {
		x = append(x, p.line.positions(), p.Marked)
	}
	s := spanOf(x...)
	if !(s.hi > s.lo) {
		s = span{orZero(s.lo) - .5, orZero(s.hi) + .5}
	}
	return s
}

// place returns the position of v on the axis of p.
func (p quantity) place(v float64) float64 {
	if p.Power && v > 0 {
		return math.Log2(v)
	}
	return place(v, p.Power || p.log)
}

// view returns the panels below each other, because only a chart of one plot fits its width to the page, each with at
// most most points. Positions on the y axis are pixels from the top.
func (b dashboard) view(most int) view {
	over := b.span()
	v := view{x: scale{title: words.step, lo: over.lo, hi: over.hi, whole: true}, y: scale{bare: true, hi: float64(b.height() - panelAxis)}, height: b.height() - panelAxis, zoom: []string{"x"},
		facts: []fact{{"x", words.step}, {"kind", words.headName}, {"text", words.headValue}, {"value", words.headExactly}}}
	grid, labels := layer{mark: rules{across: true, width: 1}}, layer{mark: texts{side: leftOf, align: -1}}
	names, lines := layer{mark: texts{side: leftEdge, align: 1}}, layer{mark: curves{width: 1.6, gaps: true}}
	high, low := layer{mark: points{symbol: up, width: 4}}, layer{mark: points{symbol: down, width: 4}}
	marks := layer{mark: points{symbol: cross, width: 3.5}}
	var after []layer // texts after the names
	style := Light.style(labelSize, Light.Text)
	top := 0.
	for i, p := range b {
		k := kind{name: v.distinct(p.Name), color: func(t Theme) color.NRGBA { return t.Float32 }, quiet: true, steps: p.Power}
		v.kinds, v.linked = append(v.kinds, k), append(v.linked, top+panelName/2)
		label, last := fit(style, printable(p.Name), 200), p.text(p.end())
		names.rows = append(names.rows, row{x: over.lo, y: top + panelName/2, color: textInk, text: label})
		beside := func(ink role, gap vg.Length, text string) {
			after = append(after, layer{mark: texts{side: leftEdge, align: 1, gap: gap}, rows: []row{{x: over.lo, y: top + panelName/2, color: ink, text: text}}})
		}
		beside(k.color, style.Width(label)+8, last)
		if n := len(p.Marked); n > 0 {
			beside(skipInk, style.Width(label)+style.Width(last)+24, fmt.Sprintf("✗ %s (%d)", words.legendSkip, n))
		}
		first, height := top+panelName, float64(b.plotHeight(i))
		limits, ticks := p.axis()
		y := func(place float64) float64 {
			return math.Round(100*(first+height*(limits.hi-place)/(limits.hi-limits.lo))) / 100
		}
		for _, k := range ticks.Ticks(limits.lo, limits.hi) {
			if at := y(k.Value); at >= first && at <= first+height && k.Label != "" {
				grid.rows = append(grid.rows, row{x: over.lo, x2: over.hi, y: at, y2: at, color: gridInk})
				labels.rows = append(labels.rows, row{x: over.lo, y: at, color: neutral, text: k.Label})
				v.left = max(v.left, style.Width(k.Label)+asideGap+2)
			}
		}
		kept := decimate(p.Values, most)
		v.points += len(p.Values)
		for _, k := range kept {
			x, place, text := p.line.x(k), p.place(p.Values[k]), p.text(p.Values[k])
			r := row{x: x, y: nan, kind: i, facts: []any{x, p.Name, text, p.Values[k]}}
			if finite(place) {
				r.y = y(place)
			}
			if !finite(x) {
				continue
			}
			lines.rows = append(lines.rows, r)
			switch r.color = skipInk; {
			case math.IsInf(place, -1):
				r.y = first + height - 6
				low.rows = append(low.rows, r)
			case !finite(place):
				r.y = first + 6
				high.rows = append(high.rows, r)
			}
		}
		for _, x := range p.Marked {
			value := p.at(x)
			r := row{x: x, y: first + height - 6, kind: i, color: skipInk, facts: []any{x, p.Name, p.text(value), value}}
			if place := p.place(value); finite(place) {
				r.y = y(place)
			}
			if finite(x) {
				marks.rows = append(marks.rows, r)
			}
		}
		top = first + height + panelGap
	}
	v.layers = append([]layer{grid, labels, names, lines, high, low, marks}, after...)
	return v
}

// fit returns the panels for the room.
func (b dashboard) fit(r room) view {
	if r.points == 0 {
		return b.view(panelPoints)
	}
	return b.view(max(r.points/len(b), 8))
}

// axis returns the limits and the ticks of the y axis of p.
func (p quantity) axis() (at span, ticks plot.Ticker) {
	at = span{math.Inf(1), math.Inf(-1)}
	for _, v := range p.Values {
		at.hold(p.place(v))
	}
	if at.lo > at.hi {
		at = span{0, 1}
	}
	ticks = roundTicks{4, false}
	switch pad := (at.hi - at.lo) * .08; {
	case p.Power:
		at, ticks = span{math.Floor(at.lo) - .5, math.Ceil(at.hi) + .5}, fewPowers{2}
	case p.log:
		at.lo, at.hi = logLimits(at.lo, at.hi, true)
		ticks = fewPowers{10}
	case pad > 0:
		at = span{at.lo - pad, at.hi + pad}
	default:
		room := max(math.Abs(at.hi)*.1, 1e-9)
		if at.lo == 0 {
			room = 1
		}
		at = span{at.lo - room, at.hi + room}
	}
	if !p.Power && !p.log && p.span.lo >= 0 { // an axis of counts does not begin below 0
		at.lo = max(at.lo, 0)
	}
	if p.Unit != "" {
		ticks = withUnit{ticks, p}
	}
	return at, ticks
}

// fewPowers marks at most about four powers.
type fewPowers struct{ base int }

func (f fewPowers) Ticks(lo, hi float64) []plot.Tick {
	all := powerTicks(f).Ticks(lo, hi)
	for step := 2; len(all) > 4; step++ {
		all = slices.DeleteFunc(all, func(t plot.Tick) bool { return int(t.Value)%step != 0 })
	}
	return all
}

// withUnit labels ticks with the unit of a panel.
type withUnit struct {
	plot.Ticker
	p quantity
}

func (u withUnit) Ticks(lo, hi float64) []plot.Tick {
	ticks := u.Ticker.Ticks(lo, hi)
	for i, t := range ticks {
		if u.p.Unit == "%" || len(u.p.Unit) == 1 {
			ticks[i].Label = u.p.text(t.Value)
		}
	}
	return ticks
}

// at returns the value in force at a step.
func (p quantity) at(step float64) float64 {
	v := nan
	for i, y := range p.Values {
		if p.line.x(i) > step {
			break
		}
		v = y
	}
	return v
}
