package chart

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curves are lines through the rows of each kind. plotter.NewLine rejects values that are not finite; these lines break
// there, and a mark stands at the upper edge, or at the lower edge for −∞.
type curves struct {
	steps bool      // the line is constant up to the next row
	width vg.Length // 0: 1.8
	gaps  bool      // values that are not finite are not marked
}

func (m curves) traits(layer) traits {
	return traits{name: "line", clips: true, edges: !m.gaps, counted: true, legend: lineSwatch}
}

// kept thins the lines one by one.
func (curves) kept(v view, l layer, most int) (kept []int) {
	rows := map[int][]int{}
	for i, r := range l.rows {
		rows[r.kind] = append(rows[r.kind], i)
	}
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		y := make([]float64, len(rows[k]))
		for i, at := range rows[k] {
			y[i] = l.rows[at].y
		}
		for _, i := range decimate(y, max(most/len(rows), 8)) {
			kept = append(kept, rows[k][i])
		}
	}
	return kept
}

// stepped reports whether the line of a row is constant up to the next row.
func (m curves) stepped(v view, r row) bool {
	return m.steps || r.kind < len(v.kinds) && v.kinds[r.kind].steps
}

func (m curves) drawRows(d drawing) {
	for _, rows := range byKind(d.rows) {
		m.curve(d, rows)
	}
}

// curve draws one line.
func (m curves) curve(d drawing, rows []row) {
	steps, style := m.stepped(d.view, rows[0]), draw.LineStyle{Color: d.ink(rows[0])(d.theme), Width: orWidth(m.width, 1.8), Dashes: d.dashes(rows[0])}
	var line []vg.Point
	flush := func() {
		if len(line) == 1 {
			dot.draw(d.c, line[0], 2, style.Color)
		}
		for _, part := range d.c.ClipLinesXY(thin(line)) {
			d.c.StrokeLines(style, part)
		}
		line = line[:0]
	}
	last := vg.Length(math.Inf(-1)) // position of the last mark at an edge
	for _, r := range rows {
		if !finite(r.x) {
			flush()
			continue
		}
		at := d.exactly(r.x, r.y)
		if steps && len(line) > 0 {
			line = append(line, vg.Point{X: at.X, Y: line[len(line)-1].Y})
		}
		if finite(r.y) {
			line = append(line, at)
			continue
		}
		flush()
		switch apart := at.X - last; {
		case m.gaps || apart > -.5 && apart < .5:
			continue
		case r.below():
			down.draw(d.c, vg.Point{X: at.X, Y: d.c.Min.Y + 5}, 4, d.below()(d.theme))
		default:
			up.draw(d.c, vg.Point{X: at.X, Y: d.c.Max.Y - 5}, 4, d.theme.Skip)
		}
		last = at.X
	}
	flush()
}

// thin keeps the first, lowest, highest and last of the points within each half pixel. The
// picture is the same and the file is small.
func thin(line []vg.Point) []vg.Point {
	const width = .5
	if len(line) < 2*Width || !slices.IsSortedFunc(line, func(a, b vg.Point) int { return cmp.Compare(a.X, b.X) }) {
		return append([]vg.Point(nil), line...)
	}
	var out []vg.Point
	for i := 0; i < len(line); {
		j, lo, hi := i, i, i
		for ; j < len(line) && line[j].X < line[i].X+width; j++ {
			if line[j].Y < line[lo].Y {
				lo = j
			}
			if line[j].Y > line[hi].Y {
				hi = j
			}
		}
		last := -1
		for _, k := range []int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k > last {
				out, last = append(out, line[k]), k
			}
		}
		i = j
	}
	return out
}

func (m curves) spec(u *unit) []object {
	ascends := ascend(u.rows) // otherwise Vega-Lite, which orders rows by their x, is told their order
	list := u.table("alone")
	if !ascends {
		list = u.table("alone", "index")
	}
	point := func(r row, y float64, alone bool, i int) {
		u.row(list, r, r.x, y)
		if alone {
			list.bool(true)
		} else {
			list.next()
		}
		if !ascends {
			list.whole(i)
		}
	}
	on := func(k, kind int) bool { // whether the line of a kind goes through kept row k
		return k >= 0 && k < len(u.kept) && u.rows[u.kept[k]].kind == kind && finite(u.rows[u.kept[k]].x) && finite(u.rows[u.kept[k]].y)
	}
	for k, i := range u.kept {
		r := u.rows[i]
		if !finite(r.x) {
			continue
		}
		if !finite(r.y) && on(k-1, r.kind) && m.stepped(u.view, r) { // the last value holds up to the gap
			held := u.rows[u.kept[k-1]]
			y := held.y
			held.x = r.x
			point(held, y, false, i)
		}
		if !finite(r.y) && !m.gaps {
			u.edge(r)
		}
		alone := !on(k-1, r.kind) && !on(k+1, r.kind)
		if k+1 < len(u.kept) && m.stepped(u.view, r) { // a line goes up to the gap
			next := u.rows[u.kept[k+1]]
			alone = alone && !(next.kind == r.kind && finite(next.x))
		}
		point(r, r.y, alone, i)
	}
	path := u.line("color", u.colors)
	if !ascends {
		path["order"] = object{"field": "index", "type": "quantitative"}
	}
	delete(path, "tooltip")
	var parts []object
	for _, part := range m.paths(u.view) {
		parts = append(parts, with(part, "encoding", path))
	}
	if u.linked != nil {
		parts = append(parts, u.values()...)
	} else {
		parts = append(parts, object{
			"params": []object{pointed("x", "y")}, "transform": []object{{"filter": "isValid(datum.y)"}}, "mark": object{"type": "point", "filled": true, "size": 60, "clip": true},
			"encoding": u.encoding("color", u.colors, "opacity", object{"condition": []object{{"param": "pointed", "empty": false, "value": 1}, {"test": "datum.alone", "value": 1}}, "value": 0}),
		})
	}
	return append([]object{{"data": list.data(), "layer": parts}}, u.edges()...)
}

// paths returns the marks of lines: those of the kinds whose lines are constant up to the next row are another mark.
func (m curves) paths(v view) []object {
	mark := func(step bool) object {
		p := object{"type": "line", "clip": true, "strokeJoin": "round", "strokeWidth": float64(orWidth(m.width, 1.8))}
		if step {
			p["interpolate"] = "step-after"
		}
		return object{"mark": p}
	}
	steps := v.namesOf(func(k kind) bool { return k.steps })
	if steps == "" {
		return []object{mark(m.steps)}
	}
	in := "indexof(" + steps + ", datum.kind)"
	return []object{with(mark(false), "transform", []object{{"filter": in + " < 0"}}), with(mark(true), "transform", []object{{"filter": in + " >= 0"}})}
}

// ascend reports whether the positions of each kind ascend.
func ascend(rows []row) bool {
	last := map[int]float64{}
	for _, r := range rows {
		if before, ok := last[r.kind]; !finite(r.x) || ok && r.x < before {
			return false
		}
		last[r.kind] = r.x
	}
	return true
}
