package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Roof is a device's peak rate in a dtype.
type Roof struct {
	DType string
	Rate  float64 // peak rate in FLOP/s
}

// RoofPoint is a measured operation.
type RoofPoint struct {
	Name, DType  string
	FLOPs, Bytes float64
	Seconds      float64
	Bound        string // "compute", "memory" or "launch"
}

// Roofline shows operations below the roofs of a device with a bandwidth in bytes per second:
// their FLOP per byte and their rate (S. Williams and others, "Roofline: an insightful visual
// performance model", 2009). Left of a roof's edge an operation is bound by memory, right of it
// by arithmetic; one below both is bound by something else. The area of a dot grows with its
// share of the time.
func Roofline(device string, bandwidth float64, roofs []Roof, points []RoofPoint) *Figure {
	r := roofline{bandwidth: bandwidth}
	for _, p := range points {
		if positive(p.FLOPs/p.Bytes) && positive(p.FLOPs/p.Seconds) && positive(p.Seconds) {
			r.points = append(r.points, p)
			r.seconds += p.Seconds
		}
	}
	for _, f := range roofs {
		if positive(f.Rate) && positive(f.Rate/bandwidth) && !slices.ContainsFunc(r.roofs, func(g Roof) bool { return g.Rate == f.Rate }) {
			r.roofs = append(r.roofs, f)
		}
	}
	if len(r.points) == 0 || len(r.roofs) == 0 || !positive(bandwidth) {
		return blank(fmt.Sprintf(words.roofNone, device))
	}
	slices.SortFunc(r.roofs, func(a, b Roof) int { return cmp.Compare(a.Rate, b.Rate) })
	f := &Figure{
		theme: Light, sentence: fmt.Sprintf(words.roofBound, device, r.bounds()), height: 260, draw: r.draw, twin: r.twin,
		head: []string{words.headOp, words.headDType, words.headFLOPs, words.headBytes, words.headSeconds, words.headBound},
	}
	for _, p := range r.points {
		f.rows = append(f.rows, []any{p.Name, p.DType, p.FLOPs, p.Bytes, p.Seconds, p.Bound})
	}
	all := f.rows
	f.data = func() ([]string, [][]any) { return f.head, all }
	f.rows = cutRows(f.rows, 40)
	return f
}

// positive reports whether the logarithms of x, and of sums with other such numbers, are finite.
func positive(x float64) bool { return x > 1e-150 && x < 1e150 }

type roofline struct {
	bandwidth float64
	roofs     []Roof
	points    []RoofPoint
	seconds   float64
}

// bounds states the share of time of each bound.
func (r roofline) bounds() string {
	var names []string
	time := map[string]float64{}
	for _, p := range r.points {
		if time[p.Bound] == 0 {
			names = append(names, p.Bound)
		}
		time[p.Bound] += p.Seconds
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(time[b], time[a]) })
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %s", shareText(time[n]/r.seconds), n)
	}
	return strings.Join(names, words.listAnd)
}

func (r roofline) draw(t Theme, c draw.Canvas) {
	var entries []key
	seen := map[string]bool{}
	for _, p := range r.points {
		if d, _ := dtypeOf(p.DType); !seen[p.DType] {
			seen[p.DType] = true
			entries = append(entries, key{pointOf(p.DType), d.color(t), p.DType})
		}
	}
	c = keys(t, c, words.roofRate, entries)
	p := t.plot()
	p.X.Label.Text = words.roofIntensity
	p.X.Tick.Marker, p.Y.Tick.Marker = powerTicks{2}, powerTicks{10}
	top := r.roofs[len(r.roofs)-1].Rate
	p.X.Min, p.X.Max = -4, math.Log2(top/r.bandwidth)+3
	p.Y.Min, p.Y.Max = math.Inf(1), math.Log10(top)+.2
	for _, q := range r.points {
		x := math.Log2(q.FLOPs / q.Bytes)
		p.X.Min, p.X.Max = min(p.X.Min, x-1), max(p.X.Max, x+1)
		p.Y.Min = min(p.Y.Min, math.Log10(q.FLOPs/q.Seconds)-.4)
		p.Y.Max = max(p.Y.Max, math.Log10(q.FLOPs/q.Seconds)+.2)
	}
	p.Y.Min = min(p.Y.Min, math.Log10(r.roofs[0].Rate)-1.5)
	label := t.style(labelSize, t.Text)
	var room vg.Length
	for _, f := range r.roofs {
		room = max(room, label.Width(f.DType))
	}
	c = draw.Crop(c, 0, -room-12, 0, 0)
	p.Add(r.lines(t), dots{r, t})
	p.Draw(c)
	inner := p.DataCanvas(c)
	_, y := p.Transforms(&inner)
	var tags []tag
	for _, f := range r.roofs {
		d, _ := dtypeOf(f.DType)
		style := label
		style.Color = d.color(t)
		tags = append(tags, tag{y(math.Log10(f.Rate)), f.DType, style})
	}
	spread(tags, labelSize+3, inner.Min.Y, inner.Max.Y)
	for _, g := range tags {
		write(&c, g.style, vg.Point{X: inner.Max.X + 8, Y: g.y}, g.text)
	}
}

// pointOf returns the shape for operations of a dtype.
func pointOf(dtype string) shape {
	if dtype == "float32" || dtype == "float64" {
		return dot
	}
	return diamond
}

func dot(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
	c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: r, Shape: draw.CircleGlyph{}}, p)
}

// roofLines draws the roofs: a slope, and a level for each dtype.
type roofLines struct {
	roofline
	theme Theme
}

func (r roofline) lines(t Theme) roofLines { return roofLines{r, t} }

func (l roofLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	edge := func(rate float64) float64 { return math.Log2(rate / l.bandwidth) }
	top := l.roofs[len(l.roofs)-1].Rate
	slope := []vg.Point{{X: x(p.X.Min), Y: y(math.Log10(l.bandwidth) + p.X.Min*math.Log10(2))}, {X: x(edge(top)), Y: y(math.Log10(top))}}
	for _, part := range c.ClipLinesXY(slope) {
		c.StrokeLines(draw.LineStyle{Color: l.theme.Neutral, Width: 1.5}, part)
	}
	for _, f := range l.roofs {
		d, _ := dtypeOf(f.DType)
		level := []vg.Point{{X: x(edge(f.Rate)), Y: y(math.Log10(f.Rate))}, {X: x(p.X.Max), Y: y(math.Log10(f.Rate))}}
		for _, part := range c.ClipLinesXY(level) {
			c.StrokeLines(draw.LineStyle{Color: d.color(l.theme), Width: 1.5, Dashes: d.dashes}, part)
		}
	}
}

// dots draws the operations.
type dots struct {
	roofline
	theme Theme
}

func (d dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, q := range d.points {
		look, _ := dtypeOf(q.DType)
		r := 2 + 7*vg.Length(math.Sqrt(q.Seconds/d.seconds))
		pointOf(q.DType)(&c, vg.Point{X: x(math.Log2(q.FLOPs / q.Bytes)), Y: y(math.Log10(q.FLOPs / q.Seconds))}, r, look.color(d.theme))
	}
}
