package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// draw draws the view.
func (v view) draw(t Theme, c draw.Canvas) {
	if v.header() {
		var entries []key
		if v.legend() && !v.named {
			for _, k := range v.listed() {
				entries = append(entries, key{v.swatch(k), k.color(t), k.name})
			}
		}
		for _, k := range v.legendSigns() {
			entries = append(entries, key{k.mark, k.color(t), k.name})
		}
		c = keys(t, c, v.y.title, entries)
	}
	p := t.bare()
	if v.y.names == nil && !v.y.bare {
		p = t.plot()
	}
	x, y := v.limits()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.lo, x.hi, y.lo, y.hi
	p.X.Label.Text = printable(v.x.title)
	p.X.Tick.Marker = v.x.ticks(ticksIn(c))
	p.Y.Tick.Marker = v.y.ticks(5)
	switch {
	case v.y.names != nil:
		p.Y.Min, p.Y.Max = -y.hi, -y.lo // from the top
		p.Y.Tick.Label.Color = t.Text
		p.Y.Tick.Length = 0
		p.X.Padding, p.Y.Padding = 2, 2
	case v.y.bare:
		p.Y.Min, p.Y.Max = -y.hi, -y.lo
		p.HideY()
		p.X.Padding, p.Y.Padding = 2, 2
	}
	if v.x.bare {
		label := p.X.Label.Text
		p.HideX()
		p.X.Label.Text = label
	}
	if v.x.plain {
		p.X.LineStyle.Width, p.X.Tick.LineStyle.Width, p.X.Tick.Length = 0, 0, 0
		p.X.Label.Text = ""
	}
	for _, l := range v.layers {
		p.Add(drawn{v, l, t})
	}
	if v.ends != nil {
		v.drawEnds(t, c, p)
		return
	}
	c = draw.Crop(c, v.left, -v.right, 0, 0)
	if v.x.plain && v.x.title != "" { // it begins at the left edge of the plot
		at := vg.Point{Y: c.Min.Y + 6}
		c = draw.Crop(c, 0, 0, 15, 0)
		at.X = p.DataCanvas(c).Min.X
		s := t.style(labelSize, t.Neutral)
		write(&c, s, at, fit(s, printable(v.x.title), c.Max.X-at.X))
	}
	paint(p, c)
}

// ticks returns the ticks of an axis of numbers, about n, or of names.
func (s scale) ticks(n int) plot.Ticker {
	switch {
	case s.names != nil:
		style := Light.style(labelSize, Light.Text)
		var list plot.ConstantTicks
		for i, name := range s.names {
			if name != "" {
				list = append(list, plot.Tick{Value: -float64(i), Label: fit(style, printable(name), orWidth(s.most, labelMost))})
			}
		}
		return list
	case s.marked != nil:
		return plot.ConstantTicks(s.marked)
	case s.base > 0:
		return powerTicks{s.base}
	}
	return roundTicks{n, s.whole}
}

// swatch returns the mark of a kind in the legend.
func (v view) swatch(k kind) shape {
	if k.faint {
		return faintSquare
	}
	if k.mark != nil && slices.ContainsFunc(v.layers, func(l layer) bool { return l.mark == points && l.shape == nil }) {
		return k.mark
	}
	for _, l := range v.layers {
		for _, r := range l.rows {
			if r.color == nil && r.kind < len(v.kinds) && v.kinds[r.kind].name == k.name {
				switch {
				case l.mark != rects:
					return dashed(k.dashes)
				}
				return square
			}
		}
	}
	return square
}

// drawn draws a layer.
type drawn struct {
	view  view
	layer layer
	theme Theme
}

func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	down := d.down()
	x := func(v float64) vg.Length { return tx(clamp(v, p.X.Min, p.X.Max)) }
	y := func(v float64) vg.Length {
		if down {
			v = -v
		}
		return ty(clamp(v, p.Y.Min, p.Y.Max))
	}
	if m := d.layer.mark; m == curves || m == stairs {
		d.curves(c, p)
		return
	}
	if d.layer.image != nil && len(d.layer.rows) > 0 {
		first, last := d.layer.rows[0], d.layer.rows[len(d.layer.rows)-1]
		from, to := vg.Point{X: x(first.x), Y: y(last.y2)}, vg.Point{X: x(last.x2), Y: y(first.y)}
		c.DrawImage(vg.Rectangle{Min: from, Max: to}, d.layer.image(d.theme))
		return
	}
	style := d.theme.style(labelSize, d.theme.Text)
	if d.layer.small {
		style.Font.Size = smallSize
	}
	type cell struct{ x, y int }
	seen := map[cell]bool{} // points that would cover each other are drawn once, so that the file is small
	for _, r := range d.layer.rows {
		ink, at := d.view.ink(r)(d.theme), vg.Point{X: x(r.x), Y: y(r.y)}
		style.Color = ink
		switch d.layer.mark {
		case rects:
			to := vg.Point{X: x(r.x2), Y: y(r.y2)}
			d.rect(&c, r, at, to)
			if r.text != "" {
				middle := vg.Point{X: (at.X + to.X) / 2, Y: (at.Y + to.Y) / 2}
				style.Color, style.XAlign = d.theme.Background, draw.XCenter
				if r.faint || d.layer.top {
					style.Color = d.theme.Text
				}
				words := r.text
				if d.layer.top {
					middle.Y = max(at.Y, to.Y) - 4 - style.Font.Size/2
					words = fit(style, words, to.X-at.X)
				}
				write(&c, style, middle, words)
			}
			continue
		case rules:
			to := vg.Point{X: x(r.x2), Y: y(r.y2)}
			if d.layer.across {
				at.X, to.X = c.Min.X, c.Max.X
			}
			if finite(r.x) && finite(r.x2) && finite(r.y) && finite(r.y2) {
				c.StrokeLines(draw.LineStyle{Color: ink, Width: orWidth(d.layer.width, 1.5), Dashes: d.dashes(r)}, []vg.Point{at, to})
			}
			at = to
		case points:
			if k := (cell{int(at.X), int(at.Y)}); len(d.layer.rows) < 50 || !seen[k] {
				seen[k] = true
				d.point(&c, r, at, ink)
			}
			if d.layer.inside {
				style.Color, style.XAlign = d.theme.Background, draw.XCenter
				write(&c, style, at, r.text)
				continue
			}
			at.X += 5
		}
		switch d.layer.side {
		case rightOf:
			at.X = c.Max.X + asideGap
		case leftOf:
			at.X = c.Min.X - asideGap
		case leftEdge:
			at.X = c.Min.X
		}
		if r.text != "" {
			style.XAlign = draw.XLeft
			if d.layer.mark == texts {
				if r.wide > 0 && x(r.x+r.wide)-x(r.x) < d.layer.widest {
					continue
				}
				at.X += d.layer.gap * vg.Length(d.layer.align)
				style.XAlign = [...]text.XAlignment{draw.XRight, draw.XCenter, draw.XLeft}[d.layer.align+1]
			} else {
				at.X += 4
				style.Color = d.theme.Text
			}
			write(&c, style, at, r.text)
		}
	}
}

