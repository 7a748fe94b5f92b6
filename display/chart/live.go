package chart

import (
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
		theme: Light, sentence: b.sentence(), height: b.height(), draw: b.draw, twin: b.twin, data: b.all,
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
		return fmt.Sprintf("%.0f %s", v, p.Unit)
	}
	return fmt.Sprintf("%.3g %s", v, p.Unit)
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
	panelName, panelGap, panelAxis = 17, 8, 30
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

func (b dashboard) draw(t Theme, c draw.Canvas) {
	over := b.span()
	plots := make([]*plot.Plot, len(b))
	canvases := make([]draw.Canvas, len(b))
	left, right := c.Min.X, c.Max.X
	y := c.Max.Y
	for i, p := range b {
		below := y - panelName - b.plotHeight(i)
		if i == len(b)-1 {
			below -= panelAxis
		}
		canvases[i] = draw.Crop(c, 0, 0, below-c.Min.Y, y-panelName-c.Max.Y)
		plots[i] = p.plot(t, over)
		if i < len(b)-1 {
			plots[i].X.Tick.Label.Color = color.Transparent
			plots[i].X.Tick.Marker = unlabelled{plots[i].X.Tick.Marker}
		} else {
			plots[i].X.Label.Text = words.step
		}
		own := plots[i].DataCanvas(canvases[i])
		left, right = max(left, own.Min.X), min(right, own.Max.X)
		name, value := t.style(labelSize+1, t.Text), t.style(labelSize+1, t.Float32)
		at := vg.Point{X: c.Min.X, Y: y - panelName/2}
		label := fit(name, printable(p.Name), 200)
		write(&c, name, at, label)
		at.X += name.Width(label) + 8
		last := p.text(p.end())
		write(&c, value, at, last)
		if at.X += value.Width(last) + 18; len(p.Marked) > 0 {
			cross(&c, vg.Point{X: at.X, Y: at.Y}, 3.5, t.Skip)
			write(&c, t.style(labelSize, t.Neutral), vg.Point{X: at.X + 9, Y: at.Y}, fmt.Sprintf("%s (%d)", words.legendSkip, len(p.Marked)))
		}
		y = below - panelGap
	}
	for i, p := range plots {
		own := p.DataCanvas(canvases[i])
		p.Draw(draw.Crop(canvases[i], left-own.Min.X, right-own.Max.X, 0, 0))
	}
}

// unlabelled are the ticks of an axis without their labels.
type unlabelled struct{ plot.Ticker }

func (u unlabelled) Ticks(lo, hi float64) []plot.Tick {
	ticks := u.Ticker.Ticks(lo, hi)
	for i := range ticks {
		ticks[i].Label = ""
	}
	return ticks
}

