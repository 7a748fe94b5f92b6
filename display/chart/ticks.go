package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// ticks are places on an axis that a reader has chosen.
type ticks struct {
	at     []float64
	labels []string // one for each place
}

// XTicks returns the figure with marks on its x axis at the given places, a slice of numbers, and with texts there; without
// texts the numbers are shown. nil is the places 0, 1, 2 …, one for each text: the columns of a matrix.
//
//	chart.Imshow(confusion).XTicks(nil, "cat", "dog").YTicks(nil, "cat", "dog")
//	chart.Plot(x, y).XTicks([]float64{0, math.Pi, 2 * math.Pi}, "0", "π", "2π")
//
// It panics if their numbers differ. It is matplotlib.pyplot.xticks.
func (f *Figure) XTicks(at any, labels ...string) *Figure {
	t := ticksOf("XTicks", at, labels)
	return f.change(func(a *axes) { a.xTicks = t })
}

// YTicks returns the figure with marks on its y axis, as [Figure.XTicks] does for the x axis.
func (f *Figure) YTicks(at any, labels ...string) *Figure {
	t := ticksOf("YTicks", at, labels)
	return f.change(func(a *axes) { a.yTicks = t })
}

func ticksOf(function string, at any, labels []string) *ticks {
	t := &ticks{labels: printables(labels)}
	if at == nil {
		for i := range labels {
			t.at = append(t.at, float64(i))
		}
		return t
	}
	n, err := numbersOf(at)
	if err != nil {
		refuse(function, "%v; want a slice of numbers, or nil for 0, 1, 2 …", err)
	}
	t.at = n.values
	if len(labels) == 0 {
		t.labels = make([]string, len(t.at))
		for i, v := range t.at {
			t.labels[i] = short(v)
		}
	}
	if len(t.labels) != len(t.at) {
		refuse(function, "%d places and %d texts; want a text for each place", len(t.at), len(t.labels))
	}
	return t
}

// XLim returns the figure with an x axis from lo to hi. What lies outside is not drawn. NaN keeps a limit that the data have. It
// panics if lo is not less than hi. It is matplotlib.pyplot.xlim.
func (f *Figure) XLim(lo, hi float64) *Figure {
	s := limitsOf("XLim", lo, hi)
	return f.change(func(a *axes) { a.xLim = s })
}

// YLim returns the figure with a y axis from lo to hi, as [Figure.XLim] does for the x axis.
func (f *Figure) YLim(lo, hi float64) *Figure {
	s := limitsOf("YLim", lo, hi)
	return f.change(func(a *axes) { a.yLim = s })
}

func limitsOf(function string, lo, hi float64) span {
	if lo >= hi || math.IsInf(lo, 0) || math.IsInf(hi, 0) {
		refuse(function, "from %v to %v; want numbers of which the first is less, or NaN for a limit of the data", lo, hi)
	}
	return span{lo, hi}
}

// namesOf returns ticks for 0, 1, 2 …
func namesOf(names []string) *ticks { return ticksOf("", nil, names) }

// slantAngle is the angle of labels that have no room next to each other, in degrees.
const slantAngle = 35

// slantMost is the maximum width of such labels.
const slantMost = 130

// slant returns the height that the labels of the x axis need in addition because they have no room next to each other.
func (a axes) slant() int {
	if a.xTicks == nil {
		return 0
	}
	style := Light.style(labelSize, Light.Text)
	all, widest := vg.Length(0), vg.Length(0)
	for _, label := range a.xTicks.labels {
		w := style.Width(label)
		all, widest = all+w+8, max(widest, w)
	}
	if all <= Width-120 {
		return 0
	}
	return int(min(widest, slantMost) * vg.Length(math.Sin(slantAngle*math.Pi/180)))
}

// marks returns the ticks on an axis of exponents of a base, or of numbers if base is 0.
func (t *ticks) marks(base int) []plot.Tick {
	list := make([]plot.Tick, 0, len(t.at))
	for i, v := range t.at {
		if at := exponent(v, base); finite(at) {
			list = append(list, plot.Tick{Value: at, Label: fit(Light.style(labelSize, Light.Text), t.labels[i], labelMost)})
		}
	}
	return list
}

// names returns the texts for n rows.
func (t *ticks) names(n int) []string {
	names := make([]string, n)
	for i, v := range t.at {
		if k := int(v); float64(k) == v && k >= 0 && k < n {
			names[k] = t.labels[i]
		}
	}
	return names
}

// within returns s with the limits that are given of want, on an axis of exponents of a base.
func (s span) within(want span, base int) span {
	if want == (span{}) {
		return s
	}
	if lo := exponent(want.lo, base); finite(lo) {
		s.lo = lo
	}
	if hi := exponent(want.hi, base); finite(hi) {
		s.hi = hi
	}
	if s.lo >= s.hi { // the data are outside of the limit that is given
		s.hi = s.lo + max(1, math.Abs(s.lo)*1e-6)
	}
	return s
}

// refuse panics with an error about the arguments of a function.
func refuse(function string, format string, args ...any) {
	panic("chart: " + function + ": " + fmt.Sprintf(format, args...))
}
