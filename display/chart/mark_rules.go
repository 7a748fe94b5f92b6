package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rules are lines from (x, y) to (x2, y2).
type rules struct {
	width   vg.Length // 0: 1.5
	across  bool      // they go from one side of the plot to the other
	upright bool      // they go from the bottom of the plot to its top
}

func (rules) traits(layer) traits {
	return traits{name: "rule", extends: true, segment: true, legend: lineSwatch}
}

func (m rules) drawRows(d drawing) {
	for _, r := range d.rows {
		at, to := vg.Point{X: d.x(r.x), Y: d.y(r.y)}, vg.Point{X: d.x(r.x2), Y: d.y(r.y2)}
		if m.across {
			at.X, to.X = d.c.Min.X, d.c.Max.X
		}
		if m.upright {
			at.Y, to.Y = d.c.Min.Y, d.c.Max.Y
		}
		if finite(r.x) && finite(r.x2) && finite(r.y) && finite(r.y2) {
			d.c.StrokeLines(draw.LineStyle{Color: d.ink(r)(d.theme), Width: orWidth(m.width, 1.5), Dashes: d.dashes(r)}, []vg.Point{at, to})
		}
	}
}

func (m rules) spec(u *unit) []object {
	list := u.table("x2", "y2")
	for _, i := range u.kept {
		if r := u.rows[i]; finite(r.x) && finite(r.y) && finite(r.x2) && finite(r.y2) {
			u.row(list, r, r.x, r.y)
			list.number(r.x2)
			list.number(r.y2)
		}
	}
	e := u.line("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "color", u.colors)
	if m.across {
		e["x"], e["x2"] = object{"value": 0}, object{"value": object{"expr": "width"}}
	}
	if m.upright {
		e["y"], e["y2"] = object{"value": 0}, object{"value": object{"expr": "height"}}
	}
	return []object{u.marks(list, object{"type": "rule", "clip": true, "strokeWidth": float64(orWidth(m.width, 1.5))}, e)}
}

// orWidth returns a width, or the usual one in place of 0.
func orWidth(w, usual vg.Length) vg.Length {
	if w == 0 {
		return usual
	}
	return w
}
