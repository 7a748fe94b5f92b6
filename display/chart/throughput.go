package chart

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Rate is one bar of [Throughput].
type Rate struct {
	Name  string // name of the run
	DType string // dtype that selects the colour, for example "float16"; may be empty
	// Values holds one rate per repetition, in the chart's unit. The bar shows their median, its
	// whisker the minimum and maximum.
	Values    []float64
	Predicted bool   // predicted by a model rather than measured: the bar is hatched
	Note      string // short remark next to the number, for example "emulated on the CPU"
}

// Throughput compares rates in a unit such as "samples/s"; higher is better. The first rate is
// the reference of the ratios.
func Throughput(unit string, rates []Rate) *Figure {
	if len(rates) == 0 {
		return blank(words.rateNone)
	}
	r := rateRun{unit: unit}
	for _, rate := range rates {
		r.bars = append(r.bars, newRateBar(rate))
	}
	head := []string{words.headRun, unit, words.headLow, words.headHigh, words.headRatio, words.headMeasured}
	var rows [][]any
	for _, b := range r.bars {
		measured := words.yes
		if b.Predicted {
			measured = words.no
		}
		rows = append(rows, []any{b.Name, rateText(b.median), rateText(b.low), rateText(b.high), r.ratio(b), measured})
	}
	return &Figure{
		theme: Light, sentence: r.sentence(), height: rateRow*len(r.bars) + r.keyHeight(), draw: r.draw, twin: r.twin,
		head: head, rows: rows, data: r.all,
	}
}

// rateRow is the height of a bar with its gap.
const rateRow = 34

type rateBar struct {
	Rate
	median, low, high float64 // NaN if there is no finite value
}

func newRateBar(r Rate) rateBar {
	var v []float64
	for _, x := range r.Values {
		if finite(x) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return rateBar{r, nan, nan, nan}
	}
	slices.Sort(v)
	n := len(v)
	return rateBar{r, (v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

type rateRun struct {
	unit string
	bars []rateBar
}

func (r rateRun) ratio(b rateBar) string { return ratioLabel(b.median / r.bars[0].median) }

func (r rateRun) sentence() string {
	name := func(b rateBar) string {
		if b.Predicted {
			return fmt.Sprintf(words.ratePredicted, b.Name)
		}
		return b.Name
	}
	first := r.bars[0]
	if len(r.bars) == 1 {
		return fmt.Sprintf(words.rateOne, name(first), rateText(first.median), r.unit)
	}
	var others []string
	for _, b := range r.bars[1:] {
		others = append(others, name(b)+" "+r.ratio(b))
	}
	return fmt.Sprintf(words.rateAgainst, name(first), rateText(first.median), r.unit, strings.Join(others, words.listAnd))
}

func (r rateRun) all() (head []string, rows [][]any) {
	for _, b := range r.bars {
		for i, v := range b.Values {
			rows = append(rows, []any{b.Name, b.DType, i, v, !b.Predicted, b.Note})
		}
	}
	return []string{words.headRun, words.headDType, words.headRepetition, r.unit, words.headMeasured, words.headNote}, rows
}

func (r rateRun) keys(t Theme) (k []key) {
	if slices.ContainsFunc(r.bars, func(b rateBar) bool { return b.Predicted }) {
		k = append(k, key{func(c *draw.Canvas, p vg.Point, s vg.Length, col colour) {
			hatched(c, p.X-s, p.Y-s, p.X+s, p.Y+s, col)
		}, t.Neutral, words.legendHatched})
	}
	if slices.ContainsFunc(r.bars, func(b rateBar) bool { return b.low < b.high }) {
		k = append(k, key{func(c *draw.Canvas, p vg.Point, s vg.Length, col colour) {
			whisker(c, p.X-s, p.X+s, p.Y, col)
		}, t.Text, words.legendRange})
	}
	return k
}

func (r rateRun) keyHeight() int {
	if len(r.keys(Light)) == 0 {
		return 0
	}
	return keyHeight
}

func (r rateRun) draw(t Theme, c draw.Canvas) {
	if k := r.keys(t); len(k) > 0 {
		c = keys(t, c, "", k)
	}
	name, value, note := t.style(labelSize+1, t.Text), t.style(labelSize+1, t.Text), t.style(smallSize, t.Neutral)
	name.XAlign = draw.XRight
	var names, values vg.Length
	top := 0.
	for _, b := range r.bars {
		names = max(names, min(name.Width(b.Name), 180))
		values = max(values, value.Width(r.label(b)), min(note.Width(b.Note), 180))
		if finite(b.high) {
			top = max(top, b.high)
		}
	}
	left, right := c.Min.X+names+10, c.Max.X-values-10
	right = max(right, left+80)
	x := func(v float64) vg.Length {
		if top <= 0 {
			return left
		}
		return left + (right-left)*vg.Length(max(v, 0)/top)
	}
	c.StrokeLine2(draw.LineStyle{Color: t.Neutral, Width: .75}, left, c.Min.Y+2, left, c.Max.Y-2)
	for i, b := range r.bars {
		mid := c.Max.Y - rateRow*(vg.Length(i)+.5)
		d, _ := dtypeOf(b.DType)
		end := left
		if finite(b.median) {
			end = x(b.median)
			if b.Predicted {
				hatched(&c, left, mid-11, max(end, left+1), mid+11, d.color(t))
			} else {
				c.FillPolygon(d.color(t), rectangle(left, mid-11, max(end, left+1), mid+11))
			}
			r.letter(t, &c, d, b, left, end, mid)
			if b.low < b.high {
				whisker(&c, x(b.low), x(b.high), mid, t.Text)
				end = max(end, x(b.high))
			}
		}
		write(&c, name, vg.Point{X: left - 8, Y: mid}, fit(name, b.Name, 180))
		y := mid
		if b.Note != "" {
			y += 6
			write(&c, note, vg.Point{X: end + 8, Y: mid - 7}, fit(note, b.Note, c.Max.X-end-8))
		}
		write(&c, value, vg.Point{X: end + 8, Y: y}, r.label(b))
	}
}

// letter draws the dtype's letter in a bar that has room for it.
func (r rateRun) letter(t Theme, c *draw.Canvas, d dtype, b rateBar, left, end, mid vg.Length) {
	s := t.style(labelSize, t.Background)
	if b.DType == "" || end-left < 30 || b.Predicted {
		return
	}
	write(c, s, vg.Point{X: left + 6, Y: mid}, d.letter)
}

func (r rateRun) label(b rateBar) string {
	if len(r.bars) == 1 || !finite(b.median) {
		return rateText(b.median)
	}
	return rateText(b.median) + "   " + r.ratio(b)
}

func rateText(v float64) string {
	if !finite(v) {
		return words.rateUnknown
	}
	return short(v)
}

func whisker(c *draw.Canvas, from, to, y vg.Length, col colour) {
	s := draw.LineStyle{Color: col, Width: 1.2}
	c.StrokeLines(s, []vg.Point{{X: from, Y: y}, {X: to, Y: y}}, []vg.Point{{X: from, Y: y - 4}, {X: from, Y: y + 4}}, []vg.Point{{X: to, Y: y - 4}, {X: to, Y: y + 4}})
}
