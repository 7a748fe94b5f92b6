package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	s := rangeSheet(farthest(list, rangeMost))
	f.height, f.draw, f.twin = rangeRow*len(s)+54, s.draw, s.twin
	return f
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

type rangeSheet []ValueRange

func (s rangeSheet) draw(t Theme, c draw.Canvas) {
	name := t.style(labelSize, t.Text)
	var names vg.Length
	for _, r := range s {
		names = max(names, min(name.Width(r.Name), 200))
	}
	letter := t.style(smallSize, t.Text)
	letter.XAlign = draw.XRight
	left, right := c.Min.X+names+30, c.Max.X-14
	top, bottom := c.Max.Y-18, c.Max.Y-18-rangeRow*vg.Length(len(s))
	x := func(e float64) vg.Length {
		return left + (right-left)*vg.Length((min(max(e, gradLo), gradHi+1)-gradLo)/(gradHi+1-gradLo))
	}
	head := t.style(smallSize, t.Text)
	head.XAlign = draw.XCenter
	over := math.Log2(65520)
	for _, b := range []struct {
		from, to float64
		fill     colour
		name     string
	}{{gradLo, -25, t.Lost, words.bandLost}, {-25, -14, t.Subnormal, words.bandSubnormal}, {-14, over, t.Normal, words.bandNormal}, {over, gradHi + 1, t.Infinite, words.bandInfinite}} {
		c.FillPolygon(b.fill, rectangle(x(b.from), bottom, x(b.to), top))
		write(&c, head, vg.Point{X: (x(b.from) + x(b.to)) / 2, Y: top + 8}, fit(head, b.name, x(b.to)-x(b.from)))
	}
	y := top
	for _, r := range s {
		y -= rangeRow
		mid := y + rangeRow/2.
		write(&c, name, vg.Point{X: c.Min.X, Y: mid}, fit(name, r.Name, names))
		d, _ := dtypeOf(r.DType)
		letter.Color = d.color(t)
		write(&c, letter, vg.Point{X: left - 10, Y: mid}, d.letter)
		if r.Min >= 0 && r.Max >= r.Min {
			from, to := x(math.Log2(r.Min)), x(math.Log2(r.Max))
			c.FillPolygon(d.color(t), rectangle(from-1, mid-4, max(to, from)+1, mid+4))
		}
		if r.Bad {
			cross(&c, vg.Point{X: right - 6, Y: mid}, 4, t.Skip)
		}
	}
	axis := t.style(labelSize, t.Neutral)
	axis.XAlign = draw.XCenter
	for _, tick := range (powerTicks{2}).Ticks(gradLo, gradHi+1) {
		write(&c, axis, vg.Point{X: x(tick.Value), Y: bottom - 9}, tick.Label)
	}
	write(&c, axis, vg.Point{X: (left + right) / 2, Y: bottom - 24}, words.gradAxis)
}
