package chart

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Imshow shows a matrix as a heat map with a cell for each element, row 0 at the top: a slice of slices
// of numbers or a tensor with one or two dimensions larger than 1. Values of one sign share a hue,
// the more intense the larger they are; with both signs, positive and negative values have different colours and 0 has
// the background's. The cells of a small matrix hold their numbers. inf and NaN have a separate colour. In the picture of
// a matrix with more elements than pixels, a pixel is the mean of a block; the interactive form of a matrix with more than
// 5000 elements shows from each block the element that is farthest from the mean of all.
//
// Values of the shape (3, height, width) or (height, width, 3) are a picture in colour: whole numbers from 0 to 255, numbers from 0
// to 1, or numbers of another range, which is then that from black to white. [Images] shows several pictures.
//
// It panics for values of another form. It is matplotlib.pyplot.imshow.
func Imshow(values any) *Figure {
	n, err := numbersOf(values)
	if err != nil {
		refuse("Imshow", "%v; want a matrix: a slice of slices of numbers or a tensor", err)
	}
	var sizes []int
	for _, s := range n.shape {
		if s != 1 {
			sizes = append(sizes, s)
		}
	}
	m := matrix{numbers: n, rows: 1, columns: 1}
	switch len(sizes) {
	case 0:
	case 1:
		if m.columns = sizes[0]; len(n.shape) > 1 && n.shape[len(n.shape)-1] == 1 {
			m.rows, m.columns = sizes[0], 1
		}
	case 2:
		m.rows, m.columns = sizes[0], sizes[1]
	case 3:
		p, ok := colourPicture(n, sizes)
		if !ok {
			refuse("Imshow", "the shape %s; want a matrix, such as (%d, %d), or a picture in colour, (3, height, width) or (height, width, 3); chart.Images shows several", shapeText(n.shape), sizes[1], sizes[2])
		}
		return p.figure()
	default:
		refuse("Imshow", "the shape %s; want a matrix, such as (%d, %d); chart.Images(x, 4) shows pictures in rows of 4", shapeText(n.shape), n.shape[len(n.shape)-2], n.shape[len(n.shape)-1])
	}
	if len(n.values) == 0 || m.rows*m.columns != len(n.values) {
		return blank(fmt.Sprintf(words.plotNone, "Imshow"))
	}
	return m.figure()
}

// shapeText formats a shape: "(3, 28, 28)".
func shapeText(shape []int) string {
	return "(" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(shape), "[]")), ", ") + ")"
}

type matrix struct {
	axes
	numbers
	rows, columns int
}

// Dimensions of a matrix.
const (
	matrixHeight = 340 // maximum height of the cells
	matrixCell   = 40  // maximum size of a cell
	matrixLeast  = 60  // least height of the cells of a matrix with few rows and many columns
)

func (m matrix) figure() *Figure {
	_, height := m.size(Width-2*margin-m.left(), matrixHeight)
	f := &Figure{
		theme: Light, sentence: m.sentence(), height: m.around() + int(height), body: fitted(m.fit), narrow: true, axes: m.axes, data: m.all,
		head: []string{words.headRow, words.headMin, words.headMax, words.headMean, words.headBad},
		remake: func(a axes) *Figure {
			changed := m
			changed.axes = a
			return changed.figure()
		},
	}
	for i := range m.rows {
		mean, s, bad := m.summary(m.values[i*m.columns : (i+1)*m.columns])
		f.rows = append(f.rows, []any{i, short(s.lo), short(s.hi), short(mean), bad})
	}
	f.rows = cutRows(f.rows, 40)
	return f
}

// summary returns the mean and range of the finite values, and the number of others.
func (matrix) summary(values []float64) (mean float64, s span, bad int) {
	mean, _, n := moments(values)
	if n == 0 {
		mean = nan
	}
	return mean, spanOf(values), len(values) - n
}

func (m matrix) sentence() string {
	mean, s, bad := m.summary(m.values)
	text := fmt.Sprintf(words.matrixNone, shapeText([]int{m.rows, m.columns}))
	if finite(mean) {
		text = fmt.Sprintf(words.matrixSome, shapeText([]int{m.rows, m.columns}), short(s.lo), short(s.hi), short(mean))
	}
	if bad > 0 {
		text += fmt.Sprintf(words.histBad, bad)
	}
	return text
}

func (m matrix) all() (head []string, rows [][]any) {
	for i, v := range m.values {
		rows = append(rows, []any{i / m.columns, i % m.columns, v})
	}
	return []string{words.headRow, words.headColumns, words.headValue}, rows
}

// size returns the size of the cells together: cells are squares, unless that leaves them too low.
func (m matrix) size(width, height vg.Length) (w, h vg.Length) {
	cell := min(width/vg.Length(m.columns), height/vg.Length(m.rows), matrixCell)
	w, h = cell*vg.Length(m.columns), cell*vg.Length(m.rows)
	if m.xTicks != nil { // names have room next to each other
		w = min(max(w, (widestOf(m.xTicks.labels)+10)*vg.Length(m.columns)), width)
	}
	return max(w, min(matrixLeast, matrixCell*vg.Length(m.columns), width)), max(h, min(matrixLeast, 24*vg.Length(m.rows), height))
}

