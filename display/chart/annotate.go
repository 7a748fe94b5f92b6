package chart

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// note is a remark on a plot.
type note struct {
	kind         noteKind
	x, y, x2, y2 float64
	text         string
}

type noteKind int

const (
	textNote noteKind = iota
	arrowNote
	acrossNote
	uprightNote
	acrossSpan
	uprightSpan
)

// Text returns the figure with a text that begins at a point of its axes. It is matplotlib.pyplot.text.
func (f *Figure) Text(x, y float64, text string) *Figure {
	return f.note(note{textNote, x, y, x, y, text})
}

// Annotate returns the figure with a text at one point and an arrow from there to another point of its axes:
//
//	chart.Plot(losses).Annotate("scale halved", 40, losses[40], 60, 2.1)
//
// It is matplotlib.pyplot.annotate with arrowprops.
func (f *Figure) Annotate(text string, x, y, textX, textY float64) *Figure {
	return f.note(note{arrowNote, textX, textY, x, y, text})
}

// HLine returns the figure with a horizontal line, and its name above it. It is matplotlib.pyplot.axhline.
func (f *Figure) HLine(y float64, name ...string) *Figure {
	return f.note(note{acrossNote, nan, y, nan, y, first(name)})
}

// VLine returns the figure with a vertical line, and its name next to it. It is matplotlib.pyplot.axvline.
func (f *Figure) VLine(x float64, name ...string) *Figure {
	return f.note(note{uprightNote, x, nan, x, nan, first(name)})
}

// HSpan returns the figure with a band from lo to hi of the y axis, and its name. It is matplotlib.pyplot.axhspan.
func (f *Figure) HSpan(lo, hi float64, name ...string) *Figure {
	return f.note(note{acrossSpan, nan, lo, nan, hi, first(name)})
}

// VSpan returns the figure with a band from lo to hi of the x axis, and its name. It is matplotlib.pyplot.axvspan.
func (f *Figure) VSpan(lo, hi float64, name ...string) *Figure {
	return f.note(note{uprightSpan, lo, nan, hi, nan, first(name)})
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

func (f *Figure) note(n note) *Figure {
	return f.change(func(a *axes) { a.notes = append(a.notes[:len(a.notes):len(a.notes)], n) })
}

// spanInk is the colour of bands.
func spanInk(t Theme) color.NRGBA { return color.NRGBA{t.Neutral.R, t.Neutral.G, t.Neutral.B, 45} }

// at returns the points of a note on the axes of v.
func (n note) at(v view) (x, y, x2, y2 float64) {
	return exponent(n.x, v.x.base), exponent(n.y, v.y.base), exponent(n.x2, v.x.base), exponent(n.y2, v.y.base)
}

// placed reports whether a note has a place on the axes: a logarithmic one has none for 0.
func (n note) placed(r row) bool {
	across, upright := n.kind == acrossNote || n.kind == acrossSpan, n.kind == uprightNote || n.kind == uprightSpan
	return (across || finite(r.x) && finite(r.x2)) && (upright || finite(r.y) && finite(r.y2))
}

// noted returns the view with notes on a plot with limits.
func (v view) noted(notes []note, x, y span) view {
	bands := layer{mark: rects{top: true}, small: true, note: true}
	across, upright := layer{mark: rules{width: 1, across: true}, note: true}, layer{mark: rules{width: 1, upright: true}, note: true}
	names, sides := layer{mark: texts{align: -1, gap: 4, lift: 8}, note: true}, layer{mark: texts{align: 1, gap: 5}, note: true}
	remarks, ends, arrows := layer{mark: texts{align: 1}, note: true}, layer{mark: texts{}, note: true}, layer{mark: arrows{}, note: true}
	top := y.hi
	if v.y.down() {
		top = y.lo
	}
	for _, n := range notes {
		r := row{kind: len(v.kinds), color: textInk}
		r.x, r.y, r.x2, r.y2 = n.at(v)
		if !n.placed(r) {
			continue
		}
		name := r
		name.text = n.text
		switch n.kind {
		case textNote:
			remarks.rows = append(remarks.rows, name)
		case arrowNote:
			arrows.rows, ends.rows = append(arrows.rows, r), append(ends.rows, name)
		case acrossNote:
			r.x, r.x2 = x.lo, x.hi
			name.x = x.hi
			across.rows, names.rows = append(across.rows, r), append(names.rows, name)
		case uprightNote:
			r.y, r.y2 = y.lo, y.hi
			name.y = top - .05*(y.hi-y.lo)*map[bool]float64{true: -1, false: 1}[v.y.down()]
			upright.rows, sides.rows = append(upright.rows, r), append(sides.rows, name)
		case acrossSpan:
			r.x, r.x2, r.color, r.text = x.lo, x.hi, spanInk, n.text
			bands.rows = append(bands.rows, r)
		case uprightSpan:
			r.y, r.y2, r.color, r.text = y.lo, y.hi, spanInk, n.text
			bands.rows = append(bands.rows, r)
		}
	}
	v.layers = slices.Concat([]layer{bands}, v.layers, []layer{across, upright, arrows, names, sides, remarks, ends})
	v.layers = slices.DeleteFunc(v.layers, func(l layer) bool { return l.note && len(l.rows) == 0 })
	return v
}

// Legend returns the figure with its legend in a corner of the plot, "upper left", "upper right", "lower left" or "lower right", or
// "above" the plot, or with "none". It panics for another place. It is matplotlib.pyplot.legend with loc.
func (f *Figure) Legend(place string) *Figure {
	if place != above && place != nowhere && legendCorners[place] == "" {
		refuse("Legend", "the place %q; want one of %q", place, []string{"upper left", "upper right", "lower left", "lower right", above, nowhere})
	}
	return f.change(func(a *axes) { a.corner = place })
}

// Places of a legend outside of the plot.
const (
	above   = "above"
	nowhere = "none"
)

// legendCorners are the corners of a plot and their names in Vega-Lite.
var legendCorners = map[string]string{"upper left": "top-left", "upper right": "top-right", "lower left": "bottom-left", "lower right": "bottom-right"}

// drawCorner draws the legend in a corner of the plot.
func (v view) drawCorner(t Theme, c draw.Canvas) {
	if legendCorners[v.corner] == "" || !v.legend() {
		return
	}
	const line = labelSize + 5
	style := t.style(labelSize, t.Text)
	list := v.listed()
	width := vg.Length(0)
	for _, k := range list {
		width = max(width, min(style.Width(k.name), labelMost))
	}
	width = min(width, max(c.Size().X-45, 0))
	size := vg.Point{X: width + 30, Y: line*vg.Length(len(list)) + 4}
	at := vg.Point{X: c.Min.X + 6, Y: c.Max.Y - 4}
	if strings.HasSuffix(v.corner, "right") {
		at.X = c.Max.X - size.X - 6
	}
	if strings.HasPrefix(v.corner, "lower") {
		at.Y = c.Min.Y + size.Y + 4
	}
	fill := t.Background
	fill.A = 220
	c.FillPolygon(fill, rectangle(at.X, at.Y-size.Y, at.X+size.X, at.Y))
	c.StrokeLines(draw.LineStyle{Color: t.Grid, Width: .75}, outline(at.X, at.Y-size.Y, at.X+size.X, at.Y))
	for i, k := range list {
		y := at.Y - 2 - line*(vg.Length(i)+.5)
		v.swatch(k).draw(&c, vg.Point{X: at.X + 12, Y: y}, 4, k.color(t))
		write(&c, style, vg.Point{X: at.X + 24, Y: y}, fit(style, k.name, width))
	}
}
