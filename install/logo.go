package install

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// The logo is a half note, white on a tile of two colours: those of float32 and
// of float16 in the charts. Both forms, SVG and PNG, are drawn from this one
// geometry, in units of a 64 x 64 tile.
const (
	tileRadius = 14.0

	headX, headY         = 26.5, 44.5
	headA, headB         = 13.0, 9.0 // half axes of the note head,
	headTurn             = -24.0     // turned by degrees,
	holeA, holeB         = 10.8, 4.6 // and of the hole in it
	holeTurn             = -36.0
	stemX0, stemX1       = 34.4, 38.6
	stemTop, stemBottom  = 9.0, 39.4
	splitTopX, splitBotX = 46.0, 18.0 // the line between the colours
)

var (
	float32Colour = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	float16Colour = color.NRGBA{0xC2, 0x41, 0x0C, 0xFF}
	noteColour    = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

func logoSVG() []byte {
	hex := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	ellipse := func(a, b, turn float64) string {
		dx, dy := a*math.Cos(turn*math.Pi/180), a*math.Sin(turn*math.Pi/180)
		return fmt.Sprintf("M%.3f %.3fA%g %g %g 1 0 %.3f %.3fA%g %g %g 1 0 %.3f %.3fZ",
			headX-dx, headY-dy, a, b, turn, headX+dx, headY+dy, a, b, turn, headX-dx, headY-dy)
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64" role="img" aria-label="halfnote">
<clipPath id="tile"><rect width="64" height="64" rx="%g"/></clipPath>
<g clip-path="url(#tile)">
<rect width="64" height="64" fill="%s"/>
<path d="M%g 0H64V64H%gZ" fill="%s"/>
</g>
<path d="%s%s" fill="%s" fill-rule="evenodd"/>
<rect x="%g" y="%g" width="%g" height="%g" fill="%[8]s"/>
</svg>
`, tileRadius, hex(float32Colour), splitTopX, splitBotX, hex(float16Colour),
		ellipse(headA, headB, headTurn), ellipse(holeA, holeB, holeTurn), hex(noteColour),
		stemX0, stemTop, round1(stemX1-stemX0), stemBottom-stemTop)
}

func round1(x float64) float64 { return math.Round(x*10) / 10 }

// logoPNG draws the logo size x size pixels large, from 8 x 8 samples a pixel.
func logoPNG(size int) []byte {
	const samples = 8
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	scale := 64 / float64(size*samples)
	for py := range size {
		for px := range size {
			var r, g, b, a int
			for sy := range samples {
				for sx := range samples {
					c := logoAt((float64(px*samples+sx)+0.5)*scale, (float64(py*samples+sy)+0.5)*scale)
					if c.A != 0 {
						r, g, b, a = r+int(c.R), g+int(c.G), b+int(c.B), a+1
					}
				}
			}
			if a > 0 {
				img.SetNRGBA(px, py, color.NRGBA{uint8(r / a), uint8(g / a), uint8(b / a), uint8(a * 255 / (samples * samples))})
			}
		}
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		panic(err) // a buffer takes everything
	}
	return buf.Bytes()
}

// logoAt is the colour of one point of the tile.
func logoAt(x, y float64) color.NRGBA {
	// The distance from the tile's edge, along the corner's circle.
	dx := max(tileRadius-x, x-(64-tileRadius), 0)
	dy := max(tileRadius-y, y-(64-tileRadius), 0)
	if math.Hypot(dx, dy) > tileRadius {
		return color.NRGBA{}
	}
	head := inEllipse(x, y, headA, headB, headTurn) && !inEllipse(x, y, holeA, holeB, holeTurn)
	stem := x >= stemX0 && x < stemX1 && y >= stemTop && y < stemBottom
	switch {
	case head || stem:
		return noteColour
	case x > splitTopX+(splitBotX-splitTopX)*y/64:
		return float16Colour
	}
	return float32Colour
}

func inEllipse(x, y, a, b, turn float64) bool {
	sin, cos := math.Sincos(turn * math.Pi / 180)
	dx, dy := x-headX, y-headY
	u, v := (dx*cos+dy*sin)/a, (dy*cos-dx*sin)/b
	return u*u+v*v <= 1
}
