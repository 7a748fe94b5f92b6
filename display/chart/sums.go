package chart

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// RunningSum shows running sums of the same terms, each computed in another way, next to the exact one. ✗
// marks where a sum stops: from there on it no longer changes, although the exact one does. X of a series
// is the number of terms, by default 1, 2, 3 …
func RunningSum(exact Series, sums []Series) *Figure {
	if exact.Name == "" {
		exact.Name = words.sumExact
	}
	v, list := lineView(axes{x: words.sumTerms, y: words.sumAxis}, append([]Series{exact}, sums...), curves{steps: true}, 1)
	if len(list) < 2 || len(list[0].Values) != len(exact.Values) {
		return blank(words.sumNone)
	}
	stops := layer{mark: points{width: 4.5, symbol: cross}}
	var said []string
	var rows [][]any
	for i, s := range list {
		if i == 0 {
			v.kinds[i].color, v.kinds[i].dashes = neutral, []vg.Length{4, 3}
			continue
		}
		name, last, at := v.kinds[i].name, s.Values[len(s.Values)-1], stopped(s.Values, exact.Values)
		text, stop := fmt.Sprintf(words.sumEnds, name, short(last)), words.sumNever
		if at >= 0 {
			stop = short(s.x(at))
			text = fmt.Sprintf(words.sumStops, name, short(last), stop)
			stops.rows = append(stops.rows, row{x: s.x(at), y: place(last, false), kind: i, color: skipInk, facts: []any{name, s.x(at), last}})
		}
		said, rows = append(said, text), append(rows, []any{name, short(s.x(len(s.Values) - 1)), short(last), stop})
	}
	interleave(v.kinds, list)
	if len(stops.rows) > 0 {
		v.layers = append(v.layers, stops)
	}
	n := len(exact.Values) - 1
	f := v.figure(fmt.Sprintf(words.sumOf, short(list[0].x(n)), short(exact.Values[n]), strings.Join(said, words.listAnd)))
	f.head, f.rows = []string{words.headRun, words.sumTerms, words.sumAxis, words.headStop}, rows
	f.data = seriesData(list, words.sumTerms, words.sumAxis)
	return f
}

// interleave gives lines that end within 2 % of the first one, and lie on it, dashes that decrease in the order in which they
// are drawn. All dashes begin where those before begin, so that a part of each line is seen.
func interleave(kinds []kind, list []lineSeries) {
	const dash = 6
	exact := list[0].last
	var near []int
	for i, s := range list {
		if math.Abs(s.last-exact) <= .02*math.Abs(exact) {
			near = append(near, i)
		}
	}
	for k, i := range near {
		kinds[i].dashes = nil
		if k > 0 {
			kinds[i].dashes = []vg.Length{dash * vg.Length(len(near)-k), dash * vg.Length(k)}
		}
	}
}

// stopped returns the index from which on values no longer change, or −1. The exact ones must change further, by more
// than twice the last change: a sum that rounds to large units rests between two changes, too.
func stopped(values, exact []float64) int {
	n := len(values)
	at := n - 1
	for at > 0 && values[at-1] == values[n-1] {
		at--
	}
	change := values[at]
	if at > 0 {
		change -= values[at-1]
	}
	if n > len(exact) || !(math.Abs(exact[n-1]-exact[at]) > 2*math.Abs(change)) {
		return -1
	}
	return at
}

// Residue shows what rounding lost in a sum, added up over the additions, for several orders of the same
// terms: Values holds the exact result of each addition minus the rounded one. A line that goes up means that the
// sum becomes too small. X of a series is the number of terms, by default 1, 2, 3 …
func Residue(orders []Series) *Figure {
	lost := make([]Series, len(orders))
	for i, s := range orders {
		lost[i] = s
		lost[i].Values = make([]float64, len(s.Values))
		sum := 0.
		for k, y := range s.Values {
			sum += y
			lost[i].Values[k] = sum
		}
	}
	v, list := lineView(axes{x: words.sumTerms, y: words.residueAxis}, lost, curves{steps: true}, 1)
	if len(list) == 0 {
		return blank(words.residueNone)
	}
	var said []string
	var rows [][]any
	most := 0
	for i, s := range list {
		last, inexact, worst := s.Values[len(s.Values)-1], 0, 0.
		before := 0.
		for _, y := range s.Values {
			if y != before {
				inexact++
			}
			worst, before = max(worst, math.Abs(y-before)), y
		}
		most = max(most, len(s.Values))
		said = append(said, fmt.Sprintf(words.residueLost, v.kinds[i].name, short(last)))
		rows = append(rows, []any{v.kinds[i].name, len(s.Values), inexact, short(worst), short(last)})
	}
	f := v.figure(fmt.Sprintf(words.residueOf, most, strings.Join(said, words.listAnd)))
	f.head, f.rows = []string{words.headOrder, words.sumTerms, words.headInexact, words.headWorst, words.residueAxis}, rows
	f.data = seriesData(list, words.sumTerms, words.residueAxis)
	return f
}

