package chart

import (
	"fmt"
	"math"
	"slices"
)

// errorRange is how far values may be below and above what is drawn.
type errorRange struct{ below, above []float64 }

// ErrorBars returns the figure with a line at each value that shows its error: that of the first set of data, of the second, and
// so on; nil for a set without. An error is a slice or tensor of n numbers, or of (2, n): the distances below and above. The figure
// is one of [Plot], [Scatter] or [BarPlot].
//
//	chart.Plot(steps, mean, "float16").ErrorBars(std)
//
// It panics for another figure or another number of errors. It is matplotlib.pyplot.errorbar.
func (f *Figure) ErrorBars(errors ...any) *Figure {
	list := f.ranges("ErrorBars", errors)
	return f.change(func(a *axes) { a.errors = list })
}

// Bands returns the figure with a light area around each line that shows its errors, which are those of [Figure.ErrorBars]. It is
// matplotlib.pyplot.fill_between.
func (f *Figure) Bands(errors ...any) *Figure {
	list := f.ranges("Bands", errors)
	return f.change(func(a *axes) { a.bands = list })
}

// ranges returns the errors of each set of data of the figure.
func (f *Figure) ranges(function string, errors []any) []errorRange {
	if f.body == nil { // there is nothing to show
		return nil
	}
	if f.sets == nil {
		refuse(function, "the figure has no sets of values with errors; want one of chart.Plot, chart.Scatter or chart.BarPlot")
	}
	if len(errors) > len(f.sets) {
		refuse(function, "%d errors for %d sets of values; want one for each set", len(errors), len(f.sets))
	}
	list := make([]errorRange, len(f.sets))
	for i, e := range errors {
		if e == nil {
			continue
		}
		n, err := numbersOf(e)
		if err != nil {
			refuse(function, "argument %d: %v; want a slice or tensor of numbers", i+1, err)
		}
		switch want := f.sets[i]; {
		case len(n.shape) == 2 && n.shape[0] == 2 && n.shape[1] == want:
			list[i] = errorRange{n.values[:want], n.values[want:]}
		case len(n.values) == want:
			list[i] = errorRange{n.values, n.values}
		default:
			refuse(function, "argument %d has the shape %s; want (%d) or (2, %[3]d), an error for each value", i+1, shapeText(n.shape), want)
		}
		for _, x := range n.values {
			if x < 0 {
				refuse(function, "argument %d has the error %v; want 0 or more", i+1, x)
			}
		}
	}
	return list
}

// errorColumn is errors of a set of data in a table.
type errorColumn struct {
	name   string
	values []float64
}

// errorColumns returns the errors of set i: a column for those that are as far below as above, and otherwise two.
func (a axes) errorColumns(i int) (list []errorColumn) {
	for _, drawn := range []struct {
		name string
		list []errorRange
	}{{words.headError, a.errors}, {words.headArea, a.bands}} {
		e, ok := errorOf(drawn.list, i)
		switch {
		case !ok:
		case slices.Equal(e.below, e.above):
			list = append(list, errorColumn{drawn.name, e.above})
		default:
			list = append(list, errorColumn{fmt.Sprintf(words.headBelow, drawn.name), e.below}, errorColumn{fmt.Sprintf(words.headAbove, drawn.name), e.above})
		}
	}
	return list
}

// withErrorColumns adds the errors to a table with a row for each value of each set: blocks[i] is the rows of set i.
func (a axes) withErrorColumns(head []string, blocks [][][]any) ([]string, [][]any) {
	first, rows := len(head), [][]any{}
	for i := range blocks {
		for _, c := range a.errorColumns(i) {
			if !slices.Contains(head[first:], c.name) {
				head = append(head, c.name)
			}
		}
	}
	for i, block := range blocks {
		columns := a.errorColumns(i)
		for k, row := range block {
			for _, name := range head[first:] {
				cell := any("")
				if at := slices.IndexFunc(columns, func(c errorColumn) bool { return c.name == name }); at >= 0 {
					cell = columns[at].values[k]
				}
				row = append(row, cell)
			}
			rows = append(rows, row)
		}
	}
	return head, rows
}

// errorOf returns the errors of set i, and reports whether it has any.
func errorOf(list []errorRange, i int) (errorRange, bool) {
	if i >= len(list) || list[i].below == nil {
		return errorRange{}, false
	}
	return list[i], true
}

// caps are the ends of error bars.
var capSymbol = polygon("", corners{{-1, -.18}, {1, -.18}, {1, .18}, {-1, .18}})

// withErrors returns the view with the bands and error bars of its sets. at returns the x, the value and the index of each value that
// is drawn of a set.
func (v view) withErrors(a axes, sets int, at func(set int, each func(x, value float64, i int))) view {
	steps := slices.ContainsFunc(v.layers, layer.isSteps)
	bands, bars, caps := layer{mark: areas{steps: steps}, mute: true}, layer{mark: rules{width: 1}, mute: true}, layer{mark: points{symbol: capSymbol, width: 4}, mute: true}
	y := func(x float64) float64 { return exponent(x, v.y.base) }
	lowest := math.Inf(1) // where a logarithmic axis begins: a bar that reaches 0 goes there
	for i := range sets {
		for _, list := range [][]errorRange{a.errors, a.bands} {
			if e, ok := errorOf(list, i); ok {
				at(i, func(_, value float64, k int) {
					for _, end := range []float64{y(value), y(value - e.below[k])} {
						if finite(end) {
							lowest = min(lowest, end)
						}
					}
				})
			}
		}
	}
	for i := range sets {
		if e, ok := errorOf(a.bands, i); ok {
			at(i, func(x, value float64, k int) {
				lo := y(value - e.below[k])
				if math.IsInf(lo, -1) && finite(value) {
					lo = lowest
				}
				bands.rows = append(bands.rows, row{x: x, y: lo, y2: y(value + e.above[k]), kind: i})
			})
		}
		if e, ok := errorOf(a.errors, i); ok {
			at(i, func(x, value float64, k int) {
				lo, hi := y(value-e.below[k]), y(value+e.above[k])
				if !finite(value) || !finite(hi) || e.below[k] == 0 && e.above[k] == 0 {
					return
				}
				if math.IsInf(lo, -1) {
					lo = lowest
				} else {
					caps.rows = append(caps.rows, row{x: x, y: lo, kind: i})
				}
				bars.rows, caps.rows = append(bars.rows, row{x: x, y: lo, x2: x, y2: hi, kind: i}), append(caps.rows, row{x: x, y: hi, kind: i})
			})
		}
	}
	if len(bands.rows) > 0 {
		v.layers = slices.Insert(v.layers, 0, bands)
	}
	if len(bars.rows) > 0 {
		v.layers = append(v.layers, bars, caps)
	}
	return v
}
