package chart

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// twin returns the interactive form of the view.
func (v view) twin() twin {
	t := twin{names: v.y.names, least: v.least, height: v.height, data: []object{}}
	if v.y.bare {
		t.names = []string{}
	}
	x, y := v.limits()
	axes := object{"x": v.x.channel("x", x, false), "y": v.y.channel("y", y, v.y.bare)}
	if slices.Contains(v.zoom, "x") {
		t.reach = &reach{x.lo, x.hi}
		axes["x"].(object)["scale"].(object)["domain"] = t.reach.domain(false)
	}
	var params []object
	if len(v.zoom) > 0 {
		params = append(params, zoom(v.zoom...))
	}
	filtered := object{}
	if v.legend() {
		param, opacity := filter("kind")
		params, filtered = append(params, param), object{"opacity": opacity}
		for _, k := range v.listed() {
			t.choices = append(t.choices, k.name)
		}
	}
	shown, all := 0, v.points
	for _, l := range v.layers {
		kept := v.shown(l)
		if l.mark == curves || l.mark == stairs || l.mark == points {
			shown += len(kept)
			if v.points == 0 {
				all += len(l.rows)
			}
		}
		for _, unit := range v.units(l, kept, axes, filtered) {
			if params != nil {
				first := unit
				if inner := listOf(unit["layer"]); len(inner) > 0 {
					first = inner[0]
				}
				first["params"], params = params, nil
			}
			t.layers = append(t.layers, unit)
		}
	}
	t.subtitle = fewer(shown, all)
	return t
}

// ink returns the colour of a layer's rows if they have their own, and reports whether it is the same for all.
func (l layer) ink() (ink role, one bool) {
	if len(l.rows) == 0 || l.rows[0].color == nil {
		return nil, false
	}
	ink = l.rows[0].color
	return ink, !slices.ContainsFunc(l.rows, func(r row) bool { return r.color(Light) != ink(Light) || r.color(Dark) != ink(Dark) })
}

func listOf(v any) []object {
	list, _ := v.([]object)
	return list
}

// channel returns the encoding of a field of positions.
func (s scale) channel(field string, at span, down bool) object {
	limits := []float64{at.lo, at.hi}
	axis := any(object{"tickCount": map[string]int{"x": 8, "y": 5}[field]})
	switch {
	case s.only != nil:
		axis = object{"values": s.only, "domain": false, "titleAnchor": "start"}
	case s.names != nil:
		rows := make([]int, len(s.names))
		for i := range rows {
			rows[i] = i
		}
		list, _ := json.Marshal(printables(s.names)) // strings can be encoded
		axis = object{"labelExpr": string(list) + "[datum.value]", "values": rows, "domain": false, "ticks": false, "grid": false, "labelColor": themed(textInk), "labelPadding": 6}
		limits = []float64{at.hi, at.lo} // from the top
	case s.bare:
		axis = nil
		if down {
			limits = []float64{at.hi, at.lo}
		}
	case s.base > 0:
		axis = object{"tickMinStep": 1, "tickCount": 8, "labelExpr": "datum.value == floor(datum.value) ? " + powerLabels(s.base, false) + " : ''"}
	case s.whole:
		axis = object{"tickMinStep": 1, "tickCount": 8, "labelExpr": "datum.value == floor(datum.value) ? format(datum.value, ',') : ''"}
	}
	var title any
	if s.title != "" {
		title = s.title
	}
	return object{"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": object{"domain": limits, "nice": false, "zero": false}}
}

