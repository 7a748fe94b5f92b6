package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatRow is a row of a heat map.
type HeatRow struct {
	Name   string
	Values []float64 // shares from 0 to 1, one per column; NaN if unknown
}

// HeatMap shows shares of a quantity such as "flushed to zero" over the steps of a run, one row
// per operation. Darker cells have larger shares, and each row's largest share is printed next to
// it. Each column covers the given number of steps. If there are too many rows, those with the
// largest shares are shown.
func HeatMap(what string, rows []HeatRow, steps int) *Figure {
	h := heatMap{what: what, steps: max(steps, 1)}
	for _, r := range rows {
		if len(r.Values) > 0 {
			h.rows = append(h.rows, heatRow{r, largest(r.Values)})
			h.columns = max(h.columns, len(r.Values))
		}
	}
	title := capital(what)
	if len(h.rows) == 0 {
		return blank(fmt.Sprintf(words.heatNone, title))
	}
	f := &Figure{theme: Light, head: []string{words.headOp, words.headStep, words.headShare}, data: h.all}
	worst := h.rows[0]
	for _, r := range h.rows {
		if r.worst() > worst.worst() {
			worst = r
		}
	}
	f.sentence = fmt.Sprintf(words.heatAll0, title, stepsText(h.columns*h.steps))
	if worst.worst() > 0 {
		f.sentence = fmt.Sprintf(words.heatWorst, title, worst.Name, shareText(worst.worst()), worst.at*h.steps)
	}
	h.keep(heatMost)
	for _, r := range h.rows {
		f.rows = append(f.rows, []any{r.Name, max(r.at, 0) * h.steps, shareText(r.worst())})
	}
	f.height, f.draw, f.twin = keyHeight+heatHeight*len(h.rows)+30, h.draw, h.twin
	return f
}

// Dimensions of a heat map.
const (
	heatMost   = 24 // maximum number of rows
	heatHeight = 16 // height of a row
)

type heatMap struct {
	what    string
	rows    []heatRow
	columns int
	steps   int
}

// heatRow is a row with the index of its largest value, -1 if it has none.
type heatRow struct {
	HeatRow
	at int
}

func (r heatRow) worst() float64 {
	if r.at < 0 {
		return 0
	}
	return r.Values[r.at]
}

// largest returns the first index of the largest value.
func largest(values []float64) int {
	at := -1
	for i, v := range values {
		if v == v && (at < 0 || v > values[at]) {
			at = i
		}
	}
	return at
}

// keep removes all but most rows, dropping those with the smallest values.
func (h *heatMap) keep(most int) {
	if len(h.rows) <= most {
		return
	}
	order := slices.Clone(h.rows)
	slices.SortStableFunc(order, func(a, b heatRow) int { return cmp.Compare(b.worst(), a.worst()) })
	least := order[most-1].worst()
	left := most
	for _, r := range order {
		if r.worst() > least {
			left--
		}
	}
	h.rows = slices.DeleteFunc(slices.Clone(h.rows), func(r heatRow) bool {
		if r.worst() == least && left > 0 {
			left--
			return false
		}
		return r.worst() <= least
	})
}

func (h heatMap) all() (head []string, rows [][]any) {
	for _, r := range h.rows {
		for i, v := range r.Values {
			if v == v {
				rows = append(rows, []any{r.Name, i * h.steps, v})
			}
		}
	}
	return []string{words.headOp, words.headColumn, words.headShare}, rows
}

func (h heatMap) draw(t Theme, c draw.Canvas) {
	box := func(share float64) shape {
		return func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
			c.FillPolygon(h.shade(t, share), rectangle(p.X-r, p.Y-r, p.X+r, p.Y+r))
			c.StrokeLines(draw.LineStyle{Color: t.Grid, Width: .75}, outline(p.X-r, p.Y-r, p.X+r, p.Y+r))
		}
	}
	c = keys(t, c, h.what, []key{{box(0), t.Text, "0 %"}, {box(.01), t.Text, "1 %"}, {box(.1), t.Text, "10 %"}, {box(1), t.Text, "100 %"}, {unknown, t.Grid, words.heatUnknown}})
	name, value := t.style(labelSize, t.Text), t.style(smallSize, t.Neutral)
	var names, values vg.Length
	for _, r := range h.rows {
		names = max(names, min(name.Width(r.Name), 200))
		values = max(values, value.Width(shareText(r.worst())))
	}
	names = max(names, value.Width(words.heatSteps)) // it stands below the names
	left, right := c.Min.X+names+10, c.Max.X-values-10
	width := (right - left) / vg.Length(h.columns)
	y := c.Max.Y
	for _, r := range h.rows {
		y -= heatHeight
		mid := y + heatHeight/2
		write(&c, name, vg.Point{X: c.Min.X, Y: mid}, fit(name, r.Name, names))
		for i, v := range r.Values {
			x := left + width*vg.Length(i)
			if v == v {
				c.FillPolygon(h.shade(t, v), rectangle(x, y+1, x+width+.2, y+heatHeight-1))
			} else {
				c.FillPolygon(t.Grid, rectangle(x, y+heatHeight/2-1, x+width+.2, y+heatHeight/2+1))
			}
		}
		c.StrokeLines(draw.LineStyle{Color: t.Grid, Width: .75}, outline(left, y+1, right, y+heatHeight-1))
		write(&c, value, vg.Point{X: right + 8, Y: mid}, shareText(r.worst()))
	}
	axis := t.style(labelSize, t.Neutral)
	axis.XAlign = draw.XCenter
	for _, tick := range (roundTicks{8, true}).Ticks(0, float64(h.columns*h.steps-1)) {
		x := left + width*(vg.Length(tick.Value)/vg.Length(h.steps)+.5)
		if w := axis.Width(tick.Label) / 2; x+w < c.Max.X {
			write(&c, axis, vg.Point{X: x, Y: y - 10}, tick.Label)
		}
	}
	axis.XAlign = draw.XRight
	write(&c, axis, vg.Point{X: left - 12, Y: y - 10}, words.heatSteps)
}

// unknown marks a cell without data.
func unknown(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.FillPolygon(col, rectangle(p.X-r, p.Y-1, p.X+r, p.Y+1))
}

// shade returns the colour of a share. It is logarithmic, so that one in a thousand is visible.
func (h heatMap) shade(t Theme, share float64) color.NRGBA {
	const least = 1e-4
	if !(share > 0) {
		return t.Background
	}
	p := .12 + .88*min(max(1-math.Log10(share)/math.Log10(least), 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + p*(float64(b)-float64(a))) }
	return color.NRGBA{mix(t.Background.R, t.Skip.R), mix(t.Background.G, t.Skip.G), mix(t.Background.B, t.Skip.B), 255}
}

// shareText formats a share from 0 to 1.
func shareText(v float64) string {
	const parts = 1 << 30
	return percent(int(math.Ceil(min(max(v, 0), 1)*parts)), parts)
}
