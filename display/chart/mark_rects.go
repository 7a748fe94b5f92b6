package chart

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rects are rectangles from (x, y) to (x2, y2), with the text inside.
type rects struct {
	top   bool                    // texts stand at the upper edges
	image func(Theme) image.Image // what a picture shows in place of the rectangles, for finer detail
}

func (m rects) traits(l layer) traits {
	return traits{name: "rect", extends: true, counted: l.isData(), legend: squareSwatch}
}

func (m rects) drawRows(d drawing) {
	if m.image != nil && len(d.rows) > 0 {
		first, last := d.rows[0], d.rows[len(d.rows)-1]
		d.c.DrawImage(vg.Rectangle{Min: vg.Point{X: d.x(first.x), Y: d.y(last.y2)}, Max: vg.Point{X: d.x(last.x2), Y: d.y(first.y)}}, m.image(d.theme))
		return
	}
	style := d.style()
	style.XAlign = draw.XCenter
	for _, r := range d.rows {
		at, to := vg.Point{X: d.x(r.x), Y: d.y(r.y)}, vg.Point{X: d.x(r.x2), Y: d.y(r.y2)}
		m.fill(d, r, at, to)
		if r.text == "" {
			continue
		}
		middle, text := vg.Point{X: (at.X + to.X) / 2, Y: (at.Y + to.Y) / 2}, r.text
		if style.Color = d.theme.Background; r.faint || m.top {
			style.Color = d.theme.Text
		}
		if m.top {
			middle.Y = max(at.Y, to.Y) - 4 - style.Font.Size/2
			text = fit(style, text, to.X-at.X)
		}
		write(d.c, style, middle, text)
	}
}

// faintAlpha is the opacity of a light rectangle, of 255.
const faintAlpha = 50

// faded returns the light form of a colour.
func faded(ink color.NRGBA) color.NRGBA { return color.NRGBA{ink.R, ink.G, ink.B, faintAlpha} }

// fill fills a rectangle, at least .75 wide and high, or fills it lightly within a line.
func (rects) fill(d drawing, r row, a, b vg.Point) {
	if a.X > b.X {
		a.X, b.X = b.X, a.X
	}
	if a.Y > b.Y {
		a.Y, b.Y = b.Y, a.Y
	}
	a.X, b.X = max(a.X, d.c.Min.X), min(b.X, d.c.Max.X)
	a.Y, b.Y = max(a.Y, d.c.Min.Y), min(b.Y, d.c.Max.Y)
	if a.X > b.X || a.Y > b.Y || r.x != r.x || r.x2 != r.x2 {
		return
	}
	if b.X-a.X < .75 {
		a.X, b.X = (a.X+b.X)/2-.375, (a.X+b.X)/2+.375
	}
	if b.Y-a.Y < .75 && r.y != r.y2 {
		b.Y = a.Y + .75
	}
	ink := d.ink(r)(d.theme)
	if !r.faint && !(r.kind < len(d.kinds) && d.kinds[r.kind].faint) {
		d.c.FillPolygon(ink, rectangle(a.X, a.Y, b.X, b.Y))
		return
	}
	d.c.FillPolygon(faded(ink), rectangle(a.X, a.Y, b.X, b.Y))
	d.c.StrokeLines(draw.LineStyle{Color: ink, Width: .75}, outline(a.X, a.Y, b.X, b.Y))
}

func (m rects) spec(u *unit) []object {
	list := u.table("x2", "y2")
	for _, i := range u.kept {
		r := u.rows[i]
		if !finite(r.x) || !finite(r.y) || !finite(r.x2) || !finite(r.y2) {
			continue
		}
		u.row(list, r, r.x, r.y)
		list.number(r.x2)
		list.number(r.y2)
		x, y := (r.x+r.x2)/2, (r.y+r.y2)/2
		switch {
		case m.top && u.y.names != nil:
			y = min(r.y, r.y2)
		case m.top:
			y = max(r.y, r.y2)
		}
		u.label(r, x, y, math.Abs(r.x2-r.x))
	}
	fills, light := u.colors, "datum.faint" // light ones are within a line
	if kinds := u.faint(); kinds != "" {
		light = kinds
		if u.colors["scale"] != nil {
			fills = u.fills()
		}
	}
	faint := object{"condition": object{"test": "datum.faint", "value": faintAlpha / 255.}, "value": 1}
	edge := object{"condition": []object{{"test": light, "value": .75}, {"test": "abs(scale('x', datum.x2) - scale('x', datum.x)) < .75", "value": .75}}, "value": 0} // narrow ones are seen
	if m.image != nil {
		edge = object{"value": .75} // cells without seams
	}
	mark, ink := object{"align": "center", "dx": 0, "clip": true, "limit": object{"expr": boxWide + " - 2"}}, object{"condition": object{"test": "datum.faint", "value": themed(textInk)}, "value": themed(backgroundInk)}
	if m.top {
		mark["baseline"], mark["dy"], ink = "top", 4, object{"value": themed(textInk)}
	}
	narrow := object{"condition": object{"test": boxWide + " < 9", "value": 0}, "value": 1} // without room for a character
	return append([]object{u.marks(list, object{"type": "rect", "clip": true},
		u.encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "fill", fills, "stroke", u.colors, "fillOpacity", faint, "strokeWidth", edge))},
		u.texts(mark, ink, "opacity", narrow)...)
}

// boxWide is the width of the box of a text in pixels.
const boxWide = "scale('x', datum.x + datum.wide) - scale('x', datum.x)"
