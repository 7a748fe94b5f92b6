package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
)

// Hist shows the distribution of values: a slice or array of numbers, or a tensor. bins, if given, is the
// number of bars, at most 1000; without it, few whole numbers have a bar each, and the number is otherwise
// the larger of those of Sturges and of Freedman and Diaconis, as numpy.histogram chooses with
// bins="auto". inf and NaN are counted apart. Values that cannot be drawn give a chart that says why.
// It is matplotlib.pyplot.hist.
func Hist(values any, bins ...int) *Figure {
	n, err := numbersOf(values)
	if err != nil {
		return refused("Hist", "%v; want a slice or tensor of numbers", err)
	}
	h := histogram{axes: axes{x: words.histX, y: words.count}, numbers: n}
	if len(bins) > 0 {
		h.wanted = min(max(bins[0], 0), histMost)
	}
	if len(n.values) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Hist"))
	}
	return h.figure()
}

// histMost is the maximum number of bars.
const histMost = 1000

type histogram struct {
	axes
	numbers
	wanted int // number of bars; 0: chosen from the values

	edges  []float64 // edges of the bars, one more than counts; logarithms if logX
	counts []int
	bad    int // number of values that are not finite
	low    int // number of values without a logarithm, if logX
}

func (h histogram) figure() *Figure {
	given := h
	var v []float64
	for _, x := range h.values {
		switch at := place(x, h.logX); {
		case finite(at):
			v = append(v, at)
		case finite(x):
			h.low++
		default:
			h.bad++
		}
	}
	h.count(v)
	f := h.view().figure(h.sentence())
	f.narrow, f.axes, f.data, f.rows = true, h.axes, h.all, nil
	f.remake = func(a axes) *Figure {
		changed := given
		changed.axes = a
		return changed.figure()
	}
	for i, n := range h.counts {
		f.rows = append(f.rows, []any{short(h.value(h.edges[i])), short(h.value(h.edges[i+1])), n, percent(n, len(h.values))})
	}
	f.rows = cutRows(f.rows, 40)
	for _, out := range h.outside() {
		f.rows = append(f.rows, []any{out.name, "", out.n, percent(out.n, len(h.values))})
	}
	return f
}

// outside is a group of values that are in none of the bars.
type outside struct {
	name   string
	n      int
	symbol *symbol
}

func (h histogram) outside() (list []outside) {
	if h.bad > 0 {
		list = append(list, outside{words.notFinite, h.bad, up})
	}
	if h.low > 0 {
		list = append(list, outside{words.notPositive, h.low, down})
	}
	return list
}

// count sets the bars of v.
func (h *histogram) count(v []float64) {
	if len(v) == 0 {
		h.edges, h.counts = []float64{0, 1}, []int{0}
		return
	}
	slices.Sort(v)
	lo, hi := v[0], v[len(v)-1]
	n := h.wanted
	switch {
	case !(hi-lo > 1e-12*max(math.Abs(lo), math.Abs(hi))): // numpy's range of equal values
		lo, hi = lo-max(.5, math.Abs(lo)*1e-6), hi+max(.5, math.Abs(hi)*1e-6)
		n = max(n, 1)
	case n == 0 && hi-lo < 60 && !h.logX && !slices.ContainsFunc(v, func(x float64) bool { return x != math.Trunc(x) }):
		n, lo, hi = int(hi-lo)+1, lo-.5, hi+.5
	case n == 0:
		n = automatic(v)
	}
	h.counts = make([]int, n)
	for i := range n + 1 {
		h.edges = append(h.edges, lo+(hi-lo)*float64(i)/float64(n))
	}
	for _, x := range v {
		h.counts[min(max(int(float64(n)*((x-lo)/(hi-lo))), 0), n-1)]++
	}
}

// automatic returns the number of bars for sorted values.
func automatic(v []float64) int {
	n := float64(len(v))
	sturges := math.Ceil(math.Log2(n)) + 1
	spread := v[(3*len(v)-1)/4] - v[len(v)/4]
	diaconis := math.Ceil((v[len(v)-1] - v[0]) / (2 * spread / math.Cbrt(n)))
	if !finite(diaconis) {
		diaconis = 0
	}
	return int(min(max(sturges, diaconis), 100))
}

// value returns the value at a position on the axis.
func (h histogram) value(x float64) float64 {
	if h.logX {
		return math.Pow(10, x)
	}
	return x
}

func (h histogram) sentence() string {
	mean, deviation, n := moments(h.values)
	s := spanOf(h.values)
	text := counted(len(h.values), words.histOne, words.histNone)
	if n > 0 {
		text = fmt.Sprintf(words.histSome, text, short(s.lo), short(s.hi), short(mean), short(deviation))
	}
	if bad := len(h.values) - n; bad > 0 {
		text += fmt.Sprintf(words.histBad, bad)
	}
	return text
}

// moments returns the mean and the standard deviation of the finite values, and their number.
func moments(values []float64) (mean, deviation float64, n int) {
	for _, v := range values {
		if finite(v) {
			n++
			mean += (v - mean) / float64(n)
		}
	}
	for _, v := range values {
		if finite(v) {
			deviation += (v - mean) * (v - mean) / float64(n)
		}
	}
	deviation = math.Sqrt(deviation)
	if math.Abs(mean) < 1e-12*deviation { // only rounding errors
		mean = 0
	}
	return mean, deviation, n
}

func (h histogram) all() (head []string, rows [][]any) {
	for i, n := range h.counts {
		rows = append(rows, []any{h.value(h.edges[i]), h.value(h.edges[i+1]), n})
	}
	return []string{words.headFrom, words.headTo, words.count}, rows
}

// view returns the bars.
func (h histogram) view() view {
	lo, hi, most := h.edges[0], h.edges[len(h.edges)-1], float64(max(slices.Max(h.counts), 1))
	v := view{x: scale{title: h.axes.x, lo: lo, hi: hi}, y: scale{title: h.axes.y, lo: 0, hi: most, whole: true}, height: 165, zoom: []string{"x"},
		facts: []fact{{"from", words.headFrom}, {"to", words.headTo}, {"count", words.count}, {"share", words.headShare}}}
	if h.logX {
		v.x.base = 10
	}
	if h.logY {
		v.y = scale{title: h.axes.y, lo: -.3, hi: math.Log10(most) + .1, base: 10}
	}
	color := func(t Theme) color.NRGBA { return t.Float32 }
	if d, order := dtypeOf(h.dtype); order < len(dtypes) {
		color = d.color
	}
	gap := 0.
	if len(h.counts) < 150 {
		gap = (hi - lo) / 1200
	}
	bars := layer{mark: rects{}}
	for i, n := range h.counts {
		top := float64(n)
		if h.logY {
			top = max(math.Log10(top), v.y.lo)
		}
		bars.rows = append(bars.rows, row{x: h.edges[i] + gap, x2: h.edges[i+1] - gap, y: v.y.lo, y2: top, color: color,
			facts: []any{h.value(h.edges[i]), h.value(h.edges[i+1]), n, percent(n, len(h.values))}})
	}
	v.layers = []layer{bars}
	for _, out := range h.outside() {
		v.signs = append(v.signs, kind{name: fmt.Sprintf("%s (%d)", out.name, out.n), symbol: out.symbol, color: skipInk})
	}
	return v
}
