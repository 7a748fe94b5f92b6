package chart

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// view describes a chart once: layers of marks over rows of data. draw makes the picture of it, and
// twin its interactive form.
type view struct {
	x, y   scale
	kinds  []kind
	layers []layer
	facts  []fact    // columns of the rows' facts
	zoom   []string  // axes that zoom: "x", "y"
	height int       // height of the plot in CSS pixels
	right  vg.Length // room to the right of the plot, for texts
	signs  []kind    // more entries of the picture's legend
	lowest kind      // meaning of ▼, which marks values without a logarithm; "": not finite
	least  int       // width in CSS pixels below which the interactive form is scrolled
	points int       // points of the lines given, of which the layers may hold some
}

// scale is an axis of a view.
type scale struct {
	title  string
	lo, hi float64  // limits; if equal, those of the marks, or all names
	base   int      // positions are exponents of this base; 0: they are the values
	names  []string // names of the rows 0, 1, …, from the top; nil for an axis of numbers
	whole  bool     // only whole numbers are marked
	margin float64  // margin around the marks, as a share of their range
	bare   bool     // without ticks
	only   []int    // the numbers that are marked in the interactive form; nil: round ones
}

// kind is the appearance of rows that have something in common, and an entry of the legend.
type kind struct {
	name   string
	color  role
	dashes []vg.Length
	mark   shape  // for points in the picture
	path   string // the same in the interactive form
	quiet  bool   // not in the legend
}

// fact is a column of the data, shown next to the pointer. The keys "x", "y" and "kind" are a row's place and the name of its
// kind.
type fact struct{ key, title string }

// markType is the form of the rows of a layer.
type markType int

const (
	rects  markType = iota // from (x, y) to (x2, y2), with the text inside
	rules                  // lines from (x, y) to (x2, y2), with the text to the right
	curves                 // one line through the rows of each kind
	stairs                 // the same, constant up to the next row
	points                 // marks of the kinds, with the text to the right
	texts                  // texts at (x, y)
)

// layer is a set of rows with the same mark.
type layer struct {
	mark   markType
	rows   []row
	width  vg.Length // of lines; radius of points; 0: the usual one
	small  bool      // small texts
	shape  shape     // of points; nil: the kinds' marks
	path   string    // the same in the interactive form
	align  int       // of texts: −1 left of the position, 0 around it, 1 right of it
	aside  bool      // texts to the right of the plot
	within float64   // width for each text of a layer of texts, on the x axis; 0: any
	widest vg.Length // width of the widest of them
}

// row is a row of data, and its place and appearance.
type row struct {
	x, y, x2, y2 float64
	kind         int
	faint        bool // a rectangle of a light colour
	color        role // instead of the kind's, for all rows of a layer or none; nil: the kind's
	text         string
	facts        []any // values of the view's facts; nil for decoration
}

// figure returns the chart with a sentence.
func (v view) figure(sentence string) *Figure {
	f := &Figure{theme: Light, sentence: sentence, height: v.height + v.around(), draw: v.draw, twin: v.twin}
	for _, c := range v.facts {
		f.head = append(f.head, c.title)
	}
	var all [][]any
	for _, l := range v.layers {
		for _, r := range l.rows {
			if r.facts != nil {
				all = append(all, r.facts)
			}
		}
	}
	for _, r := range cutRows(all, 40) {
		line := make([]any, len(r))
		for i, value := range r {
			if line[i] = value; len(r) == len(v.facts) {
				line[i] = shortFact(value)
			}
		}
		f.rows = append(f.rows, line)
	}
	head := f.head
	f.data = func() ([]string, [][]any) { return head, all }
	return f
}

// shortFact returns a value as tables show it.
func shortFact(value any) any {
	if x, ok := value.(float64); ok {
		return short(x)
	}
	return value
}

// around returns the height of the legend and of the x axis.
func (v view) around() int {
	h := 0
	if v.header() {
		h += keyHeight
	}
	if !v.x.bare {
		h += 20
	}
	if v.x.title != "" {
		h += 15
	}
	return h
}

// header reports whether a line with the name of the y axis and the legend stands above the plot.
func (v view) header() bool { return v.y.title != "" || v.legend() || v.signs != nil }

// legend reports whether the view has a legend.
func (v view) legend() bool { return len(v.listed()) > 1 }

// listed returns the kinds in the legend.
func (v view) listed() (list []kind) {
	for _, k := range v.kinds {
		if !k.quiet {
			list = append(list, k)
		}
	}
	return list
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

// edges returns the legend of the marks at the edges.
func (v view) edges(t Theme) (list []key) {
	high, low := false, false
	for _, l := range v.layers {
		if l.mark != rects && l.mark != rules && l.mark != texts {
			for _, r := range l.rows {
				low = low || math.IsInf(r.y, -1)
				high = high || !finite(r.y) && !math.IsInf(r.y, -1)
			}
		}
	}
	if high {
		list = append(list, key{up, t.Skip, words.notFinite})
	}
	switch {
	case low && v.lowest.name != "":
		list = append(list, key{down, v.below()(t), v.lowest.name})
	case low && !high:
		list = append(list, key{down, t.Skip, words.notFinite})
	}
	return list
}

// limits returns the limits of both axes: those given, or those of the marks with a margin.
func (v view) limits() (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, l := range v.layers {
		if l.aside {
			continue
		}
		for _, r := range l.rows {
			x.hold(r.x)
			y.hold(r.y)
			if l.mark == rects || l.mark == rules {
				x.hold(r.x2)
				y.hold(r.y2)
			}
		}
	}
	x, y = v.x.limits(x), v.y.limits(y)
	if v.y.margin > 0 && v.y.lo == v.y.hi { // room for marks at the upper edge
		y.hi += (y.hi - y.lo) * v.y.margin
	}
	return x, y
}

// hold extends s to a finite number.
func (s *span) hold(v float64) {
	if finite(v) {
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
}

// limits returns the limits of the axis for marks in a range, which may be empty.
func (s scale) limits(at span) span {
	switch {
	case s.names != nil:
		return span{min(s.lo, -.5), float64(len(s.names)) - .5}
	case s.lo < s.hi:
		return span{s.lo, s.hi}
	}
	if at.lo > at.hi {
		return span{0, 1}
	}
	at.lo, at.hi = max(at.lo, -1e200), min(at.hi, 1e200)
	at.lo, at.hi = logLimits(at.lo, at.hi, s.base > 0)
	if at.lo < at.hi {
		pad := (at.hi - at.lo) * s.margin
		return span{at.lo - pad, at.hi + pad}
	}
	return span{at.lo - max(1, math.Abs(at.lo)*1e-6), at.hi + max(1, math.Abs(at.hi)*1e-6)}
}

// exponent returns the position of x on an axis of exponents of base, or x itself if base is 0.
func exponent(x float64, base int) float64 {
	switch {
	case base == 0:
		return place(x, false)
	case x <= 0:
		return math.Inf(-1)
	case base == 2:
		return math.Log2(x)
	}
	return math.Log(x) / math.Log(float64(base))
}

// kindsOf returns a kind for each of the distinct dtypes of a list, and the index of each element's.
func kindsOf(list []string) (kinds []kind, at []int) {
	index := map[string]int{}
	for _, name := range list {
		i, ok := index[name]
		if !ok {
			i = len(kinds)
			d, _ := dtypeOf(name)
			kinds = append(kinds, kind{name: name, color: d.color, dashes: d.dashes, mark: dot, path: "circle"})
			index[name] = i
		}
		at = append(at, i)
	}
	return kinds, at
}
