package chart

import (
	"fmt"
	"strings"
)

// BarPlot shows values as bars next to each other: names, and one or more lists of values with a value for each name, each
// with a name after it. A table is followed by the names of its columns: the names, and one or more of values.
//
//	chart.BarPlot([]string{"float32", "bfloat16"}, accuracy).ErrorBars(std)
//	chart.BarPlot(names, forward, "forward", backward, "backward")
//	chart.BarPlot(table, "dtype", "mean").ErrorBars(table.Std)
//
// Bars begin at 0. It panics for arguments that cannot be drawn. It is matplotlib.pyplot.bar.
func BarPlot(names any, data ...any) *Figure {
	b := barPlot{}
	switch n := names.(type) {
	case []string:
		b.names = n
		for i, v := range data {
			if _, ok := v.(string); !ok && i+1 < len(data) {
				if _, ok := data[i+1].(string); !ok {
					refuse("BarPlot", "argument %d is a list of values without a name; want a name after each of several lists", i+2)
				}
			}
		}
		series, _ := seriesOf("BarPlot", false, data)
		b.series = series
	case table:
		columns := namesAfter(data)
		if len(columns) < 2 || len(columns) < len(data) {
			refuse("BarPlot", "a table with %d names of columns; want the column of the names and one or more of values, all of %q", len(columns), n.Names())
		}
		divided("BarPlot", n, columns)
		b.names, b.axes.x = n.Texts(columns[0]), columns[0]
		for _, c := range columns[1:] {
			b.series = append(b.series, Series{Name: c, Values: numbersIn("BarPlot", n, c)})
		}
		if len(b.series) == 1 {
			b.axes.y, b.series[0].Name = columns[1], ""
		}
	default:
		refuse("BarPlot", "the names are a value of type %T; want a []string or a table", names)
	}
	for i, s := range b.series {
		if len(s.Values) != len(b.names) {
			refuse("BarPlot", "list %d has %d values for %d names; want one for each", i+1, len(s.Values), len(b.names))
		}
	}
	b.xTicks = namesOf(b.names)
	if len(b.names) == 0 || len(b.series) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "BarPlot"))
	}
	return b.figure()
}

type barPlot struct {
	axes
	names  []string
	series []Series
}

func (b barPlot) figure() *Figure {
	f := b.view().figure(b.sentence())
	f.narrow, f.axes, f.data = true, b.axes, b.all
	f.remake = func(a axes) *Figure {
		changed := b
		changed.axes = a
		return changed.figure()
	}
	for _, s := range b.series {
		f.sets = append(f.sets, len(s.Values))
	}
	return f
}

// all returns a row for each bar.
func (b barPlot) all() (head []string, rows [][]any) {
	head = []string{words.headName, words.headRun, words.headValue}
	if len(b.series) == 1 {
		head = []string{words.headName, words.headValue}
	}
	blocks := make([][][]any, len(b.series))
	for k, s := range b.series {
		for i, value := range s.Values {
			row := []any{b.names[i], s.Name, value}
			if len(b.series) == 1 {
				row = []any{b.names[i], value}
			}
			blocks[k] = append(blocks[k], row)
		}
	}
	return b.withErrorColumns(head, blocks)
}

func (b barPlot) sentence() string {
	var parts []string
	for _, s := range b.series {
		low, high := 0, 0
		for i, v := range s.Values {
			if v < s.Values[low] || s.Values[low] != s.Values[low] {
				low = i
			}
			if v > s.Values[high] || s.Values[high] != s.Values[high] {
				high = i
			}
		}
		name := s.Name
		if name == "" {
			name = capital(words.headValue)
			if b.axes.y != "" {
				name = capital(b.axes.y)
			}
		}
		parts = append(parts, fmt.Sprintf(words.barsOf, name, short(s.Values[low]), b.names[low], short(s.Values[high]), b.names[high]))
	}
	return strings.Join(parts, "; ")
}

// view returns the bars.
func (b barPlot) view() view {
	v := view{x: scale{title: b.axes.x, lo: -.6, hi: float64(len(b.names)) - .4}, y: scale{title: b.axes.y}, height: 205,
		facts: []fact{{"name", words.headName}, {"kind", words.headRun}, {"value", words.headValue}, {"error", words.headError}}}
	if len(b.series) == 1 {
		v.facts = []fact{v.facts[0], v.facts[2], v.facts[3]}
	}
	base := 0.
	if b.logY {
		v.y.base, v.lowest = 10, kind{name: words.notPositive, color: skipInk}
		s := span{}
		for _, set := range b.series {
			for _, x := range set.Values {
				if at := place(x, true); finite(at) {
					s.lo = min(s.lo, at)
				}
			}
		}
		base = s.lo - 1 // bars have no 0 to begin at
	}
	bars, odd := layer{mark: rects{}}, layer{mark: points{}}
	wide := .8 / float64(len(b.series))
	middle := func(set, i int) float64 { return float64(i) - .4 + wide*(float64(set)+.5) }
	for k, s := range b.series {
		v.kinds = append(v.kinds, kind{name: v.distinct(s.Name), color: setInk(b.series, k)})
		for i, value := range s.Values {
			facts := []any{b.names[i], s.Name, value, nil}
			if e, ok := errorOf(b.errors, k); ok {
				facts[3] = e.text(i)
			}
			if len(b.series) == 1 {
				facts = append(facts[:1:1], facts[2:]...)
			}
			r := row{x: middle(k, i) - wide*.47, x2: middle(k, i) + wide*.47, y: base, y2: place(value, b.logY), kind: k, facts: facts}
			if !finite(r.y2) {
				r.x, r.y = middle(k, i), r.y2
				odd.rows = append(odd.rows, r)
				continue
			}
			bars.rows = append(bars.rows, r)
		}
	}
	v.layers = []layer{bars}
	if len(odd.rows) > 0 {
		v.layers = append(v.layers, odd)
	}
	line := layer{mark: rules{width: .75, across: true}, note: true, rows: []row{{x: v.x.lo, x2: v.x.hi, y: base, y2: base, color: neutral}}}
	v.layers = append(v.layers, line)
	v = v.withErrors(b.axes, len(b.series), func(set int, each func(x, value float64, i int)) {
		for i, value := range b.series[set].Values {
			each(middle(set, i), value, i)
		}
	})
	for i, l := range v.layers { // errors are seen on their bars
		if l.mute {
			l.rows = append([]row(nil), l.rows...)
			for k := range l.rows {
				l.rows[k].color = textInk
			}
			v.layers[i] = l
		}
	}
	return v
}

// text returns the error of a value.
func (e errorRange) text(i int) string {
	if e.below[i] == e.above[i] {
		return "± " + short(e.above[i])
	}
	return "+ " + short(e.above[i]) + ", − " + short(e.below[i])
}