// left returns the width of the numbers or the names of the rows, and of the name of their axis.
func (m matrix) left() vg.Length {
	if m.axes.y != "" {
		return m.labels() + uprightRoom
	}
	return m.labels()
}

// uprightRoom is the width of an upright text.
const uprightRoom = labelSize + 6

// labels returns the width of the numbers or the names of the rows.
func (m matrix) labels() vg.Length {
	if m.yTicks != nil {
		return widestOf(m.yTicks.labels) + 10
	}
	return Light.style(labelSize, Light.Text).Width(fmt.Sprint(m.rows)) + 10
}

// widestOf returns the width of the widest of some labels of an axis.
func widestOf(labels []string) (width vg.Length) {
	for _, label := range labels {
		width = max(width, min(Light.style(labelSize, Light.Text).Width(label), labelMost))
	}
	return width
}

// fit returns the cells, in a picture as large as the room allows. A large matrix is shown by one element of each block in the
// interactive form.
func (m matrix) fit(r room) view {
	if r.points == 0 {
		v, _ := m.view(r.size.X-m.left(), r.size.Y-vg.Length(m.around()+m.slant()), mostPoints)
		return v
	}
	v, by := m.view(Width-2*margin-m.left(), matrixHeight, r.points)
	if by > 1 {
		v.subtitle = fmt.Sprintf(words.matrixBlocks, by, by)
	}
	return v
}

// around returns the height of the legend and of the x axis.
func (m matrix) around() int {
	if m.axes.x != "" {
		return keyHeight + 35
	}
	return keyHeight + 20
}

// view returns the cells for a plot of a width and height, and the size of the blocks that they are. The rest of the plot is
// empty, so that cells stay square.
func (m matrix) view(width, height vg.Length, most int) (v view, by int) {
	mean, s, bad := m.summary(m.values)
	for by = 1; ((m.rows+by-1)/by)*((m.columns+by-1)/by) > most; {
		by++
	}
	w, h := m.size(width, height)
	widest := vg.Length(0)
	few := len(m.values) <= 400
	if few {
		widest = Light.style(smallSize, Light.Text).Width(m.widest())
	}
	written := few && h/vg.Length(m.rows) >= 12 && widest < w/vg.Length(m.columns)-4
	v = view{x: scale{title: m.axes.x, lo: -.5, hi: float64(m.columns)*float64(width/w) - .5, marked: indices(m.columns, int(w/30)), plain: true}, height: int(h), rigid: true, core: float64(m.columns), zoom: []string{"x"},
		facts: []fact{{"row", words.headRow}, {"column", words.headColumns}, {"value", words.headValue}}}
	picture := func(t Theme) image.Image { return m.picture(t, s, m.pixels(w, m.columns), m.pixels(h, m.rows)) }
	cells, numbers := layer{mark: rects{image: picture}}, layer{mark: texts{widest: widest}, small: true}
	for r := 0; r < m.rows; r += by {
		for c := 0; c < m.columns; c += by {
			i, k := m.extreme(mean, r, min(r+by, m.rows), c, min(c+by, m.columns))
			value := m.values[i*m.columns+k]
			at := row{x: float64(c) - .5, x2: float64(min(c+by, m.columns)) - .5, y: float64(r) - .5, y2: float64(min(r+by, m.rows)) - .5,
				color: func(t Theme) color.NRGBA { return s.shade(t, value) }, facts: []any{i, k, value}}
			cells.rows = append(cells.rows, at)
			if written {
				at.x, at.y, at.text, at.wide = float64(c), float64(r), short(value), float64(by)
				at.color = func(t Theme) color.NRGBA { return ink(s.shade(t, value)) }
				numbers.rows = append(numbers.rows, at)
			}
		}
	}
	right, bottom := float64(m.columns)-.5, float64(m.rows)-.5
	edge := layer{mark: rules{width: .75}}
	for _, l := range [][4]float64{{-.5, -.5, right, -.5}, {right, -.5, right, bottom}, {right, bottom, -.5, bottom}, {-.5, bottom, -.5, -.5}} {
		edge.rows = append(edge.rows, row{x: l[0], y: l[1], x2: l[2], y2: l[3], color: gridInk})
	}
	v.layers = []layer{cells, edge}
	if written {
		v.layers = append(v.layers, numbers)
	}
	if m.axes.y != "" {
		style := Light.style(labelSize, Light.Text)
		name := row{y: float64(m.rows-1) / 2, color: neutral, text: fit(style, printable(m.axes.y), max(h, 2*labelSize))}
		v.layers = append(v.layers, layer{mark: texts{side: leftOf, upright: true, gap: m.labels()}, note: true, rows: []row{name}})
		v.left = uprightRoom
	}
	v.y.names = make([]string, m.rows)
	for _, k := range indices(m.rows, int(h/16)) {
		v.y.names[int(k.Value)] = k.Label
	}
	sign := func(value float64) {
		if finite(value) {
			v.signs = append(v.signs, kind{name: short(value), symbol: boxed, color: func(t Theme) color.NRGBA { return s.shade(t, value) }, line: gridInk})
		}
	}
	sign(s.lo)
	if s.lo < 0 && s.hi > 0 {
		sign(0)
	}
	if s.hi > s.lo {
		sign(s.hi)
	}
	if bad > 0 {
		v.signs = append(v.signs, kind{name: words.notFinite, symbol: square, color: skipInk})
	}
	return v, by
}

