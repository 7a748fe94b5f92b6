package chart

import (
	hex16 "encoding/hex"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
)

// vegaLite is the MIME type of interactive figures. JupyterLab and VS Code draw it without an
// extension, in untrusted notebooks too.
const vegaLite = "application/vnd.vegalite.v5+json"

// object is a part of a Vega-Lite 5.6 specification, the newest version that JupyterLab 4 draws.
type object = map[string]any

// spec is the interactive form of a figure: the parts of its specification that depend on the
// kind of chart.
type spec struct {
	names    []string // labels of the rows of a chart of bars; they take room to the left
	titled   bool     // the y axis has a title, which stands above the plot
	least    int      // width in CSS pixels below which the chart cannot be read, and is scrolled
	height   int      // height of the plot in CSS pixels; 0: 200
	subtitle string   // how many points were dropped; may be empty
	layers   []object
	choices  []string // names in the legend, if it filters
	signs    []kind   // further entries of the legend
	reach    *reach   // the x axis, if it zooms
	tall     *reach   // the y axis, if it zooms
	axis     string   // name of the x axis, for figures that share it

	left, right vg.Length // room for labels on both sides of the plot

	// Of a grid: its panels, the parameters that they share, and the room for labels.
	panels, shared []object
	aside          int
}

// phoneWidth is the width in CSS pixels of lines that fit the page of a phone.
const phoneWidth = 280

// mostPoints is the maximum number of data points in an interactive figure.
const mostPoints = 5000

// Interactive returns the figure in its interactive form, which JupyterLab and VS Code draw
// without an extension, also before a notebook is trusted: exact values under the pointer, zoom by
// the wheel, a legend that filters, and colours that follow the front end's theme. Other front
// ends draw the picture. A figure without data stays as it is.
func (f *Figure) Interactive() *Figure { return f.inForm("interactive", true) }

// Picture returns the figure as a still picture, also where %charts asks for interactive ones.
func (f *Figure) Picture() *Figure { return f.inForm("picture", true) }

// InForm implements display.Formed.
func (f *Figure) InForm(name string) any {
	if f.formChosen {
		return f
	}
	return f.inForm(name, false)
}

func (f *Figure) inForm(name string, chosen bool) *Figure {
	g := *f
	g.interactive, g.formChosen = name == "interactive", chosen
	return &g
}

// VegaLite returns the interactive form as a Vega-Lite 5.6 specification: the same marks, colours
// and sentence as the picture. It follows the front end's theme unless With or %theme has set one.
// It holds at most about 5000 points; its subtitle states how many were dropped. VegaLite returns
// nil for a figure without data or without such a form.
func (f *Figure) VegaLite() map[string]any {
	if f.body == nil {
		return nil
	}
	t := f.dressed().spec(mostPoints)
	dark := object{"name": "dark", "expr": "luminance(background) < 0.5"}
	title := object{"text": wrapped(f.theme.style(titleSize, f.theme.Text), f.titleText()), "anchor": "start", "frame": "bounds", "fontSize": titleSize, "fontWeight": "normal", "offset": 12, "color": themed(textInk)}
	if t.subtitle != "" {
		title["subtitle"], title["subtitleColor"] = wrap(f.theme.style(titleSize, f.theme.Text), t.subtitle, phoneWidth), themed(neutral)
	}
	s := object{
		"$schema":     "https://vega.github.io/schema/vega-lite/v5.json",
		"description": f.Alt(),
		"title":       title,
		"width":       narrowest, // until the signal of that name is known
		"height":      200,
		"padding":     margin,
		"autosize":    object{"type": "fit-x", "contains": "padding"},
		"data":        object{"values": []object{}}, // layers have their own
		"layer":       t.layers,
		"config": object{
			"font": "DejaVu Sans, Verdana, sans-serif",
			"axis": object{
				"grid": false, "domainColor": themed(neutral), "tickColor": themed(neutral), "gridColor": themed(gridInk),
				"labelColor": themed(neutral), "titleColor": themed(neutral), "labelFontSize": labelSize, "titleFontSize": labelSize, "titleFontWeight": "normal", "labelLimit": object{"expr": fmt.Sprintf("min(%d, room * .35)", labelMost+20)},
			},
			"axisX":             object{"labelSeparation": 5},
			"axisYQuantitative": object{"grid": true, "domain": false, "ticks": false, "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleX": 0, "titleY": -10},
			"legend":            object{"orient": "top", "direction": "horizontal", "labelColor": themed(neutral), "titleColor": themed(neutral), "labelFontSize": labelSize, "titleFontSize": labelSize, "titleFontWeight": "normal", "symbolStrokeWidth": 1.5, "symbolSize": 60, "offset": t.legendOffset(), "labelLimit": object{"expr": fmt.Sprintf("min(%d, room * .3)", labelMost)}, "columns": object{"expr": "room < 420 ? 2 : 0"}, "layout": object{"expr": fmt.Sprintf("{direction: room < %d ? 'vertical' : 'horizontal', anchor: 'start', margin: room < %[1]d ? 2 : 8, bounds: 'flush'}", max(420, t.legendWidth()))}, "symbolOpacity": 1},
			"view":              object{"stroke": nil},
			"text":              object{"fontSize": labelSize, "color": themed(textInk)},
		},
	}
	if f.titleText() == "" {
		delete(s, "title")
	}
	if t.panels != nil {
		for _, part := range []string{"width", "height", "autosize", "data", "layer"} {
			delete(s, part)
		}
		s["vconcat"], s["spacing"], s["resolve"] = t.panels, gridGap, ownScales
	}
	if t.height > 0 {
		s["height"] = t.height
	}
	if f.chosen || f.pinned {
		dark = object{"name": "dark", "value": f.theme == Dark}
		s["background"] = css(f.theme.Background)
	}
	s["params"] = slices.Concat([]object{dark}, t.room(), t.controls(), t.shared)
	return s
}

