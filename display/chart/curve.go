package chart

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is a line that may hold inf and NaN, which plotter.NewLine rejects. The line breaks there,
// and a triangle marks the upper edge, or the lower edge for -inf.
type curve struct {
	x        []float64 // positions; nil: 0, 1, 2 …
	y        []float64
	style    draw.LineStyle
	stairs   bool // y[i] holds from i to i+1
	bad      color.Color
	low      color.Color // of marks at the lower edge; nil: bad
	unmarked bool        // no triangles
}

// at returns the position of y[i].
func (l curve) at(i int) float64 {
	if l.x != nil {
		return l.x[i]
	}
	return float64(i)
}

func orZero(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return v
}

func (l curve) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var line []vg.Point
	flush := func() {
		if len(line) == 1 && !l.stairs {
			c.DrawGlyph(draw.GlyphStyle{Color: l.style.Color, Radius: 2, Shape: draw.CircleGlyph{}}, line[0])
		}
		for _, part := range c.ClipLinesXY(thin(line)) {
			c.StrokeLines(l.style, part)
		}
		line = line[:0]
	}
	last := vg.Length(math.Inf(-1))
	for i, v := range l.y {
		if !finite(l.at(i)) {
			flush()
			continue
		}
		at := vg.Point{X: x(l.at(i))}
		if !finite(v) {
			if n := len(line); n > 0 && l.stairs {
				line = append(line, vg.Point{X: at.X, Y: line[n-1].Y})
			}
			flush()
			if d := at.X - last; l.unmarked || d > -.5 && d < .5 {
				continue
			}
			last = at.X
			if math.IsInf(v, -1) {
				ink := l.low
				if ink == nil {
					ink = l.bad
				}
				down(&c, vg.Point{X: at.X, Y: c.Min.Y + 5}, 4, ink)
			} else {
				up(&c, vg.Point{X: at.X, Y: c.Max.Y - 5}, 4, l.bad)
			}
			continue
		}
		at.Y = y(v)
		if l.stairs && len(line) > 0 {
			line = append(line, vg.Point{X: at.X, Y: line[len(line)-1].Y})
		}
		line = append(line, at)
	}
	flush()
}

// thin keeps the first, lowest, highest and last of the points within each half pixel. The
// picture is the same and the file is small.
func thin(line []vg.Point) []vg.Point {
	const width = .5
	if len(line) < 2*Width || !slices.IsSortedFunc(line, func(a, b vg.Point) int { return cmp.Compare(a.X, b.X) }) {
		return append([]vg.Point(nil), line...)
	}
	var out []vg.Point
	for i := 0; i < len(line); {
		j, lo, hi := i, i, i
		for ; j < len(line) && line[j].X < line[i].X+width; j++ {
			if line[j].Y < line[lo].Y {
				lo = j
			}
			if line[j].Y > line[hi].Y {
				hi = j
			}
		}
		last := -1
		for _, k := range []int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k > last {
				out, last = append(out, line[k]), k
			}
		}
		i = j
	}
	return out
}