// extreme returns the place of the element of a block that is farthest from mean; one that is not finite is the farthest.
func (m matrix) extreme(mean float64, top, bottom, left, right int) (row, column int) {
	row, column, most := top, left, -1.
	for r := top; r < bottom; r++ {
		for c, v := range m.values[r*m.columns+left : r*m.columns+right] {
			if !finite(v) {
				return r, left + c
			}
			if far := math.Abs(v - mean); far > most {
				row, column, most = r, left+c, far
			}
		}
	}
	return row, column
}

// mean returns the mean of a block of elements.
func (m matrix) mean(top, bottom, left, right int) float64 {
	sum := 0.
	for r := top; r < bottom; r++ {
		for _, v := range m.values[r*m.columns+left : r*m.columns+right] {
			sum += v
		}
	}
	return sum / float64((bottom-top)*(right-left))
}

// widest returns the longest of the values' texts.
func (m matrix) widest() (text string) {
	for _, v := range m.values {
		if s := short(v); len(s) > len(text) {
			text = s
		}
	}
	return text
}

// indices marks about n of the numbers below size.
func indices(size, n int) []plot.Tick {
	if size == 1 {
		return []plot.Tick{{Label: "0"}}
	}
	return roundTicks{min(max(n, 2), 16), true}.Ticks(0, float64(size-1))
}

// pixels returns the number of pixels of the picture for n cells on a length: two for each CSS pixel, or
// one if it has several cells.
func (matrix) pixels(length vg.Length, n int) int {
	if float64(n) > float64(length) {
		return int(length)
	}
	return int(2 * length)
}

// picture returns the cells as an image of that size. A pixel that covers several cells is their mean.
func (m matrix) picture(t Theme, s span, width, height int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, max(width, 1), max(height, 1)))
	size := img.Bounds().Size()
	cells := func(i, n, pixels int) (from, to int) {
		from = i * n / pixels
		return from, max((i+1)*n/pixels, from+1)
	}
	before, row := -1, make([]color.NRGBA, size.X)
	for y := range size.Y {
		r0, r1 := cells(y, m.rows, size.Y)
		if r0 != before {
			before = r0
			for x := range row {
				c0, c1 := cells(x, m.columns, size.X)
				row[x] = s.shade(t, m.mean(r0, r1, c0, c1))
			}
		}
		for x, col := range row {
			img.SetNRGBA(x, y, col)
		}
	}
	return img
}

// shade returns the colour of a value in a range.
func (s span) shade(t Theme, v float64) color.NRGBA {
	if !finite(v) {
		return t.Skip
	}
	to, part := t.Float32, 0.
	switch most := max(math.Abs(s.lo), math.Abs(s.hi)); {
	case s.lo < 0 && s.hi > 0:
		if v < 0 {
			to = t.Float16
		}
		part = math.Abs(v) / most
	case s.lo < s.hi && s.hi <= 0:
		to, part = t.Float16, (s.hi-v)/(s.hi-s.lo)
	case s.lo < s.hi:
		part = (v - s.lo) / (s.hi - s.lo)
	}
	part = math.Round(min(max(part, 0), 1)*64) / 64 // few colours make a small file
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + part*(float64(b)-float64(a))) }
	return color.NRGBA{mix(t.Background.R, to.R), mix(t.Background.G, to.G), mix(t.Background.B, to.B), 255}
}

// ink returns black or white, whichever is easier to read on a colour.
func ink(fill color.NRGBA) color.NRGBA {
	black, white := hex(0), hex(0xffffff)
	if contrast(fill, white) > contrast(fill, black) {
		return white
	}
	return black
}

// contrast returns the contrast ratio of two colours (WCAG 2, relative luminance).
func contrast(a, b color.NRGBA) float64 {
	luminance := func(c color.NRGBA) float64 {
		linear := func(v uint8) float64 {
			if s := float64(v) / 255; s > .04045 {
				return math.Pow((s+.055)/1.055, 2.4)
			} else {
				return s / 12.92
			}
		}
		return .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B)
	}
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + .05) / (min(la, lb) + .05)
}
