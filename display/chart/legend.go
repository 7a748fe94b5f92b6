package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend reports whether the view has a legend.
func (v view) legend() bool { n := len(v.listed()); return n > 1 || n == 1 && len(v.kinds) > 1 }

// listed returns the kinds in the legend.
func (v view) listed() (list []kind) {
	for _, k := range v.kinds {
		if !k.quiet {
			list = append(list, k)
		}
	}
	return list
}

// legendSigns returns the entries of the legend that are not kinds: the signs, and the marks at the edges.
func (v view) legendSigns() []kind {
	list := slices.Clone(v.signs)
	high, low := false, false
	for _, l := range v.layers {
		if l.mark.traits(l).edges {
			for _, r := range l.rows {
				low = low || math.IsInf(r.y, -1)
				high = high || !finite(r.y) && !math.IsInf(r.y, -1)
			}
		}
	}
	if high {
		list = append(list, kind{name: words.notFinite, symbol: up, color: skipInk})
	}
	switch {
	case low && v.lowest.name != "":
		list = append(list, kind{name: v.lowest.name, symbol: down, color: v.below()})
	case low && !high:
		list = append(list, kind{name: words.notFinite, symbol: down, color: skipInk})
	}
	return list
}

// header reports whether a line with the name of the y axis and the legend stands above the plot.
func (v view) header() bool {
	return v.y.title != "" || v.legendAbove() || len(v.legendSigns()) > 0
}

// legendAbove reports whether a picture has the kinds in a legend above the plot.
func (v view) legendAbove() bool { return v.legend() && !v.named && legendCorners[v.corner] == "" }

// entries returns the legend of a picture, above the plot.
func (v view) entries() (list []entry) {
	if v.legendAbove() {
		for _, k := range v.listed() {
			list = append(list, entry{v.swatch(k), k})
		}
	}
	for _, k := range v.legendSigns() {
		list = append(list, entry{k.symbol, k})
	}
	return list
}

// swatch returns the symbol of a kind in the legend of a picture: that of the first layer with its rows.
func (v view) swatch(k kind) *symbol {
	if k.faint {
		return faintSquare
	}
	if k.symbol != nil && slices.ContainsFunc(v.layers, func(l layer) bool { return l.mark.traits(l).symbols }) {
		return k.symbol
	}
	for _, l := range v.layers {
		if l.mute || l.note {
			continue
		}
		for _, r := range l.rows {
			if r.color == nil && r.kind < len(v.kinds) && v.kinds[r.kind].name == k.name {
				if l.mark.traits(l).legend == squareSwatch {
					return square
				}
				return dashed(k.dashes)
			}
		}
	}
	return square
}

// symbols returns the legend of a specification in the form of the first marks that have kinds, or nil without such marks.
func (v view) symbols() any {
	legend := v.entriesInForm()
	if o, ok := legend.(object); ok && legendCorners[v.corner] != "" {
		with(o, "orient", legendCorners[v.corner], "direction", "vertical", "offset", 6, "fillColor", themed(backgroundInk), "padding", 4, "columns", 1)
	}
	return legend
}

// entriesInForm returns the same before its place is known.
func (v view) entriesInForm() any {
	if !v.legend() || v.corner == nowhere {
		return nil
	}
	var listed []string
	for _, k := range v.listed() {
		listed = append(listed, k.name)
	}
	for _, l := range v.layers {
		if ink, _ := l.ownInk(); ink != nil || l.mute || l.note {
			continue
		}
		switch l.mark.traits(l).legend {
		case lineSwatch:
			return object{"values": listed, "symbolType": "stroke", "symbolStrokeWidth": 2, "symbolSize": 120}
		case squareSwatch:
			return object{"values": listed, "symbolType": "square"}
		}
	}
	return object{"values": listed, "symbolSize": 60}
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
		case k.symbol.lines:
			fill = func(Theme) color.NRGBA { return color.NRGBA{} }
		}
		names, paths, fills, lines = append(names, printable(k.name)), append(paths, k.symbol.path), append(fills, fill), append(lines, line)
	}
	sign := object{"field": "sign", "type": "nominal", "scale": object{"domain": names, "range": paths}, "title": nil}
	return object{"data": object{"values": []object{}}, "layer": []object{{
		"mark":     "point",
		"encoding": object{"shape": sign, "fill": palette("sign", names, fills), "stroke": palette("sign", names, lines)},
	}}, "resolve": object{"scale": object{"shape": "independent", "fill": "independent", "stroke": "independent"}}}
}

// entry is an entry of the legend of a picture.
type entry struct {
	*symbol
	kind
}

// keyHeight is the height of the legend line at the top of a canvas.
const keyHeight = 20

// keys writes a legend line at the top of c, after the label of the y axis, and returns the
// canvas below it.
func keys(t Theme, c draw.Canvas, axis string, entries []entry) draw.Canvas {
	s := t.style(labelSize, t.Neutral)
	at := vg.Point{X: c.Min.X, Y: c.Max.Y - keyHeight/2 + 3}
	if axis = fit(s, axis, min(250, c.Max.X-c.Min.X)); axis != "" {
		write(&c, s, at, axis)
		at.X += s.Width(axis) + 18
	}
	for _, e := range entries {
		if at.X+24 > c.Max.X {
			break
		}
		e.draw(&c, vg.Point{X: at.X + 4, Y: at.Y}, 4, e.color(t))
		text := fit(s, e.name, max(c.Max.X-at.X-13, 0))
		write(&c, s, vg.Point{X: at.X + 13, Y: at.Y}, text)
		at.X += 13 + s.Width(text) + 16
	}
	return draw.Crop(c, 0, 0, 0, -keyHeight)
}
