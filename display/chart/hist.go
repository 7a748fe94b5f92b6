package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Hist shows the distribution of values: a slice or array of numbers, or a tensor. Several sets of values, each with a name after it,
// lie over each other. A table is followed by a column of numbers, and perhaps by one of texts that divides the rows. An int is the
// number of bars, at most 1000:
//
//	chart.Hist(weights, 50)
//	chart.Hist(train, "train", valid, "valid")
//	chart.Hist(penguins, "mass", "species")
//
// Without it, few whole numbers have a bar each, and the number is otherwise the larger of those of Sturges and of Freedman and
// Diaconis, as numpy.histogram chooses with bins="auto". inf and NaN are counted apart. It panics for values that cannot be drawn.
// It is matplotlib.pyplot.hist.
func Hist(data ...any) *Figure {
	h := histogram{axes: axes{x: words.histX, y: words.count}}
	var rest []any
	for _, v := range data {
		if bins, ok := v.(int); ok {
			h.wanted = min(max(bins, 0), histMost)
			continue
		}
		rest = append(rest, v)
	}
	sets, named := seriesOf("Hist", false, rest)
	h.x = cmp.Or(named.y, h.x)
	for _, s := range sets {
		if len(s.Values) > 0 {
			h.sets = append(h.sets, histSet{Series: s})
			h.all = append(h.all, s.Values...)
		}
	}
	if len(h.sets) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Hist"))
	}
	return h.figure()
}

// histMost is the maximum number of bars.
const histMost = 1000

type histogram struct {
	axes
	sets   []histSet
	all    []float64 // values of all sets
	wanted int       // number of bars; 0: chosen from the values

	edges []float64 // edges of the bars, one more than counts; logarithms if logX
	bad   int       // number of values that are not finite
	low   int       // number of values without a logarithm, if logX
}

// histSet is a set of values with the number of them in each bar.
type histSet struct {
	Series
	counts []int
}

func (h histogram) figure() *Figure {
	given := h
	var v []float64
	for _, x := range h.all {
		switch at := place(x, h.logX); {
		case finite(at):
			v = append(v, at)
		case finite(x):
			h.low++
		default:
			h.bad++
		}
	}
	h.sets = slices.Clone(h.sets)
	h.count(v)
	f := h.view().figure(h.sentence())
	f.narrow, f.axes, f.data, f.rows = true, h.axes, h.data, nil
	f.remake = func(a axes) *Figure {
		changed := given
		changed.axes = a
		return changed.figure()
	}
	for _, s := range h.sets {
		for i, n := range s.counts {
			row := []any{short(h.value(h.edges[i])), short(h.value(h.edges[i+1])), n, percent(n, len(s.Values))}
			if len(h.sets) > 1 {
				row = append([]any{s.Name}, row...)
			}
			f.rows = append(f.rows, row)
		}
	}
	f.rows = cutRows(f.rows, 40)
	for _, out := range h.outside() {
		row := []any{out.name, "", out.n, percent(out.n, len(h.all))}
		if len(h.sets) > 1 {
			row = append([]any{""}, row...)
		}
		f.rows = append(f.rows, row)
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

// count sets the bars of v, which holds the values of all sets that have a place.
func (h *histogram) count(v []float64) {
	if len(v) == 0 {
		h.edges = []float64{0, 1}
		for i := range h.sets {
			h.sets[i].counts = []int{0}
		}
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
	for i := range n + 1 {
		h.edges = append(h.edges, lo+(hi-lo)*float64(i)/float64(n))
	}
	for k := range h.sets {
		counts := make([]int, n)
		for _, x := range h.sets[k].Values {
			if at := place(x, h.logX); finite(at) {
				counts[min(max(int(float64(n)*((at-lo)/(hi-lo))), 0), n-1)]++
			}
		}
		h.sets[k].counts = counts
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
	var parts []string
	for _, set := range h.sets {
		mean, deviation, n := moments(set.Values)
		s := spanOf(set.Values)
		text := counted(len(set.Values), words.histOne, words.histNone)
		if n > 0 {
			text = fmt.Sprintf(words.histSome, text, short(s.lo), short(s.hi), short(mean), short(deviation))
		}
		if bad := len(set.Values) - n; bad > 0 {
			text += fmt.Sprintf(words.histBad, bad)
		}
		if set.Name != "" {
			text = set.Name + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
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

func (h histogram) data() (head []string, rows [][]any) {
	head = []string{words.headFrom, words.headTo, words.count}
	if len(h.sets) > 1 {
		head = []string{words.headFrom, words.headTo}
		for _, s := range h.sets {
			head = append(head, s.Name)
		}
	}
	for i := range len(h.edges) - 1 {
		row := []any{h.value(h.edges[i]), h.value(h.edges[i+1])}
		for _, s := range h.sets {
			row = append(row, s.counts[i])
		}
		rows = append(rows, row)
	}
	return head, rows
}

// view returns the bars.
func (h histogram) view() view {
	lo, hi, most, bars := h.edges[0], h.edges[len(h.edges)-1], 1., len(h.edges)-1
	for _, s := range h.sets {
		most = max(most, float64(slices.Max(s.counts)))
	}
	v := view{x: scale{title: h.axes.x, lo: lo, hi: hi}, y: scale{title: h.axes.y, lo: 0, hi: most, whole: true}, height: 165, zoom: []string{"x"},
		facts: []fact{{"from", words.headFrom}, {"to", words.headTo}, {"count", words.count}, {"share", words.headShare}}}
	if h.logX {
		v.x.base = 10
	}
	if h.logY {
		v.y = scale{title: h.axes.y, lo: -.3, hi: math.Log10(most) + .1, base: 10}
	}
	gap := 0.
	if bars < 150 && len(h.sets) == 1 {
		gap = (hi - lo) / 1200
	}
	several := len(h.sets) > 1
	if several {
		v.facts = append([]fact{{"kind", words.headName}}, v.facts...)
	}
	boxes := layer{mark: rects{}}
	var given []Series
	for _, s := range h.sets {
		given = append(given, s.Series)
	}
	for k, s := range h.sets {
		ink := setInk(given, k)
		if several {
			v.kinds = append(v.kinds, kind{name: v.distinct(s.Name), color: ink, faint: true})
		}
		for i, n := range s.counts {
			top := float64(n)
			if h.logY {
				top = max(math.Log10(top), v.y.lo)
			}
			r := row{x: h.edges[i] + gap, x2: h.edges[i+1] - gap, y: v.y.lo, y2: top, kind: k, color: ink,
				facts: []any{h.value(h.edges[i]), h.value(h.edges[i+1]), n, percent(n, len(s.Values))}}
			if several {
				r.color, r.facts = nil, append([]any{s.Name}, r.facts...)
			}
			if n > 0 || !several {
				boxes.rows = append(boxes.rows, r)
			}
		}
	}
	v.layers = []layer{boxes}
	for _, out := range h.outside() {
		v.signs = append(v.signs, kind{name: fmt.Sprintf("%s (%d)", out.name, out.n), symbol: out.symbol, color: skipInk})
	}
	return v
}
