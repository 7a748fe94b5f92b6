package chart

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// view describes a chart once: layers of marks over rows of data. draw makes the picture of it, and
// spec its interactive form.
type view struct {
	x, y    scale
	kinds   []kind
	layers  []layer
	facts   []fact            // columns of the rows' facts
	formats map[string]string // of facts that are numbers, by their keys, in the language of d3-format
	zoom    []string          // axes that zoom: "x", "y"
	height  int               // height of the plot in CSS pixels
	left    vg.Length         // room to the left of the plot, for texts
	right   vg.Length         // room to the right of the plot, for texts
	linked  []float64         // y of the texts that show the value of each kind at the step under the pointer; nil: none
	signs   []kind            // more entries of the legend
	lowest  kind              // meaning of ▼, which marks values without a logarithm; "": not finite
	least   int               // width in CSS pixels below which the interactive form is scrolled
	points  int               // points of the lines given, of which the layers may hold some
	named   bool              // the picture names the kinds in the plot, and not in a legend
	ends    []string          // names of the kinds that the picture writes at the ends of their lines; nil: none
}

// scale is an axis of a view.
type scale struct {
	title  string
	lo, hi float64     // limits; if equal, those of the marks, or all names
	base   int         // positions are exponents of this base; 0: they are the values
	names  []string    // names of the rows 0, 1, …, from the top; nil for an axis of numbers
	widest vg.Length   // width of the widest name; 0: not measured
	most   vg.Length   // width of the widest name in the picture; 0: labelMost
	whole  bool        // only whole numbers are marked
	margin float64     // margin around the marks, as a share of their range
	plain  bool        // without a line and ticks
	bare   bool        // without ticks
	notes  []string    // lines below a bare axis in the interactive form
	marked []plot.Tick // the ticks; nil: round numbers or powers
}

// kind is the appearance of rows that have something in common, and an entry of the legend.
type kind struct {
	name   string
	color  role
	dashes []vg.Length
	mark   shape  // for points in the picture
	path   string // the same in the interactive form
	quiet  bool   // not in the legend
	stairs bool   // its line in a layer of curves is constant up to the next row
	faint  bool   // its rectangles have a light colour within a line
	line   role   // of a sign: the colour of its edge; nil: color
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

// side is where the texts of a layer stand on the x axis.
type side int

const (
	inPlot   side = iota // at the x of their rows
	rightOf              // to the right of the plot
	leftOf               // to the left of the plot
	leftEdge             // at the left edge of the plot
)

// layer is a set of rows with the same mark.
type layer struct {
	mark   markType
	rows   []row
	width  vg.Length               // of lines; radius of points; 0: the usual one
	small  bool                    // small texts
	shape  shape                   // of points; nil: the kinds' marks
	path   string                  // the same in the interactive form
	align  int                     // of texts: −1 left of the position, 0 around it, 1 right of it
	image  func(Theme) image.Image // what a picture shows in place of the rectangles, for finer detail
	side   side                    // where texts stand
	across bool                    // rules go from one side of the plot to the other
	gaps   bool                    // lines have gaps at rows without a place, which are not marked
	inside bool                    // the texts of points are in their middle
	gap    vg.Length               // between the position of a text and the text
	top    bool                    // the texts of rectangles stand at their upper edges
	widest vg.Length               // width of the widest text of rows with a limit; texts without that room are not shown
}

// row is a row of data, and its place and appearance.
type row struct {
	x, y, x2, y2 float64
	kind         int
	faint        bool    // a rectangle of a light colour within a line
	size         float64 // radius of a point, in a layer whose points have different ones
	wide         float64 // limit of the width of a text of a layer of texts, on the x axis; 0: none
	color        role    // instead of the kind's, for all rows of a layer or none; nil: the kind's
	text         string
	facts        []any // values of the view's facts; nil for decoration
}

// figure returns the chart with a sentence.
func (v view) figure(sentence string) *Figure {
	f := &Figure{theme: Light, sentence: sentence, height: v.height + v.around(), draw: v.draw, spec: v.spec}
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
func (v view) header() bool {
	return v.y.title != "" || v.legend() && !v.named || len(v.legendSigns()) > 0
}

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

// legendSigns returns the entries of the legend that are not kinds: the signs, and the marks at the edges.
func (v view) legendSigns() []kind {
	list := slices.Clone(v.signs)
	high, low := false, false
	for _, l := range v.layers {
		if l.mark != rects && l.mark != rules && l.mark != texts && !l.gaps {
			for _, r := range l.rows {
				low = low || math.IsInf(r.y, -1)
				high = high || !finite(r.y) && !math.IsInf(r.y, -1)
			}
		}
	}
	if high {
		list = append(list, kind{name: words.notFinite, mark: up, path: upPath, color: skipInk})
	}
	switch {
	case low && v.lowest.name != "":
		list = append(list, kind{name: v.lowest.name, mark: down, path: downPath, color: v.below()})
	case low && !high:
		list = append(list, kind{name: words.notFinite, mark: down, path: downPath, color: skipInk})
	}
	return list
}

// limits returns the limits of both axes: those given, or those of the marks with a margin.
func (v view) limits() (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, l := range v.layers {
		if l.side != inPlot {
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
