package chart

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestRasterAgrees compares shapes, lines and texts with those of gonum's canvas.
func TestRasterAgrees(t *testing.T) {
	const w, h = 120, 90
	ink := color.NRGBA{200, 40, 90, 255}
	spiral := []vg.Point{}
	for i := range 90 {
		sin, cos := math.Sincos(float64(i) / 5)
		spiral = append(spiral, vg.Point{X: 60 + vg.Length(float64(i)*cos/3), Y: 45 + vg.Length(float64(i)*sin/3)})
	}
	var zigzag []vg.Point
	for i := range 20 {
		zigzag = append(zigzag, vg.Point{X: vg.Length(6 * i), Y: vg.Length(20 + 50*(i%2))})
	}
	img := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	for i := range img.Pix {
		img.Pix[i] = uint8(i*7) | 255*uint8(i%4/3)
	}
	for name, draws := range map[string]func(c *draw.Canvas){
		"rectangle":   func(c *draw.Canvas) { c.FillPolygon(ink, rectangle(10.3, 20.6, 70.2, 61.9)) },
		"thin":        func(c *draw.Canvas) { c.FillPolygon(ink, rectangle(10.3, 20.6, 10.4, 61.9)) },
		"outside":     func(c *draw.Canvas) { c.FillPolygon(ink, rectangle(-50, 70, 500, 800)) },
		"translucent": func(c *draw.Canvas) { c.FillPolygon(color.NRGBA{0, 90, 200, 70}, rectangle(10, 20, 70, 61)) },
		"diamond":     func(c *draw.Canvas) { diamond.draw(c, vg.Point{X: 50, Y: 40}, 31, ink) },
		"star": func(c *draw.Canvas) {
			var p []vg.Point
			for i := range 5 {
				sin, cos := math.Sincos(float64(i) * 4 * math.Pi / 5)
				p = append(p, vg.Point{X: 60 + vg.Length(40*cos), Y: 45 + vg.Length(40*sin)})
			}
			c.FillPolygon(ink, p)
		},
		"dot": func(c *draw.Canvas) {
			c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: 20, Shape: draw.CircleGlyph{}}, vg.Point{X: 50, Y: 40})
		},
		"line":   func(c *draw.Canvas) { c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, 5, 40.2, 110, 40.2) },
		"spiral": func(c *draw.Canvas) { c.StrokeLines(draw.LineStyle{Color: ink, Width: 3}, spiral) },
		"zigzag": func(c *draw.Canvas) { c.StrokeLines(draw.LineStyle{Color: ink, Width: 8}, zigzag) },
		"dashes": func(c *draw.Canvas) {
			c.StrokeLines(draw.LineStyle{Color: ink, Width: 2, Dashes: []vg.Length{6, 3, 2, 5}, DashOffs: 7}, spiral)
		},
		"curve": func(c *draw.Canvas) {
			var p vg.Path
			p.Move(vg.Point{X: 20, Y: 10})
			p.QuadTo(vg.Point{X: 40, Y: 90}, vg.Point{X: 100, Y: 40})
			c.SetLineStyle(draw.LineStyle{Color: ink, Width: 2})
			c.Stroke(p)
		},
		"text": func(c *draw.Canvas) {
			c.FillText(Light.style(13, ink), vg.Point{X: 4.3, Y: 40.7}, "Größe 10⁻⁸ AVAW")
		},
		"upright text": func(c *draw.Canvas) {
			style := Light.style(13, ink)
			style.Rotation = math.Pi / 2
			c.FillText(style, vg.Point{X: 40, Y: 10}, "Größe")
		},
		"turned": func(c *draw.Canvas) {
			c.Push()
			c.Translate(vg.Point{X: 60, Y: 10})
			c.Rotate(.5)
			c.Scale(.5, 2)
			c.FillPolygon(ink, rectangle(0, 0, 50, 30))
			c.Pop()
			c.FillPolygon(ink, rectangle(0, 0, 5, 5))
		},
		"image": func(c *draw.Canvas) {
			c.DrawImage(vg.Rectangle{Min: vg.Point{X: 20, Y: 30}, Max: vg.Point{X: 80, Y: 70}}, img)
		},
	} {
		want := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(144))
		got := newRaster(w, h, 2)
		for _, c := range []draw.Canvas{draw.New(want), draw.New(got)} {
			c.FillPolygon(color.White, rectangle(0, 0, w, h))
			draws(&c)
		}
		picture, err := png.Decode(bytes.NewReader(got.png()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sum, far, blank := 0, 0, true
		for y := range 2 * h {
			for x := range 2 * w {
				r, g, b, _ := picture.At(x, y).RGBA()
				r1, g1, b1, _ := want.Image().At(x, y).RGBA()
				d := max(distance(r, r1), distance(g, g1), distance(b, b1)) >> 8
				sum += int(d)
				if d > 64 {
					far++
				}
				blank = blank && r == 0xffff && g == 0xffff && b == 0xffff
			}
		}
		t.Logf("%s: %d pixels differ by more than a quarter; the mean difference is %.3f of 255", name, far, float64(sum)/(4*w*h))
		if far > 20 || sum > 4*w*h/2 || blank {
			t.Errorf("%s: %d pixels differ by more than a quarter; the mean difference is %.3f of 255", name, far, float64(sum)/(4*w*h))
		}
	}
}

// TestCoverCopiesRows checks that a rectangle between pixels has the same inner rows as one drawn with other shapes.
func TestCoverCopiesRows(t *testing.T) {
	for _, box := range [][4]vg.Length{{0, 0, 20, 20}, {2, 3, 12, 17}, {2.3, 3.6, 12.2, 17.1}, {5, 5, 6, 6}} {
		one, two := newRaster(20, 20, 2), newRaster(20, 20, 2)
		square := rectangle(box[0], box[1], box[2], box[3])
		for _, r := range []*raster{one, two} {
			c := draw.New(r)
			c.FillPolygon(hex(0xffffff), rectangle(0, 0, 20, 20))
		}
		c := draw.New(one)
		c.FillPolygon(hex(0x1072d2), square)
		two.SetColor(hex(0x1072d2))
		var path vg.Path
		path.Move(square[0])
		middle := vg.Point{X: (square[0].X + square[1].X) / 2, Y: (square[0].Y + square[1].Y) / 2} // a point more: no rectangle
		for _, p := range append([]vg.Point{middle}, square[1:]...) {
			path.Line(p)
		}
		path.Close()
		two.Fill(path)
		for i := range one.pixels.Pix {
			if d := int(one.pixels.Pix[i]) - int(two.pixels.Pix[i]); d < -2 || d > 2 {
				t.Fatalf("%v: byte %d is %d, want %d", box, i, one.pixels.Pix[i], two.pixels.Pix[i])
			}
		}
	}
}

// TestMillionths checks that the numbers of rows are the shortest that are read back exactly.
func TestMillionths(t *testing.T) {
	for _, v := range []float64{0, 1, -1, .5, -.25, 1e-6, 12.34, 1e9 + .1, 65504, 1. / 3, 1e300, 5e-324, -0.000001, 123456.789012, 1e10, 4503599627.370497} {
		r := newRows("x")
		r.number(v)
		text := string(r.text[len("x\n"):])
		if want := strconv.FormatFloat(v, 'g', -1, 64); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}
