package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Theme is a set of colours. Those of text and data have a contrast of at least 4.5:1 with
// Background (WCAG 2, success criterion 1.4.3).
type Theme struct {
	Background, Text  color.NRGBA
	Neutral           color.NRGBA // axes, secondary text, dtypes without a colour
	Grid              color.NRGBA // decoration; contrast is not guaranteed
	Float32, Float16  color.NRGBA
	BFloat16, Promote color.NRGBA
	Skip              color.NRGBA // overflow, and steps skipped because of it
	Lost, Subnormal   color.NRGBA // translucent bands of float16's range
	Normal, Infinite  color.NRGBA
}

// The themes. A kernel does not know its front end's theme: Light, a card with its own
// background, is legible on both.
var (
	Light = Theme{
		Background: hex(0xffffff), Text: hex(0x1f2328), Neutral: hex(0x6b7280), Grid: hex(0xe3e6ea),
		Float32: hex(0x1072d2), Float16: hex(0xc2410c), BFloat16: hex(0x007a5a), Promote: hex(0x8a5a9e),
		Skip: hex(0xb00020),
		Lost: rgba(0xd55e00, 50), Subnormal: rgba(0xe69f00, 45), Normal: rgba(0x009e73, 32), Infinite: rgba(0xb00020, 45),
	}
	Dark = Theme{
		Background: hex(0x111111), Text: hex(0xe6e6e6), Neutral: hex(0x9ca3af), Grid: hex(0x333333),
		Float32: hex(0x5c9eff), Float16: hex(0xff9e5e), BFloat16: hex(0x3ccb98), Promote: hex(0xc9a0dc),
		Skip: hex(0xff7b8a),
		Lost: rgba(0xd55e00, 90), Subnormal: rgba(0xe69f00, 75), Normal: rgba(0x009e73, 70), Infinite: rgba(0xff7b8a, 80),
	}
)

func hex(rgb uint32) color.NRGBA { return rgba(rgb, 255) }

func rgba(rgb uint32, alpha uint8) color.NRGBA {
	return color.NRGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), alpha}
}

// Text sizes.
const (
	titleSize = 13
	labelSize = 11
	smallSize = 11
)

func (t Theme) style(size vg.Length, c color.Color) text.Style {
	return text.Style{Color: c, Font: font.From(face, size), Handler: plot.DefaultTextHandler}
}

// plot returns an empty plot in the theme's colours: a bare x axis, horizontal grid lines instead
// of a y axis, and no title, because the figure has one.
func (t Theme) plot() *plot.Plot {
	p := t.bare()
	p.Add(grid{draw.LineStyle{Color: t.Grid, Width: 1}})
	return p
}

// bare returns the same without grid lines.
func (t Theme) bare() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = t.Background
	for _, s := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		s.Color = t.Neutral
		s.Font = font.From(face, labelSize)
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle.Color, a.Tick.LineStyle.Color = t.Neutral, t.Neutral
		a.LineStyle.Width, a.Tick.LineStyle.Width = .75, .75
		a.Tick.Length = 4
		a.Label.Padding = 3
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{8, true}, roundTicks{5, false}
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	return p
}

// write centres the digits and capitals of txt on p.Y. draw.YCenter does not: it includes the
// descenders.
func write(c *draw.Canvas, s text.Style, p vg.Point, txt string) {
	s.YAlign = draw.YCenter
	p.Y += s.Font.Size * .11
	c.FillText(s, p, printable(txt))
}