// plot returns the plot of a panel without its name.
func (p quantity) plot(t Theme, over span) *plot.Plot {
	g := t.plot()
	line := curve{bad: t.Skip, stairs: p.Power, style: draw.LineStyle{Color: t.Float32, Width: 1.6}}
	for _, i := range decimate(p.Values, panelPoints) {
		line.x, line.y = append(line.x, p.line.x(i)), append(line.y, p.place(p.Values[i]))
	}
	g.Add(line)
	g.X.Min, g.X.Max = over.lo, over.hi
	g.X.Tick.Marker = roundTicks{8, true}
	g.Y.Tick.Marker = roundTicks{4, false}
	switch pad := (g.Y.Max - g.Y.Min) * .08; {
	case p.Power:
		g.Y.Tick.Marker = fewPowers{2}
		g.Y.Min, g.Y.Max = math.Floor(g.Y.Min)-.5, math.Ceil(g.Y.Max)+.5
	case p.log:
		g.Y.Min, g.Y.Max = logLimits(g.Y.Min, g.Y.Max, true)
		g.Y.Tick.Marker = fewPowers{10}
	case pad > 0:
		g.Y.Min, g.Y.Max = g.Y.Min-pad, g.Y.Max+pad
		if p.span.lo >= 0 { // an axis of counts does not begin below 0
			g.Y.Min = max(g.Y.Min, 0)
		}
	default:
		room := max(math.Abs(g.Y.Max)*.1, 1e-9)
		if g.Y.Min == 0 {
			room = 1
		}
		g.Y.Min, g.Y.Max = g.Y.Min-room, g.Y.Max+room
	}
	if p.Unit != "" {
		g.Y.Tick.Marker = withUnit{g.Y.Tick.Marker, p}
	}
	g.Add(quantityMarks{p, t.Skip})
	return g
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

// quantityMarks draws the marked steps of a panel on its line.
type quantityMarks struct {
	p   quantity
	ink colour
}

func (m quantityMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	last := vg.Length(math.Inf(-1))
	for _, step := range m.p.Marked {
		at := vg.Point{X: x(step), Y: c.Min.Y + 6}
		if v := m.p.place(m.p.at(step)); finite(v) {
			at.Y = y(v)
		}
		if !finite(step) || at.X-last < 1 { // marks too close to tell apart
			continue
		}
		last = at.X
		cross(&c, at, 3.5, m.ink)
	}
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

// twin returns the interactive form: one plot with the panels below each other, because only a chart of one plot fits its
// width to the page. Positions on the y axis are pixels from the top.
func (b dashboard) twin() twin {
	over := b.span()
	t := twin{reach: &reach{over.lo, over.hi}, height: b.height() - panelAxis, data: []object{}}
	all, shown, top := 0, 0, 0.
	names, labels, ticks := newRows("y", "name"), newRows("y", "label"), newRows("y")
	data, marks, bad := newRows("x", "y", "value", "panel", "text", "stairs", "row"), newRows("x", "y", "panel", "text"), newRows("x", "y", "panel", "text", "low")
	high, low := false, false
	for i, p := range b {
		name := p.Name + ": " + p.text(p.end())
		if n := len(p.Marked); n > 0 {
			name += fmt.Sprintf(", ✗ %s (%d)", words.legendSkip, n)
		}
		names.add(top+panelName/2, printable(name))
		first, height := top+panelName, float64(b.plotHeight(i))
		g := p.plot(Light, over)
		y := func(place float64) float64 {
			return math.Round(100*(first+height*(g.Y.Max-place)/(g.Y.Max-g.Y.Min))) / 100
		}
		for _, k := range g.Y.Tick.Marker.Ticks(g.Y.Min, g.Y.Max) {
			if at := y(k.Value); at >= first && at <= first+height {
				ticks.add(at)
				labels.add(at, k.Label)
			}
		}
		kept := decimate(p.Values, max(mostPoints/len(b), 8))
		all, shown = all+len(p.Values), shown+len(kept)
		for _, k := range kept {
			x, place := p.line.x(k), p.place(p.Values[k])
			if !finite(x) {
				continue
			}
			data.number(x)
			if finite(place) {
				data.number(y(place))
				data.number(p.Values[k])
			} else {
				data.add(nil, nil)
				below := math.IsInf(place, -1)
				high, low = high || !below, low || below
				bad.add(x, map[bool]float64{false: first + 6, true: first + height - 6}[below], p.Name, valueText(p.Values[k]), below)
			}
			data.string(p.Name)
			data.string(p.text(p.Values[k]))
			data.bool(p.Power)
			data.number(first - panelName/2)
		}
		step := p.Marked
		if most := mostPoints / 8; len(step) > most {
			step = step[:most]
		}
		for _, x := range step {
			at := first + height - 6
			if place := p.place(p.at(x)); finite(place) {
				at = y(place)
			}
			if finite(x) {
				marks.add(x, at, p.Name, p.text(p.at(x)))
			}
		}
		top = first + height + panelGap
	}
	t.subtitle = fewer(shown, all)
	x := object{"field": "x", "type": "quantitative", "title": words.step, "scale": object{"nice": false, "zero": false, "domain": t.reach.domain(false)},
		"axis": object{"tickMinStep": 1, "tickCount": 8, "format": "d"}}
	y := object{"field": "y", "type": "quantitative", "axis": nil, "scale": object{"nice": false, "zero": false, "domain": []int{t.height, 0}}}
	ink := themed(func(t Theme) color.NRGBA { return t.Float32 })
	panel := object{"field": "panel", "type": "nominal"}
	tooltip := tips("x", words.step, "panel", words.headName, "text", words.headValue)
	at := func(x any) object { return object{"value": x} }
	under := func(param string, opacity float64) object {
		return object{"condition": object{"param": param, "empty": false, "value": opacity}, "value": 0}
	}
	line := func(stairs bool) object {
		mark := object{"type": "line", "strokeWidth": 1.6, "clip": true, "color": ink}
		if stairs {
			mark["interpolate"] = "step-after"
		}
		return object{"transform": []object{{"filter": object{"field": "stairs", "equal": stairs}}}, "mark": mark, "encoding": object{"x": x, "y": y, "detail": panel}}
	}
	ends := object{"x": at(0), "x2": at(object{"expr": "width"}), "y": y}
	t.layers = []object{
		{"data": ticks.data(), "mark": object{"type": "rule", "color": themed(gridInk)}, "encoding": ends},
		{"data": labels.data(), "mark": object{"type": "text", "align": "right", "clip": false, "color": themed(neutral)}, "encoding": object{"x": at(-6), "y": y, "text": object{"field": "label", "type": "nominal"}}},
		{"data": names.data(), "mark": object{"type": "text", "align": "left", "clip": false, "fontSize": labelSize + 1, "limit": object{"expr": "width * .8"}}, "encoding": object{"x": at(0), "y": y, "text": object{"field": "name", "type": "nominal"}}},
		{"data": data.data(), "layer": []object{
			{"name": "area", "transform": []object{{"filter": "isValid(datum.y)"}}, "mark": object{"type": "point", "filled": true, "size": 26, "clip": true, "color": themed(textInk)},
				"params": []object{
					{"name": "pointed", "select": object{"type": "point", "on": "mousemove", "clear": "mouseout", "nearest": true, "fields": []string{"x"}}},
				},
				"encoding": object{"x": x, "y": y, "tooltip": tooltip, "opacity": object{"condition": []object{{"param": "pointed", "empty": false, "value": 1}, {"param": "picked", "empty": false, "value": 1}}, "value": 0}}},
			with(line(false), "params", []object{
				{"name": "zoom", "bind": "scales", "select": object{"type": "interval", "encodings": []string{"x"}, "clear": unzoomed, "translate": "[mousedown[!event.shiftKey], window:mouseup] > window:mousemove!"}},
				{"name": "picked", "select": object{"type": "interval", "encodings": []string{"x"}, "on": "[mousedown[event.shiftKey], window:mouseup] > window:mousemove!", "zoom": false}},
			}),
			line(true),
			{"mark": object{"type": "rule", "clip": true, "color": themed(neutral)}, "encoding": object{"x": x, "opacity": under("pointed", .4)}},
			{"mark": object{"type": "text", "align": "right", "clip": false, "fontWeight": "bold", "color": ink}, "transform": []object{{"filter": object{"param": "pointed", "empty": false}}},
				"encoding": object{"x": at(object{"expr": "width"}), "y": with(maps.Clone(y), "field", "row"), "text": object{"field": "text", "type": "nominal"}}},
		}},
	}
	if marks.n > 0 {
		t.layers = append(t.layers, object{"data": marks.data(), "mark": object{"type": "point", "shape": crossPath, "size": 60, "strokeWidth": 1.8, "clip": true, "opacity": 1, "color": themed(skipInk)},
			"encoding": object{"x": x, "y": y, "tooltip": tooltip}})
	}
	for _, edge := range []struct {
		is, low bool
		path    string
	}{{high, false, upPath}, {low, true, downPath}} {
		if edge.is {
			t.layers = append(t.layers, object{"data": bad.data(), "transform": []object{{"filter": object{"field": "low", "equal": edge.low}}},
				"mark":     object{"type": "point", "filled": true, "size": 70, "opacity": 1, "clip": true, "shape": edge.path, "color": themed(skipInk)},
				"encoding": object{"x": x, "y": y, "tooltip": tooltip}})
		}
	}
	return t
}
