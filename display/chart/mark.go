package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type colour = color.Color

// Shapes are drawn rather than written, so that they look the same in every font.

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// outline returns the closed line around a rectangle.
func outline(x0, y0, x1, y1 vg.Length) []vg.Point {
	return append(rectangle(x0, y0, x1, y1), vg.Point{X: x0, Y: y0})
}

// shape draws itself around p, extending about r to each side.
type shape func(c *draw.Canvas, p vg.Point, r vg.Length, col colour)

func cross(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	s := draw.LineStyle{Color: col, Width: 1.8}
	c.StrokeLines(s, []vg.Point{{X: p.X - r, Y: p.Y - r}, {X: p.X + r, Y: p.Y + r}}, []vg.Point{{X: p.X - r, Y: p.Y + r}, {X: p.X + r, Y: p.Y - r}})
}

func up(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(col, []vg.Point{{X: p.X - r, Y: p.Y - r*.8}, {X: p.X + r, Y: p.Y - r*.8}, {X: p.X, Y: p.Y + r}})
}

func down(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(col, []vg.Point{{X: p.X - r, Y: p.Y + r*.8}, {X: p.X + r, Y: p.Y + r*.8}, {X: p.X, Y: p.Y - r}})
}

func diamondAt(p vg.Point, r vg.Length) []vg.Point {
	return []vg.Point{{X: p.X - r, Y: p.Y}, {X: p.X, Y: p.Y - r}, {X: p.X + r, Y: p.Y}, {X: p.X, Y: p.Y + r}}
}

func diamond(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(col, diamondAt(p, r))
}

func hollowDiamond(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	line := diamondAt(p, r-.5)
	c.StrokeLines(draw.LineStyle{Color: col, Width: 1.2}, append(line, line[0], line[1]))
}

// key is one entry of a legend line.
type key struct {
	mark  shape
	color colour
	text  string
}

// keyHeight is the height of the legend line at the top of a canvas.
const keyHeight = 20

// keys writes a legend line at the top of c, after the label of the y axis, and returns the
// canvas below it.
func keys(t Theme, c draw.Canvas, axis string, entries []key) draw.Canvas {
	s := t.style(labelSize, t.Neutral)
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - keyHeight/2 + 3}
	if axis = fit(s, axis, min(250, c.Max.X-c.Min.X)); axis != "" {
		write(&c, s, at, axis)
		at.X += s.Width(axis) + 18
	}
	for _, e := range entries {
		if at.X+24 > c.Max.X {
			break
		}
		e.mark(&c, vg.Point{X: at.X + 4, Y: at.Y}, 4, e.color)
		text := fit(s, e.text, max(c.Max.X-at.X-13, 0))
		write(&c, s, vg.Point{X: at.X + 13, Y: at.Y}, text)
		at.X += 13 + s.Width(text) + 16
	}
	return draw.Crop(c, 0, 0, 0, -keyHeight)
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

// tag is a label next to a point of the canvas; spread moves labels apart.
type tag struct {
	y     vg.Length
	text  string
	style text.Style
}

// spread moves tags, sorted by y in ascending order, so that they are at least gap apart and stay
// between lo and hi.
func spread(tags []tag, gap, lo, hi vg.Length) {
	for i := range tags {
		tags[i].y = max(tags[i].y, lo+gap*vg.Length(i))
		if i > 0 {
			tags[i].y = max(tags[i].y, tags[i-1].y+gap)
		}
	}
	for i := len(tags) - 1; i >= 0; i-- {
		limit := hi
		if i < len(tags)-1 {
			limit = tags[i+1].y - gap
		}
		tags[i].y = min(tags[i].y, limit)
	}
}
