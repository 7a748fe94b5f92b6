package chart

// mark is the form of the rows of a layer: rectangles, lines, points. A mark is a file, mark_NAME.go, that holds its options and
// both its drawings. The writers know no mark by name.
type mark interface {
	// drawRows draws the rows of a layer in a picture.
	drawRows(d drawing)
	// spec returns the same as layers of a Vega-Lite specification.
	spec(u *unit) []object
	// traits returns what else the writers have to know about the rows of l.
	traits(l layer) traits
}

// thinner is a mark that chooses the rows that the interactive form holds.
type thinner interface {
	// kept returns the indices, in order, of about most rows of l, a layer of v.
	kept(v view, l layer, most int) []int
}

// traits is what the axes, the legend and the subtitle of a chart depend on.
type traits struct {
	name    string // layers of the same name share the limit of rows
	aside   bool   // rows stand next to the plot, and not at their place on an axis
	extends bool   // rows extend to (x2, y2), both of which widen the axes
	edges   bool   // rows without a y are marked at the upper or the lower edge, which the legend explains
	counted bool   // rows are data, and the subtitle says how many of them are left out
	symbols bool   // rows are drawn as the symbols of their kinds
	segment bool   // rows are lines from (x, y) to (x2, y2)
	clips   bool   // the mark leaves out what lies outside of the plot
	legend  swatch // the entry of a kind in the legend
}

// swatch is the form of a kind in the legend.
type swatch int

const (
	symbolSwatch swatch = iota // a symbol in the interactive form, a line in a picture
	lineSwatch
	squareSwatch
)

// kept returns the indices of the rows of l that the interactive form holds.
func (v view) kept(l layer, most int) []int {
	if m, ok := l.mark.(thinner); ok {
		return m.kept(v, l, most)
	}
	return v.share(l, most)
}

// share returns the indices of the rows of l, where all layers with its mark have about most together.
func (v view) share(l layer, most int) []int {
	all, name := 0, l.mark.traits(l).name
	for _, other := range v.layers {
		if other.mark.traits(other).name == name {
			all += len(other.rows)
		}
	}
	return l.some(max(len(l.rows)*min(most, all)/max(all, 1), 50))
}
