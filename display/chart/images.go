package chart

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

	"halfnote/internal/text"
)

// Images shows pictures in rows of some columns, with a label under each:
//
//	chart.Images(x, 8)
//	chart.Images(wrong, 4, "3, not 5", "7, not 1")
//
// A tensor or slice has the shape (n, channels, height, width) or (n, height, width, channels) with 1 channel, gray, or 3, red,
// green and blue, or the shape (n, height, width). Numbers from 0 to 1, uint8, and other whole numbers up to between 128 and 255 are shown as such; of another
// range, such as that of normalized pictures, the lowest number of all pictures is black and the highest is white. The sentence
// says which. inf and NaN have a separate colour. It panics for values of another form, and for another number of labels than none or
// one for each picture. It is torchvision.utils.make_grid with imshow.
func Images(pictures any, columns int, labels ...string) *Figure {
	n, err := numbersOf(pictures)
	if err != nil {
		refuse("Images", "%v; want a tensor of pictures", err)
	}
	p := imageSheet{numbers: n, columns: max(columns, 1), labels: labels}
	channels := func(c int) bool { return c == 1 || c == 3 }
	switch s := n.shape; {
	case len(s) == 4 && channels(s[1]):
		p.count, p.channels, p.height, p.width = s[0], s[1], s[2], s[3]
	case len(s) == 4 && channels(s[3]):
		p.count, p.height, p.width, p.channels, p.last = s[0], s[1], s[2], s[3], true
	case len(s) == 3 && s[0] == 3:
		refuse("Images", "the shape %s, which is one picture in colour or three gray ones; want (n, 1, height, width) or (n, 3, height, width); chart.Imshow shows one picture", shapeText(s))
	case len(s) == 3:
		p.count, p.channels, p.height, p.width = s[0], 1, s[1], s[2]
	default:
		refuse("Images", "the shape %s; want (n, 1, height, width) or (n, 3, height, width)", shapeText(s))
	}
	if len(labels) > 0 && len(labels) != p.count {
		refuse("Images", "%s for %s; want one for each", text.Count(len(labels), "label"), text.Count(p.count, "picture"))
	}
	if len(n.values) == 0 {
		return blank(fmt.Sprintf(words.plotNone, "Images"))
	}
	if p.count > imagesMost {
		refuse("Images", "%d pictures; want at most %d, such as x.Slice(0, 0, %d)", p.count, imagesMost, 16*p.columns)
	}
	return p.figure()
}

// colourPicture returns the picture in colour that numbers are, and reports whether they are one. sizes are the dimensions that
// are larger than 1.
func colourPicture(n numbers, sizes []int) (p imageSheet, ok bool) {
	p = imageSheet{numbers: n, columns: 1, count: 1, channels: 3}
	switch {
	case sizes[0] == 3:
		p.height, p.width = sizes[1], sizes[2]
	case sizes[2] == 3:
		p.height, p.width, p.last = sizes[0], sizes[1], true
	default:
		return p, false
	}
	return p, true
}

// Dimensions of pictures.
const (
	imagesMost  = 1000 // maximum number of pictures
	imageCell   = 120  // maximum width of one of several
	imageAlone  = 340  // maximum height of a picture alone
	imageGap    = 8
	imageLabel  = 14 // height of a line of a label
	imagePixels = 2  // pixels of a file for each CSS pixel
)

type imageSheet struct {
	numbers
	count, columns, channels, height, width int
	last                                    bool // the channels are the last dimension
	labels                                  []string
}

// at returns a number of a picture.
func (p imageSheet) at(picture, channel, y, x int) float64 {
	if p.last {
		return p.values[((picture*p.height+y)*p.width+x)*p.channels+channel]
	}
	return p.values[((picture*p.channels+channel)*p.height+y)*p.width+x]
}

// levels returns the numbers that are black and white.
func (p imageSheet) levels() span {
	s := spanOf(p.values)
	whole := true
	for _, v := range p.values {
		whole = whole && (v == math.Trunc(v) || !finite(v))
	}
	switch {
	case s.lo >= 0 && s.hi <= 1, !finite(s.lo):
		return span{0, 1}
	case s.lo >= 0 && s.hi <= 255 && whole && (s.hi >= 128 || p.dtype == "uint8"):
		return span{0, 255}
	case s.lo == s.hi:
		return span{s.lo, s.lo + 1}
	}
	return s
}

func (p imageSheet) figure() *Figure {
	levels := p.levels()
	text := fmt.Sprintf(map[bool]string{true: words.imagesGray, false: words.imagesColour}[p.channels == 1], short(levels.lo), short(levels.hi))
	if p.count == 1 {
		text = fmt.Sprintf(words.imagesOne, p.height, p.width, text)
	} else {
		text = fmt.Sprintf(words.imagesSome, p.count, p.height, p.width, text)
	}
	bad := 0
	for _, v := range p.values {
		if !finite(v) {
			bad++
		}
	}
	if bad > 0 {
		text += fmt.Sprintf(words.histBad, bad)
	}
	f := p.view(levels, Width-2*margin).figure(text)
	f.body, f.narrow = fitted(func(r room) view {
		if r.points == 0 {
			return p.view(levels, r.size.X)
		}
		return p.view(levels, Width-2*margin)
	}), true
	return f
}

