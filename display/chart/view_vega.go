package chart

import (
	"encoding/json"
	"fmt"
	"slices"
)

// spec returns the interactive form of the view.
func (v view) spec(most int) spec {
	t := spec{names: v.y.names, least: v.least, height: v.height, titled: v.y.title != "", axis: v.x.title, left: v.left, right: v.right}
	if v.y.bare {
		t.names = []string{}
	}
	x, y := v.limits()
	style := Light.style(labelSize, Light.Text)
	for _, k := range v.y.ticks(5).Ticks(y.lo, y.hi) {
		if v.y.names == nil && !v.y.bare {
			t.left = max(t.left, style.Width(k.Label)+16)
		}
	}
	widest := v.y.widest
	if widest == 0 {
		for _, name := range v.y.names {
			widest = max(widest, style.Width(name))
		}
	}
	if widest > 0 {
		t.left = max(t.left, min(widest, labelMost)+10)
	}
	axes := object{"x": v.x.channel("x", x, false), "y": v.y.channel("y", y, v.y.bare)}
	if slices.Contains(v.zoom, "x") {
		t.reach = &reach{lo: x.lo, hi: x.hi}
		axes["x"].(object)["scale"].(object)["domain"] = t.reach.domain()
	}
	if v.x.notes != nil {
		left, _ := t.margins()
		axes["x"].(object)["axis"].(object)["titleX"] = object{"expr": fmt.Sprintf("-min(%d, room * .35)", int(left))}
	}
	if slices.Contains(v.zoom, "y") {
		t.tall = &reach{lo: y.lo, hi: y.hi, name: "Y"}
		axes["y"].(object)["scale"].(object)["domain"] = t.tall.domain()
	}
	var params []object
	switch {
	case v.linked != nil:
		params = append(params, zoomAndPick()...)
	case len(v.zoom) > 0:
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
		kept := v.shown(l, most)
		merged := l.mark == rects && v.points > 0 && len(l.rows) > 0 && l.rows[0].facts != nil
		if l.mark == curves || l.mark == stairs || l.mark == points || merged {
			shown += len(kept)
			if v.points == 0 {
				all += len(l.rows)
			}
		}
		for _, unit := range v.units(l, kept, axes, filtered) {
			if params != nil && (v.linked == nil || l.mark == curves) {
				first := unit
				if inner := listOf(unit["layer"]); len(inner) > 0 {
					first = inner[0]
				}
				first["params"], params = params, nil
			}
			t.layers = append(t.layers, unit)
		}
	}
	if t.signs = v.legendSigns(); len(t.signs) > 0 {
		t.layers = append(t.layers, explain(t.signs))
	}
	t.subtitle = fewer(shown, all)
	return t
}

func listOf(v any) []object {
	list, _ := v.([]object)
	return list
}

