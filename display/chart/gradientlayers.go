package chart

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// GradientLayer describes the gradient of a parameter in half precision.
type GradientLayer struct {
	Name     string // parameter name, for example "fc1.weight"
	DType    string // dtype that the gradient was computed in; may be empty
	Elements int
	// Counts of elements that are 0 in any dtype, flushed to 0, below the smallest normal number,
	// and inf or NaN; the remaining elements are normal numbers.
	Zeros, Flushed, Subnormal, Infinite int
	Note                                string // short remark, for example "flushed"
}

// GradientLayers shows the gradients of a model, one bar per parameter: the fraction of elements
// that are normal, subnormal, flushed to zero, already zero, inf or NaN.
func GradientLayers(layers []GradientLayer) *Figure {
	if len(layers) == 0 {
		return blank(words.layersNone)
	}
	s := layerSheet{shown: layers[:min(len(layers), layerMost)]}
	f := &Figure{
		theme: Light, sentence: layerSentence(layers), height: keyHeight + layerRow*len(s.shown) + 4, draw: s.draw, twin: s.twin,
		head: []string{words.headParam, words.headDType, words.sweepFlushed, words.layersZero, words.bandSubnormal, words.notFinite, words.headNote},
	}
	for _, l := range layers {
		f.rows = append(f.rows, []any{l.Name, l.DType, percent(l.Flushed, l.Elements-l.Zeros), percent(l.Zeros, l.Elements), percent(l.Subnormal, l.Elements), percent(l.Infinite, l.Elements), l.Note})
	}
	f.rows = cutRows(f.rows, 40)
	f.data = func() (head []string, rows [][]any) {
		for _, l := range layers {
			rows = append(rows, []any{l.Name, l.DType, l.Elements, l.Zeros, l.Flushed, l.Subnormal, l.Infinite, l.Note})
		}
		return []string{words.headParam, words.headDType, words.count, words.layersZero, words.sweepFlushed, words.bandSubnormal, words.notFinite, words.headNote}, rows
	}
	return f
}

func layerSentence(layers []GradientLayer) string {
	worst := layers[0]
	share := func(l GradientLayer) float64 { return float64(l.Flushed) / float64(max(l.Elements-l.Zeros, 1)) }
	for _, l := range layers {
		if share(l) > share(worst) {
			worst = l
		}
	}
	if worst.Flushed == 0 {
		return counted(len(layers), words.layersFineOne, words.layersFine)
	}
	return fmt.Sprintf(words.layersWorst, worst.Name, percent(worst.Flushed, worst.Elements-worst.Zeros))
}

// Dimensions of the chart.
const (
	layerMost = 40 // maximum number of bars
	layerRow  = 20 // height of a bar
)

type layerSheet struct{ shown []GradientLayer }

// parts returns the parts of a bar, from the left.
func (layerSheet) parts(t Theme) []layerPart {
	fill := func(col colour) func(*draw.Canvas, vg.Length, vg.Length, vg.Length, vg.Length) {
		return func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) { c.FillPolygon(col, rectangle(x0, y0, x1, y1)) }
	}
	return []layerPart{
		{words.layersNormal, func(l GradientLayer) int { return l.Elements - l.Zeros - l.Flushed - l.Subnormal - l.Infinite }, fill(t.BFloat16)},
		{words.bandSubnormal, func(l GradientLayer) int { return l.Subnormal }, func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) {
			hatched(c, x0, y0, x1, y1, t.BFloat16)
		}},
		{words.layersZero, func(l GradientLayer) int { return l.Zeros }, fill(t.Grid)},
		{words.sweepFlushed, func(l GradientLayer) int { return l.Flushed }, fill(t.Float16)},
		{words.notFinite, func(l GradientLayer) int { return l.Infinite }, func(c *draw.Canvas, x0, y0, x1, y1 vg.Length) {
			hatched(c, x0, y0, x1, y1, t.Skip)
		}},
	}
}

type layerPart struct {
	name string
	of   func(GradientLayer) int
	look func(c *draw.Canvas, x0, y0, x1, y1 vg.Length)
}

func (s layerSheet) draw(t Theme, c draw.Canvas) {
	var explain []key
	for _, p := range s.parts(t) {
		explain = append(explain, key{func(c *draw.Canvas, at vg.Point, r vg.Length, _ colour) { p.look(c, at.X-r, at.Y-r, at.X+r, at.Y+r) }, t.Text, p.name})
	}
	c = keys(t, c, "", explain)
	name, note := t.style(labelSize, t.Text), t.style(smallSize, t.Neutral)
	name.XAlign = draw.XRight
	var names, notes vg.Length
	for _, l := range s.shown {
		names = max(names, min(name.Width(l.Name), 200))
		notes = max(notes, min(note.Width(l.Note), 90))
	}
	left, right := c.Min.X+names+10, c.Max.X-notes-12
	for i, l := range s.shown {
		mid := c.Max.Y - layerRow*(vg.Length(i)+.5)
		x := left
		for _, p := range s.parts(t) {
			if w := (right - left) * vg.Length(p.of(l)) / vg.Length(max(l.Elements, 1)); w > 0 {
				p.look(&c, x, mid-6, x+w, mid+6)
				x += w
			}
		}
		write(&c, name, vg.Point{X: left - 8, Y: mid}, fit(name, l.Name, names))
		write(&c, note, vg.Point{X: right + 8, Y: mid}, fit(note, l.Note, notes))
	}
}