// units returns the layers in the specification for some rows of a layer.
func (v view) units(l layer, kept []int, axes, filtered object) []object {
	data, text, bad := v.data(l, kept)
	colors, dashes := v.colors(l)
	var tooltip []object
	for _, f := range v.facts {
		tooltip = append(tooltip, object{"field": f.key, "title": f.title})
	}
	encoding := func(more ...any) object {
		e := object{"x": axes["x"], "y": axes["y"], "tooltip": tooltip}
		if filtered["opacity"] != nil {
			e["opacity"] = filtered["opacity"]
		}
		return with(e, more...)
	}
	line := func(e object) object {
		if dashes != nil {
			e["strokeDash"] = dashes
		}
		return e
	}
	unit := func(r *rows, mark, encoding object) object {
		u := object{"data": r.data(), "mark": mark, "encoding": encoding}
		if ink, one := l.ink(); ink != nil && !one {
			u["transform"] = []object{{"calculate": "dark ? datum.dark : datum.light", "as": "ink"}}
		}
		return u
	}
	faint := object{"condition": object{"test": "datum.faint", "value": faintAlpha / 255.}, "value": 1}
	edge := object{"condition": object{"test": "datum.faint", "value": .75}, "value": 0}
	var units []object
	switch l.mark {
	case rects:
		units = append(units, unit(data, object{"type": "rect", "clip": true},
			encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "color", colors, "stroke", colors, "fillOpacity", faint, "strokeWidth", edge)))
	case rules:
		units = append(units, unit(data, object{"type": "rule", "clip": true, "strokeWidth": float64(orWidth(l.width, 1.5))},
			line(encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "color", colors))))
	case curves, stairs:
		mark := object{"type": "line", "clip": true, "strokeWidth": float64(orWidth(l.width, 1.8))}
		if l.mark == stairs {
			mark["interpolate"] = "step-after"
		}
		path := line(encoding("color", colors, "order", object{"field": "index", "type": "quantitative"}))
		delete(path, "tooltip")
		near := object{
			"params": []object{pointed("x", "y")}, "transform": []object{{"filter": "isValid(datum.y)"}}, "mark": object{"type": "point", "filled": true, "size": 60, "clip": true},
			"encoding": encoding("color", colors, "opacity", object{"condition": []object{{"param": "pointed", "empty": false, "value": 1}, {"test": "datum.alone", "value": 1}}, "value": 0}),
		}
		units = append(units, object{"data": data.data(), "layer": []object{{"mark": mark, "encoding": path}, near}})
	case points:
		size := float64(orWidth(l.width, 3.2))
		mark, e := object{"type": "point", "size": 4 * size * size, "clip": true, "opacity": 1, "strokeWidth": 1.2}, encoding("fill", colors, "stroke", colors)
		if l.shape == nil {
			e["shape"] = v.shapes()
		} else {
			mark["shape"], mark["strokeWidth"] = l.path, 1.8
			if l.path == hollowPath {
				delete(e, "fill")
			}
		}
		units = append(units, unit(data, mark, e))
	}
	if bad.n > 0 {
		units = append(units, bad.marks(axes["x"], v.below(), tooltip))
	}
	if text.n > 0 {
		size := labelSize
		if l.small {
			size = smallSize
		}
		mark := object{"type": "text", "fontSize": size, "align": "left", "dx": 4}
		ink := object{"value": themed(textInk)}
		switch {
		case l.mark == rects:
			mark["align"], mark["dx"], mark["clip"] = "center", 0, true
			mark["limit"] = object{"expr": boxWide + " - 2"}
			ink = object{"condition": object{"test": "datum.faint", "value": themed(textInk)}, "value": themed(backgroundInk)}
		case l.mark == points:
			mark["dx"] = 9
		case l.mark == texts:
			mark["align"], mark["dx"] = [...]string{"right", "center", "left"}[l.align+1], 0
			ink = colors
		}
		if l.within > 0 {
		}
		e := encoding("text", object{"field": "text", "type": "nominal"}, "color", ink)
		if l.mark == rects { // boxes too narrow for a character
			e["opacity"] = object{"condition": object{"test": boxWide + " < 9", "value": 0}, "value": 1}
		}
		if l.within > 0 {
			e["opacity"] = object{"condition": object{"test": fmt.Sprintf("scale('x', datum.x + %v) - scale('x', datum.x) < %v", l.within, float64(l.widest)), "value": 0}, "value": 1}
		}
		if l.aside {
			mark["clip"] = false
			e["x"] = object{"value": object{"expr": fmt.Sprintf("width + %d", asideGap)}}
		}
		units = append(units, unit(text, mark, e))
	}
	return units
}