// legendOffset returns the distance of the legend from the plot; the title of a y axis stands
// between them.
func (t spec) legendOffset() int {
	if t.names != nil && !t.titled {
		return 6
	}
	return 22
}

// legendWidth returns the width of the page from which on the two parts of the legend have room next to each other.
func (t spec) legendWidth() int {
	if len(t.choices) == 0 || len(t.signs) == 0 {
		return 0
	}
	s, width := Light.style(labelSize, Light.Text), vg.Length(0)
	for _, name := range t.choices {
		width += min(s.Width(name), labelMost) + 30
	}
	for _, k := range t.signs {
		width += min(s.Width(k.name), labelMost) + 30
	}
	left, _ := t.margins()
	return int(width + left)
}

// themed returns a colour that depends on the variable "dark".
func themed(r role) object {
	return object{"expr": fmt.Sprintf("dark ? '%s' : '%s'", css(r(Dark)), css(r(Light)))}
}

func css(c color.NRGBA) string {
	if c.A == 0 {
		return "transparent"
	}
	if c.A == 255 {
		return "#" + hex16.EncodeToString([]byte{c.R, c.G, c.B})
	}
	return fmt.Sprintf("rgba(%d,%d,%d,%.3g)", c.R, c.G, c.B, float64(c.A)/255)
}

// jsonNumber returns v for a field of the data, or nil, which Vega-Lite leaves out, if JSON has no
// such number.
func jsonNumber(v float64) any {
	if !finite(v) {
		return nil
	}
	return v
}

// with returns o with further members, in pairs.
func with(o object, more ...any) object {
	for i := 0; i < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

// palette returns the encoding of a field's colour: names[i] has the colour of roles[i].
func palette(field string, names []string, roles []role, more ...any) object {
	inks := make([]object, len(roles))
	for i, r := range roles {
		inks[i] = themed(r)
	}
	return with(object{"field": field, "type": "nominal", "scale": object{"domain": names, "range": inks}, "title": nil}, more...)
}

// filter returns the selection of names in the legend of a field, and the condition under which
// a mark has its full opacity.
func filter(field string) (param, opacity object) {
	param = object{"name": "shown", "select": object{"type": "point", "fields": []string{field}}, "bind": "legend"}
	test := object{"and": []any{object{"param": "shown"}, fmt.Sprintf("indexof(lower(datum[%q]), lower(only)) >= 0", field)}}
	return param, object{"condition": object{"test": test, "value": 1}, "value": .08}
}

// unzoomed are the events that show the whole of an axis.
var unzoomed = object{"merge": []object{{"type": "dblclick"}, {"source": "window", "type": "keydown", "filter": "event.key === 'Escape'"}}}

// zoom is the parameter that zooms by the wheel and moves by dragging, along some axes. A double
// click or the Escape key returns to the whole.
func zoom(axes ...string) object {
	return object{"name": "zoom", "select": object{"type": "interval", "encodings": axes, "clear": unzoomed}, "bind": "scales"}
}

// pointed is the parameter that holds the data nearest to the pointer.
func pointed(axes ...string) object {
	return object{"name": "pointed", "select": object{"type": "point", "on": "mouseover", "clear": "mouseout", "nearest": true, "encodings": axes}}
}

func printables(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = printable(n)
	}
	return out
}
