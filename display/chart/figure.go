package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"halfnote/display"
)

// Width is the width of every figure in CSS pixels.
const Width = 640

// margin is the empty border of a figure.
const margin = 14

// Figure is an immutable chart; With, Title, XLabel and the like return a changed copy. It is displayed as the last
// expression of a cell, or by display.Show.
type Figure struct {
	theme       Theme
	chosen      bool // theme set by With
	pinned      bool // theme is the session's; the interactive form does not follow the front end
	auto        bool // theme follows the reader's system
	sentence    string
	heading     string // title given by Title
	untitled    bool   // no title without a heading
	narrow      bool   // can be drawn in a part of the width
	axes        axes
	remake      func(axes) *Figure // returns the figure with other axes; nil if it has none
	sets        []int              // number of values of each set of data that can have errors
	lines       bool               // its sets are lines
	height      int                // height of the drawing below the title, in CSS pixels
	body        body               // the drawing; nil for a chart without data
	head        []string           // header of the summary table
	rows        [][]any
	data        func() (head []string, rows [][]any) // all data; if nil, head and rows are all the data
	grid        *grid2                               // figures of a grid
	interactive bool                                 // shown in its interactive form
	formChosen  bool                                 // form set by Interactive or Picture
}

// body is what a figure shows below its title.
type body interface {
	// drawOn draws the picture on the whole of a canvas.
	drawOn(t Theme, c draw.Canvas)
	// spec returns the interactive form with about most points.
	spec(most int) spec
}

// fitted is a view that depends on the room for it.
type fitted func(room) view

// room is the room for a chart.
type room struct {
	size   vg.Point // of the picture
	points int      // of the interactive form, about; 0 for a picture
}

func (f fitted) drawOn(t Theme, c draw.Canvas) { f(room{size: c.Size()}).drawOn(t, c) }
func (f fitted) spec(most int) spec            { return f(room{points: most}).spec(most) }

// With returns the figure in another theme.
func (f *Figure) With(t Theme) *Figure {
	g := *f
	g.theme, g.chosen, g.auto = t, true, false
	return &g
}

// String returns the sentence that states what the figure shows, or the title given by [Figure.Title].
func (f *Figure) String() string {
	switch {
	case f.heading == "":
		return printable(f.sentence)
	case f.untitled:
		return printable(f.heading + ": " + f.sentence)
	}
	return printable(f.heading)
}

// Alt returns the figure's alt text, which is the sentence.
func (f *Figure) Alt() string { return f.String() }

// Table returns a summary of the figure's numbers as a table.
func (f *Figure) Table() display.Bundle { return display.Table(f.head, f.rows) }

// Size returns the figure's width and height in CSS pixels.
func (f *Figure) Size() (width, height int) {
	return Width, f.drawing() + 2*margin + int(f.titleHeight())
}

// drawing returns the height of the drawing below the title.
func (f *Figure) drawing() int { return f.height + f.axes.slant() }

// titleText returns the title above the drawing, "" for none.
func (f *Figure) titleText() string {
	if f.untitled {
		return printable(f.heading)
	}
	return f.String()
}

func (f *Figure) title() []string {
	if f.untitled && f.heading == "" {
		return nil
	}
	return wrap(f.theme.style(titleSize, f.theme.Text), f.titleText(), Width-2*margin)
}

func (f *Figure) titleHeight() vg.Length {
	if n := len(f.title()); n > 0 {
		return vg.Length(n)*titleSize*1.35 + 8
	}
	return 0
}