// Pair is a quantity of two runs, a value for each step.
type Pair struct {
	Name          string
	First, Second []float64
	X             []float64 // position of each value, for example its step; nil: 0, 1, 2 …
}

// Difference shows how far two runs are apart in some quantities, such as the loss and the norm of the
// weights, step by step: the difference as a share of the larger value, on a logarithmic axis. ▼ marks
// steps at which they agree exactly, ▲ those at which only one is finite.
func Difference(first, second string, quantities []Pair) *Figure {
	var apart []Series
	for _, q := range quantities {
		n := min(len(q.First), len(q.Second))
		s := Series{Name: q.Name, X: q.X, Values: make([]float64, n)}
		for i := range n {
			s.Values[i] = difference(q.First[i], q.Second[i])
		}
		apart = append(apart, s)
	}
	v, list := lineView(axes{x: words.step, y: words.differenceAxis, logY: true}, apart, curves{}, 0)
	names := fmt.Sprintf(words.differenceRuns, second, first)
	if len(list) == 0 {
		return blank(fmt.Sprintf(words.differenceNone, names))
	}
	v.lowest = kind{name: words.differenceEqual, color: neutral}
	v.y.lo, v.y.hi = -8, 0
	if at := spanOf(positionsOf(v.layers[0].rows)); at.lo == at.lo {
		v.y.lo, v.y.hi = logLimits(at.lo-.3, at.hi+.3, true)
	}
	var said []string
	var rows [][]any
	for i, s := range list {
		most, from := 0, -1
		for k, y := range s.Values {
			if from < 0 && y != 0 {
				from = k
			}
			if y > s.Values[most] || !finite(y) && finite(s.Values[most]) {
				most = k
			}
		}
		last := s.Values[len(s.Values)-1]
		name := v.kinds[i].name
		if from < 0 {
			said, rows = append(said, fmt.Sprintf(words.differenceSame, name)), append(rows, []any{name, words.sumNever, "0", "", "0"})
			continue
		}
		if finite(s.Values[most]) {
			said = append(said, fmt.Sprintf(words.differenceMost, name, shareOf(s.Values[most]), short(s.x(most)), shareOf(last)))
		} else {
			said = append(said, fmt.Sprintf(words.differenceLost, name, short(s.x(most)), shareOf(last)))
		}
		rows = append(rows, []any{name, short(s.x(from)), short(s.Values[most]), short(s.x(most)), short(last)})
	}
	f := v.figure(fmt.Sprintf(words.differenceIs, names, strings.Join(said, words.listAnd)))
	f.head = []string{words.headName, words.headDiffers, words.headMax, words.headStep, words.headLast}
	f.rows, f.data = rows, seriesData(list, words.step, words.differenceAxis)
	return f
}

// difference returns the distance of two values as a share of the larger magnitude: 0 if they are equal or
// both the same kind of non-finite, ∞ if only one is finite.
func difference(a, b float64) float64 {
	switch {
	case a == b || a != a && b != b:
		return 0
	case !finite(a) || !finite(b):
		return math.Inf(1)
	}
	most := max(math.Abs(a), math.Abs(b))
	return math.Abs(a/most - b/most)
}

// shareOf formats a share that may be far below a percent.
func shareOf(v float64) string {
	switch {
	case v != 0 && v < 1e-4 || !finite(v):
		return short(v)
	case v > 1:
		return short(100*v) + " %"
	}
	return sharePercent(v)
}

func positionsOf(rows []row) (y []float64) {
	for _, r := range rows {
		y = append(y, r.y)
	}
	return y
}
