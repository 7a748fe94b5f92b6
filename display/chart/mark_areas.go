package chart

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// areas are the areas from y to y2 along the rows of each kind, in a light colour. They break where a row has no place.
type areas struct {
	steps bool // each row holds up to the next one
}

// areaAlpha is the opacity of an area, of 255.
const areaAlpha = 50

func (areas) traits(layer) traits {
	return traits{name: "area", extends: true, clips: true, legend: squareSwatch}
}

func (m areas) drawRows(d drawing) {
	for _, rows := range byKind(d.rows) {
		ink := d.ink(rows[0])(d.theme)
		ink.A = areaAlpha
		for _, part := range parts(rows) {
			if r := part[0]; len(part) == 1 {
				d.c.StrokeLines(draw.LineStyle{Color: ink, Width: 1}, d.c.ClipLinesXY([]vg.Point{d.exactly(r.x, r.y), d.exactly(r.x, r.y2)})...)
				continue
			}
			var edge []vg.Point
			for i, r := range part {
				if m.steps && i > 0 {
					edge = append(edge, d.exactly(r.x, part[i-1].y))
				}
				edge = append(edge, d.exactly(r.x, r.y))
			}
			for i, r := range slices.Backward(part) {
				edge = append(edge, d.exactly(r.x, r.y2))
				if m.steps && i > 0 {
					edge = append(edge, d.exactly(r.x, part[i-1].y2))
				}
			}
			d.c.FillPolygon(ink, d.c.ClipPolygonXY(edge))
		}
	}
}

// parts returns the runs of rows that have a place.
func parts(rows []row) (list [][]row) {
	open := false
	for _, r := range rows {
		if !finite(r.x) || !finite(r.y) || !finite(r.y2) {
			open = false
			continue
		}
		if !open {
			list, open = append(list, nil), true
		}
		list[len(list)-1] = append(list[len(list)-1], r)
	}
	return list
}

func (m areas) spec(u *unit) []object {
	list := u.table("y2", "part")
	at := map[int]int{} // the part of each kind; a gap begins the next one
	for _, i := range u.kept {
		r := u.rows[i]
		if !finite(r.x) || !finite(r.y) || !finite(r.y2) {
			at[r.kind]++
			continue
		}
		u.row(list, r, r.x, r.y)
		list.number(r.y2)
		list.whole(at[r.kind])
	}
	e := u.encoding("y2", object{"field": "y2"}, "fill", u.colors, "detail", object{"field": "part"})
	mark := object{"type": "area", "clip": true, "fillOpacity": areaAlpha / 255.}
	if m.steps {
		mark["interpolate"] = "step-after"
	}
	return []object{u.marks(list, mark, e)}
}
