package chart

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// drawEnds draws a plot of lines with their names at their ends: outside of the plot, or inside it for a line that ends early.
func (v view) drawEnds(t Theme, c draw.Canvas, p *plot.Plot) {
	label := t.style(labelSize, t.Text)
	var room vg.Length
	for _, name := range v.ends {
		room = max(room, label.Width(name))
	}
	const least = 60 // width of a plot
	room = max(min(room, 190, (c.Max.X-c.Min.X)/3, p.DataCanvas(c).Size().X-least), 0)
	c = draw.Crop(c, 0, -room-12, 0, 0)
	paint(p, c)
	inner := p.DataCanvas(c)
	toX, toY := p.Transforms(&inner)
	var tags []tag
	var inside []vg.Rectangle
	for i, last := range v.lastRows() {
		if v.ends[i] == "" {
			continue
		}
		at := inner.Max.Y
		if finite(last.y) {
			at = toY(last.y)
		}
		style := label
		style.Color = v.kinds[i].color(t)
		name := fit(style, v.ends[i], room)
		x := toX(last.x)
		box := vg.Rectangle{Min: vg.Point{X: x + 5, Y: at - labelSize/2 - 1}, Max: vg.Point{X: x + 7 + style.Width(name), Y: at + labelSize/2 + 1}}
		free := !slices.ContainsFunc(inside, func(r vg.Rectangle) bool {
			return r.Min.X < box.Max.X && box.Min.X < r.Max.X && r.Min.Y < box.Max.Y && box.Min.Y < r.Max.Y
		})
		if free && x >= inner.Min.X && box.Max.X+9 < inner.Max.X {
			inside = append(inside, box)
			c.FillPolygon(t.Background, rectangle(box.Min.X, box.Min.Y, box.Max.X, box.Max.Y))
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

// lastRows returns the last row of each kind that has a place in the plot, or its first row.
func (v view) lastRows() []row {
	list := make([]row, len(v.kinds))
	seen := make([]bool, len(v.kinds))
	x, _ := v.limits()
	for _, l := range v.layers {
		if l.note || l.mute {
			continue
		}
		for _, r := range l.rows {
			if !seen[r.kind] || finite(r.x) && finite(r.y) && r.x <= x.hi {
				list[r.kind], seen[r.kind] = r, true
			}
		}
	}
	return list
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
