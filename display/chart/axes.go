package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes is what a reader has set of the axes of a chart, and on them.
type axes struct {
	x, y           string
	logX, logY     bool
	xTicks, yTicks *ticks // nil: round numbers or powers
	xLim, yLim     span   // NaN, or both 0: those of the data
	notes          []note
	errors, bands  []errorRange // of the sets of data, in their order
	corner         string       // where the legend is; "": above the plot, or at the ends of lines
	twin           *Figure      // shares the x axis, with a separate y axis
}

// Title returns the figure with another title, which is its alt text too.
func (f *Figure) Title(title string) *Figure {
	g := *f
	g.heading = title
	return &g
}

// XLabel returns the figure with a name for its x axis. XLabel, YLabel, LogX and LogY change the
// figures of [Plot], [Step], [Scatter], [Hist], [BarPlot], [BoxPlot], [Imshow], [Lines] and [Loss], and leave others as they are.
func (f *Figure) XLabel(name string) *Figure { return f.change(func(a *axes) { a.x = name }) }

// YLabel returns the figure with a name for its y axis.
func (f *Figure) YLabel(name string) *Figure { return f.change(func(a *axes) { a.y = name }) }

// LogX returns the figure with a logarithmic x axis, also that of [NumberLine]. Points whose x is not positive are left out.
func (f *Figure) LogX() *Figure { return f.change(func(a *axes) { a.logX = true }) }

// LogY returns the figure with a logarithmic y axis. Values that are not positive are drawn as ▼ at
// the lower edge.
func (f *Figure) LogY() *Figure { return f.change(func(a *axes) { a.logY = true }) }

func (f *Figure) change(edit func(*axes)) *Figure {
	a := f.axes
	edit(&a)
	if f.remake == nil {
		g := *f
		g.axes = a
		if a.twin != nil && f.axes.twin == nil {
			g.besides(a.twin)
		}
		return &g
	}
	if a.twin != nil && a.logX && !a.twin.axes.logX { // they have one x axis
		a.twin = a.twin.LogX()
	}
	g := f.remake(a)
	if a.twin != nil {
		g.besides(a.twin)
	}
	g.theme, g.chosen, g.pinned, g.auto, g.heading, g.interactive, g.formChosen = f.theme, f.chosen, f.pinned, f.auto, f.heading, f.interactive, f.formChosen
	return g
}

// place returns the position of v on an axis: its logarithm if the axis is logarithmic, −∞ for a value
// that has none. Values near the float64 limit would overflow in the axis arithmetic.
func place(v float64, log bool) float64 {
	switch {
	case log && v <= 0:
		return math.Inf(-1)
	case log:
		return math.Log10(v)
	case finite(v):
		return min(max(v, -1e200), 1e200)
	}
	return v
}

// span is the range of some finite numbers.
type span struct{ lo, hi float64 }

// spanOf returns the range of the finite numbers in lists, NaN to NaN if there are none.
func spanOf(lists ...[]float64) span {
	s := span{math.Inf(1), math.Inf(-1)}
	for _, list := range lists {
		for _, v := range list {
			if finite(v) {
				s.lo, s.hi = min(s.lo, v), max(s.hi, v)
			}
		}
	}
	if s.lo > s.hi {
		return span{nan, nan}
	}
	return s
}

// paint draws p on c. A long name of the x axis is cut, and ticks are left out if their labels would
// overlap.
func paint(p *plot.Plot, c draw.Canvas) {
	inner := p.DataCanvas(c).Rectangle
	if inner.Size().X < 30 { // the labels of the x axis take the width
		p.X.Tick.Marker = plot.ConstantTicks(nil)
		inner = p.DataCanvas(c).Rectangle
	}
	width := func(label string) vg.Length { return p.X.Tick.Label.Width(label) + 6 }
	if p.X.Tick.Label.Rotation != 0 {
		width = func(string) vg.Length { return labelSize * 1.5 }
	}
	p.X.Tick.Marker = apart{p.X.Tick.Marker, inner.Size().X, inner.Min.X - c.Min.X + margin, width}
	p.Y.Tick.Marker = apart{p.Y.Tick.Marker, inner.Size().Y, labelSize, func(string) vg.Length { return labelSize + 2 }}
	p.X.Label.Text = fit(p.X.Label.TextStyle, p.X.Label.Text, p.DataCanvas(c).Rectangle.Size().X)
	p.Draw(c)
}

// apart is those ticks of an axis whose labels do not overlap.
type apart struct {
	plot.Ticker
	length vg.Length // of the axis
	room   vg.Length // before the axis, for half a label
	extent func(label string) vg.Length
}

func (a apart) Ticks(lo, hi float64) (ticks []plot.Tick) {
	end := -a.room
	all := slices.SortedFunc(slices.Values(a.Ticker.Ticks(lo, hi)), func(s, t plot.Tick) int { return cmp.Compare(s.Value, t.Value) })
	for _, t := range all {
		at, half := a.length*vg.Length((t.Value-lo)/(hi-lo)), a.extent(t.Label)/2
		if at-half >= end {
			ticks, end = append(ticks, t), at+half
		}
	}
	return ticks
}

// ticksIn returns the number of ticks of an x axis as wide as c.
func ticksIn(c draw.Canvas) int { return min(max(int((c.Max.X-c.Min.X)/50), 3), 8) }

// logLimits widens a logarithmic axis that contains no power of ten.
func logLimits(lo, hi float64, log bool) (float64, float64) {
	if log && math.Floor(hi) <= math.Ceil(lo) {
		return math.Floor(lo), math.Ceil(hi)
	}
	return lo, hi
}

// nth returns the colour of the i-th set of data without a dtype.
func (t Theme) nth(i int) color.NRGBA {
	return [...]color.NRGBA{t.Float32, t.Float16, t.BFloat16, t.Promote, t.Neutral}[i%5]
}