// units returns the layers in the specification for some rows of a layer.
func (v view) units(l layer, kept []int, axes, filtered object) []object {
	data, text, bad := v.data(l, kept)
	colors, dashes := v.colors(l)
	var tooltip []object
	for _, f := range v.facts {
		tip := object{"field": f.key, "title": f.title}
		if format := v.formats[f.key]; format != "" {
			tip["format"], tip["type"] = format, "quantitative"
		}
		tooltip = append(tooltip, tip)
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
			if len(v.kinds) > 0 { // its colours are not those of the legend
				own := object{"color": "independent", "fill": "independent", "stroke": "independent"}
				return object{"layer": []object{u}, "resolve": object{"scale": own, "legend": own}}
			}
		}
		return u
	}
	faint := object{"condition": object{"test": "datum.faint", "value": faintAlpha / 255.}, "value": 1}
	light := "datum.faint" // rectangles within a line
	if kinds := v.faint(); kinds != "" {
		light = kinds
	}
	edge := object{"condition": []object{{"test": light, "value": .75}, {"test": "abs(scale('x', datum.x2) - scale('x', datum.x)) < .75", "value": .75}}, "value": 0} // narrow ones are seen
	if l.image != nil {
		edge = object{"value": .75} // cells without seams
	}
	var units []object
	switch l.mark {
	case rects:
		fills := colors
		if v.faint() != "" && colors["scale"] != nil {
			fills = v.fills()
		}
		units = append(units, unit(data, object{"type": "rect", "clip": true},
			encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "fill", fills, "stroke", colors, "fillOpacity", faint, "strokeWidth", edge)))
	case rules:
		e := line(encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "color", colors))
		if l.across {
			e["x"], e["x2"] = object{"value": 0}, object{"value": object{"expr": "width"}}
		}
		units = append(units, unit(data, object{"type": "rule", "clip": true, "strokeWidth": float64(orWidth(l.width, 1.5))}, e))
	case curves, stairs:
		path := line(encoding("color", colors))
		if !l.ascends() {
			path["order"] = object{"field": "index", "type": "quantitative"}
		}
		delete(path, "tooltip")
		var parts []object
		for _, part := range v.lines(l) {
			parts = append(parts, with(part, "encoding", path))
		}
		if v.linked != nil {
			parts = append(parts, v.values(encoding, colors)...)
		} else {
			parts = append(parts, object{
				"params": []object{pointed("x", "y")}, "transform": []object{{"filter": "isValid(datum.y)"}}, "mark": object{"type": "point", "filled": true, "size": 60, "clip": true},
				"encoding": encoding("color", colors, "opacity", object{"condition": []object{{"param": "pointed", "empty": false, "value": 1}, {"test": "datum.alone", "value": 1}}, "value": 0}),
			})
		}
		units = append(units, object{"data": data.data(), "layer": parts})
	case points:
		size := float64(orWidth(l.width, 3.2))
		// Marks are not clipped: those at an edge would be cut in half.
		inside := "inrange(datum.x, domain('x'))"
		if slices.Contains(v.zoom, "y") {
			inside += " && inrange(datum.y, domain('y'))"
		}
		mark, e := object{"type": "point", "clip": false, "opacity": 1, "strokeWidth": 1.2}, encoding("fill", colors, "stroke", colors)
		seen := object{"test": inside, "value": 4 * size * size}
		if l.shape == nil {
			e["shape"] = v.shapes()
		} else {
			mark["shape"], mark["strokeWidth"] = l.path, 0
			if l.path == crossPath || l.path == hollowPath {
				mark["strokeWidth"] = 1.8
			}
			if l.path == hollowPath {
				delete(e, "fill")
			}
		}
		if l.sized() {
			seen = object{"test": inside, "field": "size", "type": "quantitative", "scale": nil, "legend": nil}
		}
		e["size"] = object{"condition": seen, "value": 0}
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
			if l.top {
				mark["baseline"], mark["dy"] = "top", 4
				break
			}
			ink = object{"condition": object{"test": "datum.faint", "value": themed(textInk)}, "value": themed(backgroundInk)}
		case l.inside:
			mark["align"], mark["dx"], mark["clip"] = "center", 0, true
			ink = object{"value": themed(backgroundInk)}
		case l.mark == points:
			mark["dx"] = 9
		case l.mark == texts:
			mark["align"], mark["dx"] = [...]string{"right", "center", "left"}[l.align+1], float64(l.gap)*float64(l.align)
			ink = colors
		}
		e := encoding("text", object{"field": "text", "type": "nominal"}, "color", ink)
		if l.mark == rects { // boxes too narrow for a character
			e["opacity"] = object{"condition": object{"test": boxWide + " < 9", "value": 0}, "value": 1}
		}
		if l.mark == texts && l.widest > 0 {
			e["opacity"] = object{"condition": object{"test": fmt.Sprintf("datum.wide > 0 && %s < %v", boxWide, float64(l.widest)), "value": 0}, "value": 1}
		}
		switch l.side {
		case rightOf:
			mark["clip"], e["x"] = false, object{"value": object{"expr": fmt.Sprintf("width + %d", asideGap)}}
		case leftOf:
			mark["clip"], e["x"] = false, object{"value": -asideGap}
		case leftEdge:
			mark["clip"], e["x"] = false, object{"value": 0}
		}
		units = append(units, unit(text, mark, e))
	}
	return units
}

// lines returns the marks of lines: those of the kinds whose lines are constant up to the next row are another mark.
func (v view) lines(l layer) []object {
	mark := func(step bool) object {
		m := object{"type": "line", "clip": true, "strokeJoin": "round", "strokeWidth": float64(orWidth(l.width, 1.8))}
		if step {
			m["interpolate"] = "step-after"
		}
		return object{"mark": m}
	}
	steps := v.namesOf(func(k kind) bool { return k.stairs })
	if steps == "" {
		return []object{mark(l.mark == stairs)}
	}
	in := "indexof(" + steps + ", datum.kind)"
	return []object{with(mark(false), "transform", []object{{"filter": in + " < 0"}}), with(mark(true), "transform", []object{{"filter": in + " >= 0"}})}
}

// namesOf returns the names of some kinds as a list in an expression, "" for none.
func (v view) namesOf(which func(kind) bool) string {
	var names []string
	for _, k := range v.kinds {
		if which(k) {
			names = append(names, k.name)
		}
	}
	if names == nil {
		return ""
	}
	list, _ := json.Marshal(names) // strings can be encoded
	return string(list)
}

// boxWide is the width of the box of a text in pixels.
const boxWide = "scale('x', datum.x + datum.wide) - scale('x', datum.x)"