// paint fills the whole canvas: plot would leave the border transparent.
func (f *Figure) paint(c draw.Canvas) {
	c.FillPolygon(f.theme.Background, rectangle(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
	s := f.theme.style(titleSize, f.theme.Text)
	y := c.Max.Y - margin
	for _, line := range f.title() {
		c.FillText(s, vg.Point{X: c.Min.X + margin, Y: y - titleSize}, line)
		y -= titleSize * 1.35
	}
	f.draw(f.theme, draw.Crop(c, margin, -margin, margin, -margin-f.titleHeight()))
}

// draw draws the picture below the title.
func (f *Figure) draw(t Theme, c draw.Canvas) {
	if f.body != nil {
		f.dressed().drawOn(t, c)
		return
	}
	s := t.style(labelSize, t.Neutral)
	s.XAlign = draw.XCenter
	c.StrokeLines(draw.LineStyle{Color: t.Grid, Width: 1}, outline(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
	write(&c, s, c.Center(), words.empty)
}

var (
	svgStart = regexp.MustCompile(`(?s)<svg width="([0-9.]+)pt" height="([0-9.]+)pt"([^>]*)>`)
	svgFont  = "font-family:DejaVu Sans"
)

// SVG returns the figure as a standalone file. It does not embed fonts, which would add half a
// megabyte; it names fallback fonts of similar width.
func (f *Figure) SVG() []byte {
	if f.auto {
		return f.both()
	}
	w, h := f.Size()
	c := vgsvg.New(vg.Length(w), vg.Length(h))
	f.paint(draw.New(c))
	var b bytes.Buffer
	c.WriteTo(&b) // a bytes.Buffer returns no error
	label := html.EscapeString(f.String())
	svg := svgStart.ReplaceAllString(b.String(), `<svg width="$1" height="$2"$3 role="img"><title>`+strings.ReplaceAll(label, "$", "$$")+`</title>`)
	svg = strings.ReplaceAll(svg, `xlink:href="data:image/jpg;`, `xlink:href="data:image/png;`) // vgsvg writes PNG
	return []byte(strings.ReplaceAll(svg, svgFont, svgFont+",Verdana,sans-serif"))
}

// PNG returns the figure as a file with two pixels per CSS pixel.
func (f *Figure) PNG() []byte {
	w, h := f.Size()
	c := newRaster(vg.Length(w), vg.Length(h), 2)
	f.paint(draw.New(c))
	return c.png()
}

// HTML returns the figure and its collapsed table. It contains nothing that JupyterLab removes
// from untrusted notebooks.
func (f *Figure) HTML() string {
	w, _ := f.Size()
	page := fmt.Sprintf(`<figure style="margin:0"><img alt="%s" width="%d" src="data:image/svg+xml;base64,%s" /></figure>`,
		html.EscapeString(f.String()), w, base64.StdEncoding.EncodeToString(f.SVG()))
	if len(f.rows) > 0 {
		page += fmt.Sprintf("<details><summary>%s</summary>%s</details>", words.data, f.Table().Data["text/html"])
	}
	return page
}

// Bundle returns the figure for every kind of front end: HTML with the SVG as an image, a PNG
// with its size, and the sentence and table as text. The bundle of an interactive figure has a
// Vega-Lite specification, and its HTML stands in Markdown: JupyterLab prefers the specification to Markdown and
// HTML to the specification, and nbconvert shows pictures of other types without alt text. A figure whose text has characters that
// the embedded font lacks, such as Hangul, has no PNG, which would show boxes; the SVG uses the reader's fonts.
func (f *Figure) Bundle() display.Bundle {
	w, h := f.Size()
	text := f.String()
	if len(f.rows) > 0 {
		text += "\n\n" + f.Table().String()
	}
	b := display.Bundle{
		Data: map[string]any{"text/plain": text}, Metadata: map[string]any{},
	}
	if drawable(string(f.SVG())) {
		b.Data["image/png"] = base64.StdEncoding.EncodeToString(f.PNG())
		b.Metadata["image/png"] = map[string]any{"width": w, "height": h, "alt": f.String()}
	}
	if spec := f.VegaLite(); f.interactive && spec != nil {
		b.Data[vegaLite], b.Data["text/markdown"] = spec, f.HTML()
	} else {
		b.Data["text/html"] = f.HTML()
	}
	return b
}

// Frame implements display.Framed: the picture as SVG and the sentence.
func (f *Figure) Frame() display.Bundle {
	g := *f
	g.rows = nil
	return display.Bundle{Data: map[string]any{"text/html": g.HTML(), "text/plain": f.String()}}
}

// blank returns a figure without data, labelled as such.
func blank(sentence string) *Figure {
	return &Figure{theme: Light, sentence: sentence, height: 60}
}

// cutRows returns at most most rows. The last row gives the number of omitted rows.
func cutRows(rows [][]any, most int) [][]any {
	if n := len(rows) - most; n > 1 {
		return append(rows[:most:most], []any{fmt.Sprintf(words.moreRows, n)})
	}
	return rows
}
