package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawOn draws the picture of the view.
func (v view) drawOn(t Theme, c draw.Canvas) {
	if v.cut {
		v = v.inside()
	}
	if v.rigid {
		c = draw.Crop(c, 0, 0, max(c.Size().Y-vg.Length(v.height+v.around()), 0), 0)
	}
	if v.header() {
		c = keys(t, c, v.y.title, v.entries())
	}
	p := t.bare()
	if !v.y.down() {
		p = t.plot()
	}
	x, y := v.limits()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x.lo, x.hi, y.lo, y.hi
	p.X.Label.Text = printable(v.x.title)
	p.X.Tick.Marker = v.x.ticks(ticksIn(c))
	p.Y.Tick.Marker = v.y.ticks(5)
	if v.y.down() {
		p.Y.Min, p.Y.Max = -y.hi, -y.lo
		p.X.Padding, p.Y.Padding = 2, 2
		p.Y.Tick.Label.Color = t.Text
		p.Y.Tick.Length = 0
		if v.y.names == nil {
			p.HideY()
		}
	}
	if v.x.slant > 0 { // the first label begins to the left of the plot
		most := min(slantMost, c.Size().X/3)
		for i, k := range v.x.marked {
			v.x.marked[i].Label = fit(p.X.Tick.Label, k.Label, most)
		}
		v.left = max(v.left, min(most, v.x.slant*2)*.8-30)
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = slantAngle*math.Pi/180, draw.XRight, draw.YCenter
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
		p.Add(drawing{view: v, layer: l, theme: t})
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
	v.drawCorner(t, p.DataCanvas(c))
}

// drawing is a layer in a picture: what a mark draws its rows with.
type drawing struct {
	view
	layer
	theme Theme

	c *draw.Canvas // the plot, without the axes
	// x and y return positions on c. One outside of the plot is at most as far from it as the plot is large.
	x, y    func(float64) vg.Length
	exactly func(x, y float64) vg.Point // the same, however far outside
}

// Plot draws the layer.
func (d drawing) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sign := 1.
	if d.view.y.down() {
		sign = -1
	}
	d.c = &c
	d.x = func(v float64) vg.Length { return x(clamp(v, p.X.Min, p.X.Max)) }
	d.y = func(v float64) vg.Length { return y(clamp(sign*v, p.Y.Min, p.Y.Max)) }
	d.exactly = func(h, v float64) vg.Point { return vg.Point{X: x(h), Y: y(sign * v)} }
	d.mark.drawRows(d)
}

// clamp returns v, or the nearer limit, for marks that reach out of the plot.
func clamp(v, lo, hi float64) float64 {
	if v != v {
		return lo
	}
	far := hi - lo
	return min(max(v, lo-far), hi+far)
}

// style returns the style of the layer's texts.
func (d drawing) style() text.Style {
	if d.small {
		return d.theme.style(smallSize, d.theme.Text)
	}
	return d.theme.style(labelSize, d.theme.Text)
}

// dashes returns the dashes of the line of a row, those of its kind.
func (d drawing) dashes(r row) []vg.Length {
	if r.color == nil && r.kind < len(d.kinds) {
		return d.kinds[r.kind].dashes
	}
	return nil
}

// grid draws the horizontal lines of the y axis's ticks.
type grid struct{ style draw.LineStyle }

func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() && t.Value >= p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(g.style, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
