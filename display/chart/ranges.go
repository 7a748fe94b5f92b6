package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// ValueRange is the range of magnitudes of a result, over its finite nonzero elements.
type ValueRange struct {
	Name     string
	DType    string
	Min, Max float64 // magnitudes; NaN if there is no such element
	Bad      bool    // true if some elements are inf or NaN
}

// Ranges shows the magnitudes of results as bars over float16's range: lost below 2⁻²⁵, less
// exact below 2⁻¹⁴, infinite from 65520. ✗ marks results with inf or NaN. If there are too many,
// those that exceed float16's normal range most are shown.
func Ranges(list []ValueRange) *Figure {
	if len(list) == 0 {
		return blank(words.rangeNone)
	}
	below, above := 0, 0
	for _, r := range list {
		if r.Min < 0x1p-14 {
			below++
		}
		if r.Max >= 65520 || r.Bad {
			above++
		}
	}
	f := &Figure{theme: Light, sentence: fmt.Sprintf(words.rangeInside, resultsText(len(list))), head: []string{words.headOp, words.headDType, words.headSmallest, words.headLargest, words.notFinite}}
	choose := func(n int, one, many string) string {
		if n == 1 {
			return one
		}
		return many
	}
	switch {
	case above > 0:
		f.sentence = fmt.Sprintf(choose(above, words.rangeAboveOne, words.rangeAbove), above, resultsText(len(list)))
		if below > 0 {
			f.sentence += words.listAnd + fmt.Sprintf(choose(below, words.rangeAlsoOne, words.rangeAlso), below)
		}
	case below > 0:
		f.sentence = fmt.Sprintf(choose(below, words.rangeBelowOne, words.rangeBelow), below, resultsText(len(list)))
	}
	var all [][]any
	for _, r := range list {
		bad := words.no
		if r.Bad {
			bad = words.yes
		}
		f.rows = append(f.rows, []any{r.Name, r.DType, sizeText(r.Min), sizeText(r.Max), bad})
		all = append(all, []any{r.Name, r.DType, r.Min, r.Max, r.Bad})
	}
	f.data = func() ([]string, [][]any) { return f.head, all }
	f.rows = cutRows(f.rows, 40)
	g := rangeView(farthest(list, rangeMost)).figure(f.sentence)
	g.head, g.rows, g.data = f.head, f.rows, f.data
	return g
}

// Dimensions of a chart of ranges.
const (
	rangeMost = 28 // maximum number of bars
	rangeRow  = 15 // height of a bar
)

// farthest returns at most most elements of list, in its order: those that exceed float16's
// normal range most.
func farthest(list []ValueRange, most int) []ValueRange {
	if len(list) <= most {
		return list
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	out := func(r ValueRange) float64 {
		far := max(-14-math.Log2(r.Min), math.Log2(r.Max)-16)
		if r.Bad || far != far {
			far = 1e9
		}
		return far
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(out(list[b]), out(list[a])) })
	order = order[:most]
	slices.Sort(order)
	var kept []ValueRange
	for _, i := range order {
		kept = append(kept, list[i])
	}
	return kept
}

func resultsText(n int) string {
	return counted(n, words.rangeOne, words.rangeMany)
}

func sizeText(v float64) string {
	if v != v {
		return "–"
	}
	return short(v)
}

// rangeView returns the bars over the bands of float16, with the letters of their dtypes.
func rangeView(list []ValueRange) view {
	bottom := float64(len(list)) - .5
	v := view{x: scale{title: words.gradAxis, base: 2, lo: gradLo, hi: gradHi + 1}, y: scale{lo: -2}, height: rangeRow*len(list) + rangeRow*3/2,
		facts: []fact{{"name", words.headOp}, {"dtype", words.headDType}, {"smallest", words.headSmallest}, {"largest", words.headLargest}, {"bad", words.notFinite}}}
	bars, letters := layer{mark: rects{}}, layer{mark: texts{gap: 4, align: 1}, small: true}
	left := layer{mark: texts{gap: 4, align: -1}, small: true}
	bad := layer{mark: points{symbol: cross, width: 4}}
	var names []string
	for _, r := range list {
		names = append(names, r.DType)
	}
	kinds, at := kindsOf(names)
	v.kinds = kinds
	for i, r := range list {
		y, infinite := float64(i), words.no
		if v.y.names = append(v.y.names, r.Name); r.Bad {
			infinite = words.yes
		}
		facts := []any{r.Name, r.DType, r.Min, r.Max, infinite}
		if r.Min >= 0 && r.Max >= r.Min {
			place := func(v float64) float64 { return min(max(exponent(v, 2), gradLo), gradHi+1) }
			from, to := place(r.Min), place(r.Max)
			bars.rows = append(bars.rows, row{x: from - .1, x2: to + .1, y: y - .27, y2: y + .27, kind: at[i], facts: facts})
			d, _ := dtypeOf(r.DType)
			if letter := (row{x: to, y: y, kind: at[i], color: textInk, text: d.letter}); to < gradHi-2 {
				letters.rows = append(letters.rows, letter)
			} else if letter.x = from; from > gradLo+3 {
				left.rows = append(left.rows, letter)
			}
		}
		if r.Bad {
			bad.rows = append(bad.rows, row{x: gradHi + .4, y: y, color: skipInk, facts: facts})
		}
	}
	v.layers = []layer{formatBands(-1.9, bottom), bars, letters, left, bad}
	if len(bad.rows) > 0 {
		v.signs = []kind{{name: words.notFinite, symbol: cross, color: skipInk}}
	}
	return v
}
