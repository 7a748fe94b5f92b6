package chart

import (
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// view describes a chart once: layers of marks over rows of data. draw makes the picture of it, and
// spec its interactive form.
type view struct {
	x, y     scale
	kinds    []kind
	layers   []layer
	facts    []fact            // columns of the rows' facts
	formats  map[string]string // of facts that are numbers, by their keys, in the language of d3-format
	zoom     []string          // axes that zoom: "x", "y"
	height   int               // height of the plot in CSS pixels
	left     vg.Length         // room to the left of the plot, for texts
	right    vg.Length         // room to the right of the plot, for texts
	linked   []float64         // y of the texts that show the value of each kind at the step under the pointer; nil: none
	signs    []kind            // more entries of the legend
	lowest   kind              // meaning of ▼, which marks values without a logarithm; "": not finite
	least    int               // width in CSS pixels below which the interactive form is scrolled
	points   int               // points of the lines given, of which the layers may hold some
	subtitle string            // what the interactive form leaves out; "": the number of points
	named    bool              // the picture names the kinds in the plot, and not in a legend
	ends     []string          // names of the kinds that the picture writes at the ends of their lines; nil: none
	rigid    bool              // the plot is as high in every picture, at its top
	core     float64           // of a rigid plot: the part of the x axis with cells
	cut      bool              // marks outside of the plot are left out
	corner   string            // where the legend is; "": above the plot
}

// kind is the appearance of rows that have something in common, and an entry of the legend.
type kind struct {
	name   string
	color  role
	dashes []vg.Length
	symbol *symbol // for points
	quiet  bool    // not in the legend
	steps  bool    // its line in a layer of curves is constant up to the next row
	faint  bool    // its rectangles have a light colour within a line
	line   role    // of a sign: the colour of its edge; nil: color
}

// fact is a column of the data, shown next to the pointer. The keys "x", "y" and "kind" are a row's place and the name of its
// kind.
type fact struct{ key, title string }

// placed reports whether a row's place or kind is the fact.
func (f fact) placed() bool { return f.key == "x" || f.key == "y" || f.key == "kind" }

// layer is a set of rows with the same mark.
type layer struct {
	mark  mark
	rows  []row
	small bool // its texts are small
	note  bool // a remark on the plot: the legend does not filter it
	mute  bool // nothing is shown next to the pointer
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
	image        func(Theme) image.Image // of a layer of images
	facts        []any                   // values of the view's facts; nil for decoration
}

// fact returns the value of a fact, nil if the row has none.
func (r row) fact(k int) any {
	if k < len(r.facts) {
		return r.facts[k]
	}
	return nil
}

// below reports whether the value of a row, which is not finite, has its place below the plot.
func (r row) below() bool { return math.IsInf(r.y, -1) }

// isData reports whether the rows have facts; others are decoration.
func (l layer) isData() bool { return len(l.rows) > 0 && l.rows[0].facts != nil }

// byKind returns the rows of each kind.
func byKind(rows []row) (lists [][]row) {
	at := map[int]int{}
	for _, r := range rows {
		k, ok := at[r.kind]
		if !ok {
			k = len(lists)
			at[r.kind], lists = k, append(lists, nil)
		}
		lists[k] = append(lists[k], r)
	}
	slices.SortFunc(lists, func(a, b []row) int { return a[0].kind - b[0].kind })
	return lists
}

// figure returns the chart with a sentence.
func (v view) figure(sentence string) *Figure {
	f := &Figure{theme: Light, sentence: sentence, height: v.height + v.around(), body: v}
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
	return h + int(v.x.slant)
}

// limits returns the limits of both axes: those given, or those of the marks with a margin.
func (v view) limits() (x, y span) {
	x, y = span{math.Inf(1), math.Inf(-1)}, span{math.Inf(1), math.Inf(-1)}
	for _, l := range v.layers {
		t := l.mark.traits(l)
		if t.aside {
			continue
		}
		for _, r := range l.rows {
			x.hold(r.x)
			y.hold(r.y)
			if t.extends {
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
