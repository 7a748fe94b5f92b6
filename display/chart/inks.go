package chart

import (
	"encoding/json"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
)

// role selects a colour of a theme.
type role = func(Theme) color.NRGBA

func textInk(t Theme) color.NRGBA       { return t.Text }
func backgroundInk(t Theme) color.NRGBA { return t.Background }
func skipInk(t Theme) color.NRGBA       { return t.Skip }

// gridInk is lighter than the picture's grid in the dark, as Vega's dark background is.
func gridInk(t Theme) color.NRGBA {
	if t == Dark {
		return hex(0x555555)
	}
	return t.Grid
}

// ink returns the colour of a row.
func (v view) ink(r row) role {
	switch {
	case r.color != nil:
		return r.color
	case r.kind < len(v.kinds):
		return v.kinds[r.kind].color
	}
	return textInk
}

// below returns the colour of ▼.
func (v view) below() role {
	if v.lowest.color != nil {
		return v.lowest.color
	}
	return skipInk
}

// ownInk returns the colour of a layer's rows if they have their own, and reports whether it is the same for all.
func (l layer) ownInk() (ink role, one bool) {
	if len(l.rows) == 0 || l.rows[0].color == nil {
		return nil, false
	}
	ink = l.rows[0].color
	return ink, !slices.ContainsFunc(l.rows, func(r row) bool { return r.color(Light) != ink(Light) || r.color(Dark) != ink(Dark) })
}

// colors returns the encodings of a layer's colours and of its dashes, nil if there are none. All have the
// same legend, so that Vega-Lite makes one of them.
func (v view) colors(l layer) (colors, dashes object) {
	if r, one := l.ownInk(); r != nil {
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

// dashesOf returns the dash pattern of a line in pixels.
func dashesOf(d []vg.Length) []float64 {
	list := []float64{1, 0}
	if len(d) > 0 {
		list = nil
		for _, l := range d {
			list = append(list, float64(l))
		}
	}
	return list
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

// shapes returns the encoding of the symbols of points.
func (v view) shapes() object {
	if len(v.kinds) == 0 {
		return object{"value": dot.path}
	}
	var names, paths []string
	for _, k := range v.kinds {
		path := ""
		if k.symbol != nil {
			path = k.symbol.path
		}
		names, paths = append(names, k.name), append(paths, path)
	}
	return object{"field": "kind", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil, "legend": v.symbols()}
}
