package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
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
	worst := h.rows[0]
	for _, r := range h.rows {
		if r.worst() > worst.worst() {
			worst = r
		}
	}
	sentence := fmt.Sprintf(words.heatAll0, title, stepsText(h.columns*h.steps))
	if worst.worst() > 0 {
		sentence = fmt.Sprintf(words.heatWorst, title, worst.Name, shareText(worst.worst()), worst.at*h.steps)
	}
	h.keep(heatMost)
	f := h.view().figure(sentence)
	f.head, f.rows, f.data = []string{words.headOp, words.headStep, words.headShare}, nil, h.all
	for _, r := range h.rows {
		f.rows = append(f.rows, []any{r.Name, max(r.at, 0) * h.steps, shareText(r.worst())})
	}
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

// view returns the cells. Of many columns, neighbours are shown as one, with their largest value.
func (h heatMap) view() view {
	v := view{x: scale{title: words.heatSteps, lo: -.5, hi: float64(h.columns*h.steps) - .5, whole: true}, y: scale{title: h.what}, height: heatHeight * len(h.rows), zoom: []string{"x"},
		facts: []fact{{"name", words.headOp}, {"from", words.headColumn}, {"share", words.headShare}}, formats: map[string]string{"share": ".4~%"}}
	merge := (len(h.rows)*h.columns + mostPoints - 1) / mostPoints
	if merge > 1 {
		v.points = len(h.rows) * h.columns
	}
	cells, worst := layer{mark: rects{}}, layer{mark: texts{align: 1, side: rightOf}, small: true}
	lines := layer{mark: rules{width: .75}}
	style := Light.style(smallSize, Light.Text)
	for i, r := range h.rows {
		v.y.names = append(v.y.names, r.Name)
		y := float64(i)
		for from := 0; from < len(r.Values); from += merge {
			to := min(from+merge, len(r.Values))
			share := nan
			if at := largest(r.Values[from:to]); at >= 0 {
				share = r.Values[from+at]
			}
			cell := row{x: float64(from*h.steps) - .5, x2: float64(to*h.steps) - .5, y: y - .44, y2: y + .44, facts: []any{r.Name, from * h.steps, share},
				color: func(t Theme) color.NRGBA { return h.shade(t, share) }}
			if share != share {
				cell.y, cell.y2, cell.color, cell.facts = y-.06, y+.06, gridInk, []any{r.Name, from * h.steps, nil}
			}
			cells.rows = append(cells.rows, cell)
		}
		text := shareText(r.worst())
		worst.rows = append(worst.rows, row{y: y, color: neutral, text: text})
		v.right = max(v.right, style.Width(text)+asideGap+4)
		for _, edge := range []float64{y - .44, y + .44} {
			lines.rows = append(lines.rows, row{x: -.5, x2: v.x.hi, y: edge, y2: edge, color: gridInk})
		}
	}
	for _, share := range []float64{0, .01, .1, 1} {
		v.signs = append(v.signs, kind{name: percent(int(share*100), 100), symbol: boxed, color: func(t Theme) color.NRGBA { return h.shade(t, share) }, line: gridInk})
	}
	v.signs = append(v.signs, kind{name: words.heatUnknown, symbol: dash, color: gridInk})
	v.layers = []layer{cells, lines, worst}
	return v
}

// shade returns the colour of a share. It is logarithmic, so that one in a thousand is visible.
func (h heatMap) shade(t Theme, share float64) color.NRGBA {
	const decades = 4 // smaller shares have the lightest colour
	if !(share > 0) {
		return color.NRGBA{}
	}
	p := .12 + .88*min(max(1+math.Log10(share)/decades, 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + p*(float64(b)-float64(a))) }
	return color.NRGBA{mix(t.Background.R, t.Skip.R), mix(t.Background.G, t.Skip.G), mix(t.Background.B, t.Skip.B), 255}
}

// shareText formats a share from 0 to 1.
func shareText(v float64) string {
	const parts = 1 << 30
	return percent(int(math.Ceil(min(max(v, 0), 1)*parts)), parts)
}
