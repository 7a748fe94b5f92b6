package chart

import (
	"encoding/json"
	"fmt"
	"image/color"
	"slices"
)

// ink returns the colour of a layer's rows if they have their own, and reports whether it is the same for all.
func (l layer) ink() (ink role, one bool) {
	if len(l.rows) == 0 || l.rows[0].color == nil {
		return nil, false
	}
	ink = l.rows[0].color
	return ink, !slices.ContainsFunc(l.rows, func(r row) bool { return r.color(Light) != ink(Light) || r.color(Dark) != ink(Dark) })
}

// channel returns the encoding of a field of positions.
func (s scale) channel(field string, at span, down bool) object {
	limits := []float64{at.lo, at.hi}
	axis := any(object{"tickCount": map[string]int{"x": 8, "y": 5}[field]})
	switch {
	case s.names != nil:
		rows := make([]int, len(s.names))
		for i := range rows {
			rows[i] = i
		}
		list, _ := json.Marshal(printables(s.names)) // strings can be encoded
		axis = object{"labelExpr": string(list) + "[datum.value]", "values": rows, "domain": false, "ticks": false, "grid": false, "labelColor": themed(textInk), "labelPadding": 6}
		limits = []float64{at.hi, at.lo} // from the top
	case s.bare && s.notes != nil:
		axis = object{"labels": false, "ticks": false, "domain": false, "titleAnchor": "start", "titleAlign": "left", "titleFontSize": smallSize, "titlePadding": 8}
	case s.bare:
		axis = nil
		if down {
			limits = []float64{at.hi, at.lo}
		}
	case s.marked != nil:
		at, labels := []float64{}, []string{}
		for _, t := range s.marked {
			at, labels = append(at, t.Value), append(labels, t.Label)
		}
		values, _ := json.Marshal(at) // finite numbers and strings can be encoded
		list, _ := json.Marshal(printables(labels))
		axis = object{"values": at, "labelExpr": fmt.Sprintf("%s[indexof(%s, datum.value)]", list, values)}
	case s.base > 0:
		axis = object{"tickMinStep": 1, "tickCount": 8, "labelExpr": "datum.value == floor(datum.value) ? " + powerLabels(s.base) + " : ''"}
	case s.whole:
		axis = object{"tickMinStep": 1, "tickCount": map[string]int{"x": 8, "y": 5}[field], "labelExpr": "datum.value == floor(datum.value) ? format(datum.value, ',') : ''"}
	}
	if s.plain {
		axis = with(axis.(object), "domain", false, "ticks", false, "titleAnchor", "start")
	}
	var title any
	if s.title != "" {
		title = s.title
	} else if s.notes != nil {
		title = s.notes
	}
	return object{"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": object{"domain": limits, "nice": false, "zero": false}}
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
			return object{"values": listed, "symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 120}
		case rects:
			return object{"values": listed, "symbolType": "square"}
		}
	}
	return object{"values": listed, "symbolSize": 60}
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
		if o, _ := legend.(object); o["symbolType"] != "stroke" { // dashes would fray the outlines of the symbols
			dashes["legend"] = nil
		}
	}
	return palette("kind", names, roles, "legend", legend), dashes
}

// fills returns the encoding of the insides of rectangles, in which some kinds are light.
func (v view) fills() object {
	var names []string
	var roles []role
	for _, k := range v.kinds {
		r := k.color
		if k.faint {
			r = func(t Theme) color.NRGBA { return faded(k.color(t)) }
		}
		names, roles = append(names, k.name), append(roles, r)
	}
	return palette("kind", names, roles, "legend", v.symbols())
}

// faint returns the expression for the rows of light kinds, "" if there are none.
func (v view) faint() string {
	list := v.namesOf(func(k kind) bool { return k.faint })
	if list == "" {
		return ""
	}
	return fmt.Sprintf("indexof(%s, datum.kind) >= 0", list)
}

// shapes returns the encoding of the marks of points.
func (v view) shapes() object {
	var names, paths []string
	for _, k := range v.kinds {
		names, paths = append(names, k.name), append(paths, k.path)
	}
	return object{"field": "kind", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil, "legend": v.symbols()}
}

// explain returns a layer without marks whose legend explains signs. Its scales are its own.
func explain(signs []kind) object {
	var names, paths []string
	var fills, lines []role
	for _, k := range signs {
		fill, line := k.color, k.line
		if line == nil {
			line = fill
		}
		switch {
		case k.faint:
			fill = func(t Theme) color.NRGBA { return faded(k.color(t)) }
		case k.path == hollowPath:
			fill = func(Theme) color.NRGBA { return color.NRGBA{} }
		}
		names, paths, fills, lines = append(names, printable(k.name)), append(paths, k.path), append(fills, fill), append(lines, line)
	}
	sign := object{"field": "sign", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil}
	return object{"data": object{"values": []object{}}, "layer": []object{{
		"mark":     "point",
		"encoding": object{"shape": sign, "fill": palette("sign", names, fills), "stroke": palette("sign", names, lines)},
	}}, "resolve": object{"scale": object{"shape": "independent", "fill": "independent", "stroke": "independent"}}}
}
