package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// arrows are lines from (x, y) to (x2, y2) with a head there. The line leaves room for a text at its start.
type arrows struct{}

const (
	arrowRoom = 10 // of the text at the start
	arrowHead = 8  // length of the head
)

func (arrows) traits(layer) traits { return traits{name: "arrow", extends: true, legend: lineSwatch} }

func (m arrows) drawRows(d drawing) {
	for _, r := range d.rows {
		from, to := vg.Point{X: d.x(r.x), Y: d.y(r.y)}, vg.Point{X: d.x(r.x2), Y: d.y(r.y2)}
		way := to.Sub(from)
		length := vg.Length(math.Hypot(float64(way.X), float64(way.Y)))
		if !(length > arrowRoom+arrowHead) {
			continue
		}
		way = way.Scale(1 / length)
		side := vg.Point{X: -way.Y, Y: way.X}.Scale(arrowHead * .4)
		neck, ink := to.Sub(way.Scale(arrowHead)), d.ink(r)(d.theme)
		d.c.StrokeLines(draw.LineStyle{Color: ink, Width: 1}, []vg.Point{from.Add(way.Scale(arrowRoom)), neck})
		d.c.FillPolygon(ink, []vg.Point{to, neck.Add(side), neck.Sub(side)})
	}
}

func (m arrows) spec(u *unit) []object {
	list := u.table("x2", "y2")
	for _, i := range u.kept {
		if r := u.rows[i]; finite(r.x) && finite(r.x2) && finite(r.y) && finite(r.y2) {
			u.row(list, r, r.x, r.y)
			list.number(r.x2)
			list.number(r.y2)
		}
	}
	const dx, dy = "(scale('x', datum.x2) - scale('x', datum.x))", "(scale('y', datum.y2) - scale('y', datum.y))"
	offset := func(to string) object {
		return object{"expr": to + " * 10 / max(sqrt(pow(" + dx + ", 2) + pow(" + dy + ", 2)), 10)"}
	}
	line := u.encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "color", u.colors)
	head := u.encoding("color", u.colors)
	head["x"], head["y"] = with(copyOf(u.axes["x"]), "field", "x2"), with(copyOf(u.axes["y"]), "field", "y2")
	return []object{
		u.marks(list, object{"type": "rule", "clip": true, "strokeWidth": 1, "xOffset": offset(dx), "yOffset": offset(dy)}, line),
		u.marks(list, object{"type": "point", "filled": true, "clip": true, "opacity": 1, "size": 100, "shape": "M0,0L-.4,1L.4,1Z", "angle": object{"expr": "atan2(" + dx + ", -" + dy + ") * 180 / PI"}}, head),
	}
}

// copyOf returns a copy of an encoding.
func copyOf(encoding any) object {
	c := object{}
	for k, v := range encoding.(object) {
		c[k] = v
	}
	return c
}