func (p imageSheet) label(i int) string {
	if i < len(p.labels) {
		return p.labels[i]
	}
	return ""
}

// view returns the pictures for a width.
func (p imageSheet) view(levels span, room vg.Length) view {
	columns := min(p.columns, p.count)
	cell := min((room-imageGap*vg.Length(columns-1))/vg.Length(columns), imageCell)
	if p.count == 1 {
		cell = min(room, imageAlone*vg.Length(p.width)/vg.Length(p.height), max(8*vg.Length(p.width), imageCell))
	}
	cell = max(cell, 4)
	high := max(cell*vg.Length(p.height)/vg.Length(p.width), 1)
	style := Light.style(smallSize, Light.Text)
	names := make([][]string, p.count)
	lines := 0
	for i := range p.labels {
		names[i] = wrap(style, printable(p.labels[i]), cell+imageGap-2)
		if len(names[i]) > 2 {
			names[i] = []string{names[i][0], fit(style, strings.Join(names[i][1:], " "), cell+imageGap-2)}
		}
		lines = max(lines, len(names[i]))
	}
	line := high + imageGap + imageLabel*vg.Length(lines)
	rows := (p.count + columns - 1) / columns
	v := view{x: scale{bare: true, lo: 0, hi: float64(room)}, y: scale{bare: true, lo: 0, hi: float64(line) * float64(rows)}, height: int(line) * rows, rigid: true, core: float64(cell+imageGap) * float64(columns),
		facts: []fact{{"picture", words.headPicture}, {"label", words.headLabel}, {"lowest", words.headMin}, {"highest", words.headMax}, {"mean", words.headMean}, {"bad", words.headBad}}}
	size := p.channels * p.height * p.width
	pictures, labels := layer{mark: images{}}, layer{mark: texts{limited: true}, small: true, note: true}
	for i := range p.count {
		x, y := float64(cell+imageGap)*float64(i%columns), float64(line)*float64(i/columns)
		mean, s, bad := matrix{}.summary(p.values[i*size : (i+1)*size])
		pictures.rows = append(pictures.rows, row{x: x, x2: x + float64(cell), y: y, y2: y + float64(high), color: neutral, facts: []any{i, p.label(i), s.lo, s.hi, mean, bad},
			image: func(t Theme) image.Image { return p.picture(t, i, levels, int(cell*imagePixels)) }})
		for k, name := range names[i] {
			labels.rows = append(labels.rows, row{x: x + float64(cell)/2, wide: float64(cell), y: y + float64(high) + imageLabel*(float64(k)+.5), color: textInk, text: name})
		}
	}
	v.layers = []layer{pictures, labels}
	return v
}

// picture returns a picture with about the given width in pixels: of a larger one a pixel is the mean of several, and of a smaller one
// each is a square of pixels.
func (p imageSheet) picture(t Theme, i int, levels span, width int) image.Image {
	step, times := max(p.width/max(width, 1), 1), max(width/p.width, 1)
	w, h := (p.width+step-1)/step, (p.height+step-1)/step
	img := image.NewNRGBA(image.Rect(-1, -1, w*times+1, h*times+1)) // within a line, because pixels may have the colour of the page
	draw.Draw(img, img.Bounds(), image.NewUniform(t.Grid), image.Point{}, draw.Src)
	for y := range h {
		for x := range w {
			ink := p.pixel(t, i, levels, y*step, x*step, step)
			for dy := range times {
				for dx := range times {
					img.SetNRGBA(x*times+dx, y*times+dy, ink)
				}
			}
		}
	}
	return img
}

// pixel returns the mean colour of a square of a picture.
func (p imageSheet) pixel(t Theme, i int, levels span, y, x, size int) color.NRGBA {
	var level [3]uint8
	for c := range p.channels {
		sum, n := 0., 0.
		for dy := y; dy < min(y+size, p.height); dy++ {
			for dx := x; dx < min(x+size, p.width); dx++ {
				sum, n = sum+p.at(i, c, dy, dx), n+1
			}
		}
		mean := sum / n
		if !finite(mean) {
			return t.Skip
		}
		level[c] = uint8(math.Round(255 * min(max((mean-levels.lo)/(levels.hi-levels.lo), 0), 1)))
	}
	if p.channels == 1 {
		level[1], level[2] = level[0], level[0]
	}
	return color.NRGBA{level[0], level[1], level[2], 255}
}
