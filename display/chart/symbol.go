package chart

import (
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type colour = color.Color

// symbol is the form of a point and of an entry of the legend. Symbols are drawn rather than written, so that they look the
// same in every font.
type symbol struct {
	path  string // in the interactive form: one of Vega's symbols by name, or a path in a square from -1 to 1
	lines bool   // it has lines and no inside
	// draw draws it in a picture around p, extending about r to each side.
	draw func(c *draw.Canvas, p vg.Point, r vg.Length, col colour)
}

// The symbols, in a square from −1 to 1 with y upwards.
var (
	dot = &symbol{path: "circle", draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		c.DrawGlyph(draw.GlyphStyle{Color: col, Radius: r, Shape: draw.CircleGlyph{}}, p)
	}}
	square  = polygon("square", corners{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}})
	diamond = polygon("diamond", corners{{-1, 0}, {0, -1}, {1, 0}, {0, 1}})
	up      = polygon("", corners{{-1, -.8}, {1, -.8}, {0, 1}})
	down    = polygon("", corners{{-1, .8}, {1, .8}, {0, -1}})
	dash    = polygon("", corners{{-1, -.25}, {1, -.25}, {1, .25}, {-1, .25}})
	box     = polygon("", corners{{-1, -.55}, {1, -.55}, {1, .55}, {-1, .55}})
	cross   = strokes(1.8, corners{{-1, -1}, {1, 1}}, corners{{-1, 1}, {1, -1}})
	whisker = strokes(1.2, corners{{-1, 0}, {1, 0}}, corners{{-1, -1}, {-1, 1}}, corners{{1, -1}, {1, 1}})
	// hollowDiamond is a line within the edge of a diamond.
	hollowDiamond = &symbol{path: corners{{0, .9}, {.9, 0}, {0, -.9}, {-.9, 0}}.path() + "Z", lines: true, draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		line := corners{{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}}.around(p, r-.5)
		c.StrokeLines(draw.LineStyle{Color: col, Width: 1.2}, line)
	}}
	// faintSquare is a light square within a line.
	faintSquare = &symbol{path: "square", draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		c.FillPolygon(faded(col.(color.NRGBA)), rectangle(p.X-r, p.Y-r, p.X+r, p.Y+r))
		c.StrokeLines(draw.LineStyle{Color: col, Width: .75}, outline(p.X-r, p.Y-r, p.X+r, p.Y+r))
	}}
	// boxed is a square within a neutral line.
	boxed = &symbol{path: "square", draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		c.FillPolygon(col, rectangle(p.X-r, p.Y-r, p.X+r, p.Y+r))
		c.StrokeLines(draw.LineStyle{Color: Light.Neutral, Width: .75}, outline(p.X-r, p.Y-r, p.X+r, p.Y+r))
	}}
)

// sets are the symbols of sets of points that have no names.
var sets = []*symbol{dot, diamond, up, cross, square}

// dashed returns a line as an entry of the legend in a picture.
func dashed(dashes []vg.Length) *symbol {
	return &symbol{draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		c.StrokeLine2(draw.LineStyle{Color: col, Width: 1.8, Dashes: dashes}, p.X-r, p.Y, p.X+r+2, p.Y)
	}}
}

// polygon returns the symbol with the inside of a polygon. name is that of Vega's own symbol of this form, "" for none.
func polygon(name string, at corners) *symbol {
	if name == "" {
		name = at.path() + "Z"
	}
	return &symbol{path: name, draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) { c.FillPolygon(col, at.around(p, r)) }}
}

// strokes returns the symbol of lines of a width.
func strokes(width vg.Length, list ...corners) *symbol {
	s := &symbol{lines: true, draw: func(c *draw.Canvas, p vg.Point, r vg.Length, col colour) {
		var lines [][]vg.Point
		for _, line := range list {
			lines = append(lines, line.around(p, r))
		}
		c.StrokeLines(draw.LineStyle{Color: col, Width: width}, lines...)
	}}
	for _, line := range list {
		s.path += line.path()
	}
	return s
}

// corners are points in a square from −1 to 1 with y upwards.
type corners [][2]float64

// around returns the points for a square around p that extends r to each side.
func (list corners) around(p vg.Point, r vg.Length) (points []vg.Point) {
	for _, at := range list {
		points = append(points, vg.Point{X: p.X + r*vg.Length(at[0]), Y: p.Y + r*vg.Length(at[1])})
	}
	return points
}

// path returns the line through the points as Vega writes it, with y downwards.
func (list corners) path() string {
	text := ""
	for i, at := range list {
		text += map[bool]string{true: "M", false: "L"}[i == 0] + coordinate(at[0]) + "," + coordinate(0-at[1])
	}
	return text
}

// coordinate formats a number of a path, without a zero before the point.
func coordinate(v float64) string {
	return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "0.", ".", 1)
}

func rectangle(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// outline returns the closed line around a rectangle.
func outline(x0, y0, x1, y1 vg.Length) []vg.Point {
	return append(rectangle(x0, y0, x1, y1), vg.Point{X: x0, Y: y0})
}
