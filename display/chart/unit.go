package chart

import (
	"fmt"
	"slices"
	"strings"
)

// spec returns the interactive form of the view, with about most points.
func (v view) spec(most int) spec {
	t := spec{names: v.y.names, least: v.least, height: v.height, titled: v.y.title != "", axis: v.x.title, left: v.left, right: v.right}
	if v.y.bare {
		t.names = []string{}
	}
	x, y := v.limits()
	t.left = max(t.left, v.y.room(y))
	axes := object{"x": v.x.channel("x", x), "y": v.y.channel("y", y)}
	across := reach{lo: x.lo, hi: x.hi}
	if v.rigid { // cells keep their size on a wider page
		left, right := t.margins()
		across.room, across.core = Width-2*margin-int(left+right), v.core
		axes["x"].(object)["scale"].(object)["domain"] = []any{x.lo, object{"expr": fmt.Sprintf("%v + %s", x.lo, across.extent())}}
	}
	if slices.Contains(v.zoom, "x") {
		t.reach = &across
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
	var opacity object
	if v.legend() {
		param, shown := filter("kind")
		params, opacity = append(params, param), shown
		for _, k := range v.listed() {
			t.choices = append(t.choices, k.name)
		}
	}
	shown, all := 0, v.points
	for _, l := range v.layers {
		kept, counted := v.kept(l, most), l.mark.traits(l).counted
		if counted {
			shown += len(kept)
			if v.points == 0 {
				all += len(l.rows)
			}
		}
		for _, unit := range l.mark.spec(v.unit(l, kept, axes, opacity)) {
			if params != nil && (v.linked == nil || counted) {
				first := unit
				if inner, _ := unit["layer"].([]object); len(inner) > 0 {
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
	if t.subtitle = v.subtitle; t.subtitle == "" {
		t.subtitle = fewer(shown, all)
	}
	return t
}

// unit is a layer in a specification: what a mark writes its rows with. The order of its use is a table and its rows, with labels
// and edges; then the layers that show them.
type unit struct {
	view
	layer
	kept []int // indices of the rows to write

	colors  object // encoding of the colours
	dashes  object // encoding of the dashes; nil for none
	axes    object // encodings of both positions
	opacity object // encoding of the opacity, if the legend filters; otherwise nil
	tooltip any    // what is shown next to the pointer

	columns []string // columns of every table
	colored bool     // whether the rows' own colours are columns
	pale    bool     // whether some rows are faint, which is a column
	told    bool     // whether the facts that are not a row's place are columns
	labels  *rows
	outside *edgeRows
}

func (v view) unit(l layer, kept []int, axes, opacity object) *unit {
	u := &unit{view: v, layer: l, kept: kept, axes: axes, opacity: opacity, columns: []string{"x", "y"}}
	if l.note {
		u.opacity = nil
	}
	quiet := l.note || l.mute
	u.colors, u.dashes = v.colors(l)
	own, one := l.ownInk()
	u.colored = own != nil && !one
	u.pale = slices.ContainsFunc(l.rows, func(r row) bool { return r.faint })
	u.told = slices.ContainsFunc(l.rows, func(r row) bool { return r.facts != nil })
	for _, c := range []struct {
		name string
		is   bool
	}{{"kind", len(v.kinds) > 0}, {"light", u.colored}, {"dark", u.colored}, {"faint", u.pale}} {
		if c.is {
			u.columns = append(u.columns, c.name)
		}
	}
	edge := []string{"low", "x"}
	var tips []object
	for _, f := range v.facts {
		tip := object{"field": f.key, "title": f.title}
		if format := v.formats[f.key]; format != "" {
			tip["format"], tip["type"] = format, "quantitative"
		}
		tips = append(tips, tip)
		if u.told && !f.placed() {
			u.columns = append(u.columns, f.key)
		}
		if f.key != "x" {
			edge = append(edge, f.key)
		}
	}
	switch {
	case quiet:
	case l.lacks():
		u.tooltip = withoutEmpty(tips)
	default:
		u.tooltip = tips
	}
	u.labels, u.outside = newRows(append(slices.Clip(u.columns), "text", "wide")...), &edgeRows{rows: newRows(edge...)}
	return u
}

// lacks reports whether some rows have a fact that others do not have.
func (l layer) lacks() bool {
	return slices.ContainsFunc(l.rows, func(r row) bool {
		return slices.ContainsFunc(r.facts, func(f any) bool { return f == nil || f == "" })
	})
}

// withoutEmpty returns the encoding of fields that leaves out those that a row does not have. A list of fields would show empty ones.
func withoutEmpty(fields []object) object {
	const datum = "(datum.datum || datum)" // where the nearest mark is shown, its row is the datum of an area around it
	var some, parts []string
	for _, f := range fields {
		value := fmt.Sprintf("%s[%s]", datum, jsonText(f["field"]))
		text := "'' + " + value
		if format, ok := f["format"]; ok {
			text = fmt.Sprintf("format(%s, %s)", value, jsonText(format))
		}
		given := fmt.Sprintf("(isValid(%s) && %[1]s !== '')", value)
		some, parts = append(some, given), append(parts, fmt.Sprintf("%s ? {%s: %s} : {}", given, jsonText(f["title"]), text))
	}
	return object{"value": object{"expr": strings.Join(some, " || ") + " ? merge(" + strings.Join(parts, ", ") + ") : null"}}
}

// table returns a table for the rows of the layer: the columns of every table, and more.
func (u *unit) table(more ...string) *rows {
	list := newRows(append(slices.Clip(u.columns), more...)...)
	list.text = slices.Grow(list.text, 12*len(list.columns)*len(u.kept))
	return list
}

// row writes the columns of every table for a row at a place.
func (u *unit) row(to *rows, r row, x, y float64) {
	to.number(u.x.rounded(x))
	to.number(u.y.rounded(y))
	if r.kind < len(u.kinds) {
		to.string(u.kinds[r.kind].name)
	} else if len(u.kinds) > 0 {
		to.value(nil)
	}
	if u.colored {
		to.color(r.color(Light))
		to.color(r.color(Dark))
	}
	if u.pale {
		to.bool(r.faint)
	}
	for k, f := range u.facts {
		if u.told && !f.placed() {
			to.value(r.fact(k))
		}
	}
}

// label adds the text of a row, if it has one, at a place. wide is the width that it has there on the x axis, for layers in which
// that is limited.
func (u *unit) label(r row, x, y, wide float64) {
	if r.text != "" {
		u.row(u.labels, r, x, y)
		u.labels.string(printable(r.text))
		u.labels.number(wide)
	}
}

// edge adds a row without a y, which is marked at the edge of the plot.
func (u *unit) edge(r row) {
	u.outside.add(r.below(), r.x)
	for k, f := range u.facts {
		if f.key != "x" {
			u.outside.value(r.fact(k))
		}
	}
}

// encoding returns the encoding of places, facts and opacity, with further members in pairs.
func (u *unit) encoding(more ...any) object {
	e := object{"x": u.axes["x"], "y": u.axes["y"], "tooltip": u.tooltip}
	if u.opacity != nil {
		e["opacity"] = u.opacity
	}
	return with(e, more...)
}

// line returns the encoding of a line: with its dashes.
func (u *unit) line(more ...any) object {
	e := u.encoding(more...)
	if u.dashes != nil {
		e["strokeDash"] = u.dashes
	}
	return e
}

// marks returns a layer of a specification with the marks for the rows of a table.
func (u *unit) marks(list *rows, mark, encoding object) object {
	layer := object{"data": list.data(), "mark": mark, "encoding": encoding}
	if u.colored {
		layer["transform"] = []object{{"calculate": "dark ? datum.dark : datum.light", "as": "ink"}}
		if len(u.kinds) > 0 { // its colours are not those of the legend
			own := object{"color": "independent", "fill": "independent", "stroke": "independent"}
			return object{"layer": []object{layer}, "resolve": object{"scale": own, "legend": own}}
		}
	}
	return layer
}

// texts returns the layer of the labels. It is empty if the chart has none.
func (u *unit) texts(mark, ink object, more ...any) []object {
	if u.labels.n == 0 {
		return nil
	}
	size := labelSize
	if u.small {
		size = smallSize
	}
	e := with(u.encoding("text", object{"field": "text", "type": "nominal"}, "color", ink), more...)
	return []object{u.marks(u.labels, with(mark, "type", "text", "fontSize", size), e)}
}

// edges returns the layer of the rows at the edges of the plot, none if there are none.
func (u *unit) edges() []object {
	if u.outside.n == 0 {
		return nil
	}
	return []object{u.outside.marks(u.axes["x"], u.below(), u.tooltip)}
}