// boxWide is the width of the box of a text in pixels.
const boxWide = "scale('x', datum.x + datum.wide) - scale('x', datum.x)"

// data returns some rows of a layer, the places of their texts, and those of lines and points without a place.
func (v view) data(l layer, kept []int) (list, labels *rows, bad *edgeRows) {
	lines, boxes := l.mark == curves || l.mark == stairs, l.mark == rects || l.mark == rules
	own, one := l.ink()
	has := func(is func(row) bool) bool { return slices.ContainsFunc(l.rows, is) }
	colored, faint, told := own != nil && !one, has(func(r row) bool { return r.faint }), has(func(r row) bool { return r.facts != nil })
	names := []string{"x", "y"}
	for _, c := range []struct {
		name string
		is   bool
	}{{"kind", len(v.kinds) > 0}, {"light", colored}, {"dark", colored}, {"faint", faint}} {
		if c.is {
			names = append(names, c.name)
		}
	}
	edge := []string{"low", "x"}
	for _, f := range v.facts {
		if told && !f.placed() {
			names = append(names, f.key)
		}
		if f.key != "x" {
			edge = append(edge, f.key)
		}
	}
	bad, labels = &edgeRows{rows: newRows(edge...)}, newRows(append(names, "text", "wide")...)
	switch {
	case boxes:
		names = append(names, "x2", "y2")
	case lines:
		names = append(names, "index", "alone")
	}
	list = newRows(names...)
	list.text = slices.Grow(list.text, 12*len(names)*len(kept))
	count := map[int]int{} // points of each line
	for _, i := range kept {
		count[l.rows[i].kind]++
	}
	write := func(to *rows, r row, x, y float64) {
		to.number(x)
		to.number(y)
		if r.kind < len(v.kinds) {
			to.string(v.kinds[r.kind].name)
		} else if len(v.kinds) > 0 {
			to.value(nil)
		}
		if colored {
			to.string(css(r.color(Light)))
			to.string(css(r.color(Dark)))
		}
		if faint {
			to.bool(r.faint)
		}
		for k, f := range v.facts {
			if told && !f.placed() {
				to.value(r.fact(k))
			}
		}
	}
	for _, i := range kept {
		r := l.rows[i]
		switch {
		case !finite(r.x) || boxes && !(finite(r.y) && finite(r.x2) && finite(r.y2)):
			continue
		case (lines || l.mark == points) && !finite(r.y):
			bad.add(math.IsInf(r.y, -1), r.x)
			for k, f := range v.facts {
				if f.key != "x" {
					bad.value(r.fact(k))
				}
			}
			if !lines {
				continue
			}
		}
		write(list, r, r.x, r.y)
		at := r
		switch {
		case lines:
			list.whole(i)
			list.bool(count[r.kind] == 1) // a line through it is not visible
		case boxes:
			list.number(r.x2)
			list.number(r.y2)
			if at.x, at.y = r.x2, r.y2; l.mark == rects {
				at.x, at.y = (r.x+r.x2)/2, (r.y+r.y2)/2
			}
		}
		if r.text != "" {
			write(labels, r, at.x, at.y)
			labels.string(printable(r.text))
			labels.number(math.Abs(r.x2 - r.x))
		}
	}
	return list, labels, bad
}

// fact returns the value of a fact, nil if the row has none.
func (r row) fact(k int) any {
	if k < len(r.facts) {
		return r.facts[k]
	}
	return nil
}

