package chart

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"halfnote/internal/text"
)

// Sweep describes the effect of every loss scale on the gradients of a run in one format.
type Sweep struct {
	DType  string       // number format
	Shares []ScaleShare // shares at scale 1, 2, 4 …
	// Low and High bound the safe scales; both are 0 if no scale is safe.
	Low, High float64
	Taken     []float64 // scales that the run used
	At        float64   // scale to highlight; 0 if no scale is highlighted
}

// ScaleShare holds the shares of gradients, from 0 to 1, that a scale leaves too small, subnormal
// and too large.
type ScaleShare struct{ Flushed, Subnormal, Overflow float64 }

// ScaleSweep shows the shares over all scales: the flushed share falls from the left, the
// overflowing share rises to the right, and the safe scales are a band between them. Marks below
// the axis show the scales that the run used.
func ScaleSweep(s Sweep) *Figure {
	if len(s.Shares) == 0 {
		return blank(words.gradNone)
	}
	rows := [][]any{}
	for i, at := range s.Shares {
		rows = append(rows, []any{text.Power(2, i), sharePercent(at.Flushed), sharePercent(at.Subnormal), sharePercent(at.Overflow)})
	}
	return &Figure{theme: Light, sentence: s.sentence(), height: 240, draw: s.draw, twin: s.twin,
		head: []string{words.headScale, words.sweepFlushed, words.bandSubnormal, words.sweepOver}, rows: rows, data: s.all}
}

func (s Sweep) sentence() string {
	text := fmt.Sprintf(words.sweepNone, s.DType)
	if s.High > 0 {
		text = fmt.Sprintf(words.sweepSafe, s.DType, scaleText(s.Low), scaleText(s.High))
		if s.High == math.Exp2(float64(len(s.Shares)-1)) {
			text += words.sweepEnd
		}
	}
	if i := math.Log2(s.At); s.At >= 1 && i < float64(len(s.Shares)) {
		at := s.Shares[int(i)]
		text += fmt.Sprintf(words.sweepAt, scaleText(s.At), sharePercent(at.Flushed), sharePercent(at.Subnormal), sharePercent(at.Overflow))
	}
	return text
}

// sharePercent formats a share from 0 to 1.
func sharePercent(v float64) string {
	if !finite(v) {
		return short(v)
	}
	n := int(min(max(v, 0), 1) * 1e9)
	if v > 0 && n == 0 {
		n = 1
	}
	return percent(n, 1e9)
}

func (s Sweep) all() (head []string, rows [][]any) {
	for i, at := range s.Shares {
		rows = append(rows, []any{math.Exp2(float64(i)), at.Flushed, at.Subnormal, at.Overflow})
	}
	return []string{words.headScale, words.sweepFlushed, words.bandSubnormal, words.sweepOver}, rows
}

func (s Sweep) draw(t Theme, c draw.Canvas) {
	lines := []struct {
		name   string
		of     func(ScaleShare) float64
		color  colour
		dashes []vg.Length
	}{
		{words.sweepFlushed, func(x ScaleShare) float64 { return x.Flushed }, t.Float16, nil},
		{words.bandSubnormal, func(x ScaleShare) float64 { return x.Subnormal }, t.Promote, []vg.Length{6, 3}},
		{words.sweepOver, func(x ScaleShare) float64 { return x.Overflow }, t.Skip, []vg.Length{2, 2}},
	}
	var explain []key
	for _, l := range lines {
		explain = append(explain, key{dashed(l.dashes), l.color, l.name})
	}
	if len(s.Taken) > 0 {
		explain = append(explain, key{up, t.Float32, words.sweepTaken})
	}
	c = keys(t, c, words.sweepAxis, explain)
	p := t.plot()
	p.X.Label.Text = words.scale
	p.X.Tick.Marker = powerTicks{2}
	if s.Low > 0 && s.High >= s.Low && finite(s.High) {
		style := t.style(smallSize, t.Text)
		p.Add(band{math.Log2(s.Low) - .5, math.Log2(s.High) + .5, t.Normal, words.sweepBand, style})
	}
	for _, l := range lines {
		y := make([]float64, len(s.Shares))
		for i, at := range s.Shares {
			if y[i] = l.of(at); finite(y[i]) {
				y[i] = 100 * min(max(y[i], 0), 1)
			}
		}
		p.Add(curve{y: y, style: draw.LineStyle{Color: l.color, Width: 1.8, Dashes: l.dashes}, bad: t.Skip})
	}
	taken := slices.Clone(s.Taken)
	slices.Sort(taken)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -.5, float64(len(s.Shares))-.5, 0, 112 // room for the band's name
	p.Add(feet{slices.Compact(taken), t.Float32})
	if s.At > 0 {
		p.Add(upright{math.Log2(s.At), draw.LineStyle{Color: t.Text, Width: 1}})
	}
	p.Draw(c)
}

// dashed returns a line as the shape of a legend entry.
func dashed(dashes []vg.Length) shape {
	return func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.8, Dashes: dashes}, p.X-r, p.Y, p.X+r+2, p.Y)
	}
}

// feet draws marks for scales at the lower edge.
type feet struct {
	at    []float64
	color colour
}

func (f feet) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, v := range f.at {
		if e := math.Log2(v); e >= p.X.Min && e <= p.X.Max {
			up(&c, vg.Point{X: x(e), Y: c.Min.Y + 4}, 4, f.color)
		}
	}
}

// upright draws a vertical line.
type upright struct {
	at    float64
	style draw.LineStyle
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	if u.at >= p.X.Min && u.at <= p.X.Max {
		c.StrokeLine2(u.style, x(u.at), c.Min.Y, x(u.at), c.Max.Y)
	}
}
