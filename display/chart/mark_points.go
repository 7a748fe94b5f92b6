package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// points are symbols at (x, y), with the text to the right.
type points struct {
	width  vg.Length // radius; 0: 3.2, or the sizes of the rows
	symbol *symbol   // nil: the kinds' symbols
	inside bool      // texts are in the middle of the symbols
}

func (m points) traits(layer) traits {
	return traits{name: "point", edges: true, counted: true, symbols: m.symbol == nil}
}

// kept holds fewer points with many facts, because these take most of the time and of the file.
func (points) kept(v view, l layer, most int) []int {
	columns := 3
	for _, f := range v.facts {
		if !f.placed() {
			columns++
		}
	}
	return v.share(l, min(most, 4*mostPoints/columns))
}

// sized reports whether points have different sizes.
func (points) sized(rows []row) bool { return len(rows) > 0 && rows[0].size > 0 }

func (m points) drawRows(d drawing) {
	style := d.style()
	type cell struct{ x, y int }
	seen := map[cell]bool{} // points that would cover each other are drawn once, so that the file is small
	for _, r := range d.rows {
		at := vg.Point{X: d.x(r.x), Y: d.y(r.y)}
		if k := (cell{int(at.X), int(at.Y)}); len(d.rows) < 50 || !seen[k] {
			seen[k] = true
			m.point(d, r, at)
		}
		switch {
		case r.text == "":
		case m.inside:
			style.Color, style.XAlign = d.theme.Background, draw.XCenter
			write(d.c, style, at, r.text)
		default:
			style.Color, style.XAlign = d.theme.Text, draw.XLeft
			at.X += 9
			write(d.c, style, at, r.text)
		}
	}
}

// point draws the symbol of a row, at the edge if its value is not finite.
func (m points) point(d drawing, r row, at vg.Point) {
	if !finite(r.x) {
		return
	}
	symbol, size, ink := dot, orWidth(m.width, 3.2), d.ink(r)(d.theme)
	if r.size > 0 {
		size = vg.Length(r.size)
	}
	if m.symbol != nil {
		symbol = m.symbol
	} else if r.kind < len(d.kinds) && d.kinds[r.kind].symbol != nil {
		symbol = d.kinds[r.kind].symbol
	}
	switch {
	case r.below():
		at.Y, symbol, ink = d.c.Min.Y+5, down, d.below()(d.theme)
	case !finite(r.y):
		at.Y, symbol, ink = d.c.Max.Y-5, up, d.theme.Skip
	}
	symbol.draw(d.c, at, size, ink)
}

func (m points) spec(u *unit) []object {
	sized := m.sized(u.rows)
	list := u.table()
	if sized {
		list = u.table("size")
	}
	for _, i := range u.kept {
		switch r := u.rows[i]; {
		case !finite(r.x):
		case !finite(r.y):
			u.edge(r)
		default:
			if u.row(list, r, r.x, r.y); sized {
				list.number(4 * r.size * r.size)
			}
			u.label(r, r.x, r.y, 0)
		}
	}
	// Symbols are not clipped: those at an edge would be cut in half.
	inside := "inrange(datum.x, domain('x'))"
	if slices.Contains(u.zoom, "y") || u.cut {
		inside += " && inrange(datum.y, domain('y'))"
	}
	mark, e := object{"type": "point", "clip": false, "opacity": 1, "strokeWidth": 1.2}, u.encoding("fill", u.colors, "stroke", u.colors)
	switch {
	case m.symbol == nil:
		e["shape"] = u.shapes()
	case m.symbol.lines:
		mark["shape"], mark["strokeWidth"] = m.symbol.path, 1.8
		delete(e, "fill")
	default:
		mark["shape"], mark["strokeWidth"] = m.symbol.path, 0
	}
	size := float64(orWidth(m.width, 3.2))
	seen := object{"test": inside, "value": 4 * size * size}
	if sized {
		seen = object{"test": inside, "field": "size", "type": "quantitative", "scale": nil, "legend": nil}
	}
	e["size"] = object{"condition": seen, "value": 0}
	text, ink := object{"align": "left", "dx": 9}, textInk
	if m.inside {
		text, ink = object{"align": "center", "dx": 0, "clip": true}, backgroundInk
	}
	return slices.Concat([]object{u.marks(list, mark, e)}, u.edges(), u.texts(text, object{"value": themed(ink)}))
}