// placed reports whether a row's place or kind is the fact.
func (f fact) placed() bool { return f.key == "x" || f.key == "y" || f.key == "kind" }

// shown returns the indices of the rows that the interactive form holds. Lines are thinned one by one.
func (v view) shown(l layer) (kept []int) {
	if l.mark != curves && l.mark != stairs {
		all := 0
		for _, other := range v.layers {
			if other.mark == l.mark {
				all += len(other.rows)
			}
		}
		return l.some(max(len(l.rows)*min(mostPoints, all)/max(all, 1), 50))
	}
	rows := map[int][]int{}
	for i, r := range l.rows {
		rows[r.kind] = append(rows[r.kind], i)
	}
	for k := range len(v.kinds) {
		y := make([]float64, len(rows[k]))
		for i, at := range rows[k] {
			y[i] = l.rows[at].y
		}
		for _, i := range decimate(y, max(mostPoints/len(rows), 8)) {
			kept = append(kept, rows[k][i])
		}
	}
	return kept
}

// symbols returns the legend in the form of the first marks that have kinds, or nil without such marks.
func (v view) symbols() any {
	if !v.legend() {
		return nil
	}
	var listed []string
	for _, k := range v.listed() {
		listed = append(listed, k.name)
	}
	for _, l := range v.layers {
		if ink, _ := l.ink(); ink != nil {
			continue
		}
		switch l.mark {
		case curves, stairs, rules:
			return object{"values": listed, "symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 200}
		case rects:
			return object{"values": listed, "symbolType": "square"}
		}
	}
	return object{"values": listed}
}

// some returns about most indices of rows: the extremes, and others that are evenly spread, but not at equal
// distances, which could agree with a pattern of the rows: multiples of the golden ratio.
func (l layer) some(most int) (kept []int) {
	if len(l.rows) <= most {
		for i := range l.rows {
			kept = append(kept, i)
		}
		return kept
	}
	var xs, ys []float64
	for _, r := range l.rows {
		xs, ys = append(xs, r.x), append(ys, r.y)
	}
	for i := range max(most-4, 0) {
		_, at := math.Modf(float64(i) / math.Phi)
		kept = append(kept, int(at*float64(len(l.rows))))
	}
	for _, list := range [][]float64{xs, ys} {
		at := spanOf(list)
		kept = append(kept, max(slices.Index(list, at.lo), 0), max(slices.Index(list, at.hi), 0))
	}
	kept = append(kept, max(slices.IndexFunc(ys, func(y float64) bool { return !finite(y) }), 0))
	slices.Sort(kept)
	return slices.Compact(kept)
}

// colors returns the encodings of a layer's colours and of its dashes, nil if there are none. All have the
// same legend, so that Vega-Lite makes one of them.
func (v view) colors(l layer) (colors, dashes object) {
	if r, one := l.ink(); r != nil {
		if !one {
			return object{"field": "ink", "type": "nominal", "scale": nil, "legend": nil}, nil
		}
		return object{"value": themed(r)}, nil
	}
	if len(v.kinds) == 0 {
		return object{"value": themed(textInk)}, nil
	}
	var names []string
	var roles []role
	var patterns [][]float64
	dashed := false
	for _, k := range v.kinds {
		names, roles, patterns = append(names, k.name), append(roles, k.color), append(patterns, dashesOf(k.dashes))
		dashed = dashed || k.dashes != nil
	}
	legend := v.symbols()
	if dashed {
		dashes = object{"field": "kind", "type": "nominal", "scale": object{"domain": names, "range": patterns}, "title": nil, "legend": legend}
	}
	return palette("kind", names, roles, "legend", legend), dashes
}

// shapes returns the encoding of the marks of points.
func (v view) shapes() object {
	var names, paths []string
	for _, k := range v.kinds {
		names, paths = append(names, k.name), append(paths, k.path)
	}
	return object{"field": "kind", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil, "legend": v.symbols()}
}