// down reports whether positions on the y axis count from the top.
func (d drawn) down() bool { return d.view.y.names != nil || d.view.y.bare }

func (d drawn) dashes(r row) []vg.Length {
	if r.color == nil && r.kind < len(d.view.kinds) {
		return d.view.kinds[r.kind].dashes
	}
	return nil
}

func orWidth(w, usual vg.Length) vg.Length {
	if w == 0 {
		return usual
	}
	return w
}

// clamp returns v, or the nearer limit, for marks that reach out of the plot.
func clamp(v, lo, hi float64) float64 {
	if v != v {
		return lo
	}
	far := hi - lo
	return min(max(v, lo-far), hi+far)
}

// rect fills a rectangle, at least .75 wide and high, or fills it lightly within a line.
func (d drawn) rect(c *draw.Canvas, r row, a, b vg.Point) {
	if a.X > b.X {
		a.X, b.X = b.X, a.X
	}
	if a.Y > b.Y {
		a.Y, b.Y = b.Y, a.Y
	}
	a.X, b.X = max(a.X, c.Min.X), min(b.X, c.Max.X)
	if a.X > b.X || r.x != r.x || r.x2 != r.x2 {
		return
	}
	if b.X-a.X < .75 {
		a.X, b.X = (a.X+b.X)/2-.375, (a.X+b.X)/2+.375
	}
	if b.Y-a.Y < .75 && r.y != r.y2 {
		b.Y = a.Y + .75
	}
	ink := d.view.ink(r)(d.theme)
	if !r.faint && !(r.kind < len(d.view.kinds) && d.view.kinds[r.kind].faint) {
		c.FillPolygon(ink, rectangle(a.X, a.Y, b.X, b.Y))
		return
	}
	c.FillPolygon(faded(ink), rectangle(a.X, a.Y, b.X, b.Y))
	c.StrokeLines(draw.LineStyle{Color: ink, Width: .75}, outline(a.X, a.Y, b.X, b.Y))
}

// faded returns the light form of a colour.
func faded(ink color.NRGBA) color.NRGBA { return color.NRGBA{ink.R, ink.G, ink.B, faintAlpha} }

// faintSquare is a light square within a line.
func faintSquare(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(faded(col.(color.NRGBA)), rectangle(p.X-r, p.Y-r, p.X+r, p.Y+r))
	c.StrokeLines(draw.LineStyle{Color: col, Width: .75}, outline(p.X-r, p.Y-r, p.X+r, p.Y+r))
}

// asideGap is the gap between the plot and the texts next to it.
const asideGap = 8

// faintAlpha is the opacity of a light rectangle, of 255.
const faintAlpha = 50

// point draws the mark of a row, at the edge if its value is not finite.
func (d drawn) point(c *draw.Canvas, r row, at vg.Point, ink colour) {
	if !finite(r.x) {
		return
	}
	mark, size := dot, orWidth(d.layer.width, 3.2)
	if r.size > 0 {
		size = vg.Length(r.size)
	}
	if d.layer.shape != nil {
		mark = d.layer.shape
	} else if r.kind < len(d.view.kinds) && d.view.kinds[r.kind].mark != nil {
		mark = d.view.kinds[r.kind].mark
	}
	switch {
	case math.IsInf(r.y, -1):
		at.Y, mark, ink = c.Min.Y+5, down, d.view.below()(d.theme)
	case !finite(r.y):
		at.Y, mark, ink = c.Max.Y-5, up, d.theme.Skip
	}
	mark(c, at, size, ink)
}

// curves draws one line for each kind.
func (d drawn) curves(c draw.Canvas, p *plot.Plot) {
	var order []int
	lines := map[int]*curve{}
	for _, r := range d.layer.rows {
		l := lines[r.kind]
		if l == nil {
			l = &curve{stairs: d.view.stairs(d.layer, r), bad: d.theme.Skip, low: d.view.below()(d.theme), x: []float64{}, unmarked: d.layer.gaps,
				style: draw.LineStyle{Color: d.view.ink(r)(d.theme), Width: orWidth(d.layer.width, 1.8), Dashes: d.dashes(r)}}
			lines[r.kind], order = l, append(order, r.kind)
		}
		if d.down() {
			r.y = -r.y
		}
		l.x, l.y = append(l.x, r.x), append(l.y, r.y)
	}
	slices.Sort(order)
	for _, k := range order {
		lines[k].Plot(c, p)
	}
}
