package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// texts are texts at (x, y).
type texts struct {
	align   int       // −1 left of the position, 0 around it, 1 right of it
	gap     vg.Length // between the position and the text
	upright bool      // texts go upwards; those of a side are at the gap from the plot
	lift    vg.Length // height of the text above the position
	side    side      // where they stand on the x axis
	limited bool      // the interactive form cuts a text to the limit of its row
	widest  vg.Length // width of the widest text of rows with a limit; texts without that room are not shown
}

// side is where texts stand on the x axis.
type side int

const (
	inPlot   side = iota // at the x of their rows
	rightOf              // to the right of the plot
	leftOf               // to the left of the plot
	leftEdge             // at the left edge of the plot
)

// asideGap is the gap between the plot and the texts next to it.
const asideGap = 8

func (m texts) traits(layer) traits { return traits{name: "text", aside: m.side != inPlot} }

func (m texts) drawRows(d drawing) {
	style := d.style()
	style.XAlign = [...]text.XAlignment{draw.XRight, draw.XCenter, draw.XLeft}[m.align+1]
	if m.upright {
		style.Rotation = math.Pi / 2
	}
	for _, r := range d.rows {
		if r.text == "" || r.wide > 0 && d.x(r.x+r.wide)-d.x(r.x) < m.widest {
			continue
		}
		at := vg.Point{X: d.x(r.x), Y: d.y(r.y)}
		switch m.side {
		case rightOf:
			at.X = d.c.Max.X + asideGap
		case leftOf:
			if at.X = d.c.Min.X - asideGap; m.upright {
				at.X -= m.gap
			}
		case leftEdge:
			at.X = d.c.Min.X
		}
		at.X += m.gap * vg.Length(m.align)
		at.Y += m.lift
		style.Color = d.ink(r)(d.theme)
		write(d.c, style, at, r.text)
	}
}

func (m texts) spec(u *unit) []object {
	for _, i := range u.kept {
		if r := u.rows[i]; finite(r.x) {
			u.label(r, r.x, r.y, r.wide)
		}
	}
	mark := object{"align": [...]string{"right", "center", "left"}[m.align+1], "dx": float64(m.gap) * float64(m.align)}
	if m.lift != 0 {
		mark["dy"] = -float64(m.lift)
	}
	var more []any
	if m.widest > 0 {
		more = append(more, "opacity", object{"condition": object{"test": fmt.Sprintf("datum.wide > 0 && %s < %v", boxWide, float64(m.widest)), "value": 0}, "value": 1})
	}
	aside := func(x any) {
		mark["clip"] = false
		more = append(more, "x", object{"value": x})
	}
	if m.limited {
		mark["limit"] = object{"expr": boxWide}
	}
	if u.cut && m.side == inPlot {
		mark["clip"] = true
	}
	switch m.side {
	case rightOf:
		aside(object{"expr": fmt.Sprintf("width + %d", asideGap)})
	case leftOf:
		if aside(-asideGap); m.upright {
			aside(-asideGap - float64(m.gap))
			mark["angle"], mark["dx"] = 270, 0
		}
	case leftEdge:
		aside(0)
	}
	return u.texts(mark, u.colors, more...)
}
