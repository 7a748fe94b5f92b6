package chart

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"math"

	xdraw "golang.org/x/image/draw"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// raster is a canvas of pixels. It covers the same area as gonum's vgimg, whose time grows with the square of the number of
// segments that cross a row of pixels. The largest figures of each kind (BenchmarkForms) as files, in milliseconds, both in the same
// minute on a busy Xeon, 29 November 2026:
//
//	               raster    vgimg
//	spectrum         12.6     29.7   2.4 times, the least
//	heat map         58.6    166.9   2.8
//	dtypes           48.9    172.7   3.5
//	bars             22.1     88.8   4.0
//	lines              68     1740   26
//	plot               30     6052   201
//
// A figure without lines takes 2.3 to 4 times as long with vgimg, so that fewer points of a line would not bring it within twice.
type raster struct {
	width, height vg.Length
	scale         float64 // pixels per unit of length
	pixels        *image.RGBA
	area          vector.Rasterizer
	mask          []uint8                  // reused by paint
	faces         map[vg.Length]xfont.Face // faces of the font by size
	state         rasterState
	saved         []rasterState
}

// rasterState is what Push saves.
type rasterState struct {
	color  color.Color
	line   vg.Length
	dashes []vg.Length
	offset vg.Length
	matrix f64.Aff3 // from lengths to pixels
}

// newRaster returns a black canvas with that many pixels per unit of length.
func newRaster(width, height vg.Length, scale float64) *raster {
	size := image.Rect(0, 0, int(float64(width)*scale+.5), int(float64(height)*scale+.5))
	r := &raster{width: width, height: height, scale: scale, pixels: image.NewRGBA(size), faces: map[vg.Length]xfont.Face{}}
	r.state = rasterState{color: color.Black, line: 1, matrix: f64.Aff3{scale, 0, 0, 0, -scale, float64(height) * scale}}
	return r
}

func (r *raster) Size() (width, height vg.Length) { return r.width, r.height }
func (r *raster) SetLineWidth(w vg.Length)        { r.state.line = w }
func (r *raster) SetLineDash(d []vg.Length, start vg.Length) {
	r.state.dashes, r.state.offset = d, start
}
func (r *raster) Push()                 { r.saved = append(r.saved, r.state) }
func (r *raster) Pop()                  { n := len(r.saved) - 1; r.state, r.saved = r.saved[n], r.saved[:n] }
func (r *raster) Translate(by vg.Point) { r.transform(1, 0, 0, 1, float64(by.X), float64(by.Y)) }
func (r *raster) Scale(x, y float64)    { r.transform(x, 0, 0, y, 0, 0) }

func (r *raster) SetColor(c color.Color) {
	if c == nil {
		c = color.Black
	}
	r.state.color = c
}

func (r *raster) Rotate(angle float64) {
	sin, cos := math.Sincos(angle)
	r.transform(cos, sin, -sin, cos, 0, 0)
}

// transform applies the matrix with the columns (a, b), (c, d) and (e, f) before the present one.
func (r *raster) transform(a, b, c, d, e, f float64) {
	m := r.state.matrix
	r.state.matrix = f64.Aff3{m[0]*a + m[1]*b, m[0]*c + m[1]*d, m[0]*e + m[1]*f + m[2], m[3]*a + m[4]*b, m[3]*c + m[4]*d, m[3]*e + m[4]*f + m[5]}
}

// pixel is a place in pixels.
type pixel struct{ x, y float64 }

func (p pixel) to(q pixel) (dx, dy, length float64) {
	return q.x - p.x, q.y - p.y, math.Hypot(q.x-p.x, q.y-p.y)
}

func (r *raster) at(p vg.Point) pixel {
	m, x, y := r.state.matrix, float64(p.X), float64(p.Y)
	return pixel{m[0]*x + m[1]*y + m[2], m[3]*x + m[4]*y + m[5]}
}

// Fill fills the path; where it overlaps itself, by the non-zero rule.
func (r *raster) Fill(path vg.Path) { r.paint(r.flat(path)) }

// Stroke draws the path with butt ends and round joins.
func (r *raster) Stroke(path vg.Path) {
	if r.state.line <= 0 {
		return
	}
	half := float64(r.state.line) * r.scale / 2
	var parts [][]pixel
	for _, line := range r.dashed(r.flat(path)) {
		parts = stroke(parts, line, half)
	}
	r.paint(parts)
}

// paint fills polygons.
func (r *raster) paint(polygons [][]pixel) {
	lo, hi := pixel{math.Inf(1), math.Inf(1)}, pixel{math.Inf(-1), math.Inf(-1)}
	for _, polygon := range polygons {
		for _, p := range polygon {
			lo, hi = pixel{min(lo.x, p.x), min(lo.y, p.y)}, pixel{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	size := r.pixels.Rect.Max
	clip := func(x float64, most int) int { return int(min(max(x, 0), float64(most))) }
	box := image.Rect(clip(math.Floor(lo.x), size.X), clip(math.Floor(lo.y), size.Y), clip(math.Ceil(hi.x), size.X), clip(math.Ceil(hi.y), size.Y))
	if !(lo.x < hi.x && lo.y < hi.y) || box.Empty() {
		return
	}
	if n := box.Dx() * box.Dy(); n > len(r.mask) {
		r.mask = make([]uint8, n)
	}
	mask := &image.Alpha{Pix: r.mask, Stride: box.Dx(), Rect: image.Rectangle{Max: box.Size()}}
	if len(polygons) == 1 && aligned(polygons[0]) {
		r.cover(mask, box, lo, hi)
		return
	}
	r.area.Reset(box.Dx(), box.Dy())
	r.area.DrawOp = draw.Src
	x, y := float64(box.Min.X), float64(box.Min.Y)
	for _, polygon := range polygons {
		for i, p := range polygon {
			if i == 0 {
				r.area.MoveTo(float32(p.x-x), float32(p.y-y))
			} else {
				r.area.LineTo(float32(p.x-x), float32(p.y-y))
			}
		}
		r.area.ClosePath()
	}
	r.area.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	r.blend(box, mask.Pix)
}

// aligned reports whether a polygon is a rectangle along the axes.
func aligned(p []pixel) bool {
	if len(p) == 5 && p[4] == p[0] {
		p = p[:4]
	}
	if len(p) != 4 {
		return false
	}
	return p[0].x == p[1].x && p[1].y == p[2].y && p[2].x == p[3].x && p[3].y == p[0].y ||
		p[0].y == p[1].y && p[1].x == p[2].x && p[2].y == p[3].y && p[3].x == p[0].x
}

// cover fills the rectangle from lo to hi, which touches the pixels of a box.
func (r *raster) cover(mask *image.Alpha, box image.Rectangle, lo, hi pixel) {
	share := func(i int, from, to float64) float64 { return min(float64(i+1), to) - max(float64(i), from) }
	row := mask.Pix[:box.Dx()]
	_, _, _, alpha := r.state.color.RGBA()
	opaque := alpha == 0xffff && lo.x <= float64(box.Min.X) && hi.x >= float64(box.Max.X)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		if opaque && y > box.Min.Y+1 && y < box.Max.Y-1 { // the row before is this one
			line := r.pixels.Pix[r.pixels.PixOffset(box.Min.X, y):][:4*box.Dx()]
			copy(line, r.pixels.Pix[r.pixels.PixOffset(box.Min.X, y-1):])
			continue
		}
		if in := share(y, lo.y, hi.y); y == box.Min.Y || y == box.Max.Y-1 || y == box.Min.Y+1 { // the rows between are equal
			first, last := share(box.Min.X, lo.x, hi.x), share(box.Max.X-1, lo.x, hi.x)
			for i := range row {
				row[i] = uint8(in*255 + .5)
			}
			row[0], row[len(row)-1] = uint8(in*first*255+.5), uint8(in*last*255+.5)
		}
		r.blend(image.Rect(box.Min.X, y, box.Max.X, y+1), row)
	}
}

// blend draws the colour on the pixels of a box, as far as mask, which has a byte for each of them, covers them.
func (r *raster) blend(box image.Rectangle, mask []uint8) {
	cr, cg, cb, ca := r.state.color.RGBA()
	full := [4]uint8{uint8(cr >> 8), uint8(cg >> 8), uint8(cb >> 8), uint8(ca >> 8)}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		line, to := mask[(y-box.Min.Y)*box.Dx():][:box.Dx()], r.pixels.Pix[r.pixels.PixOffset(box.Min.X, y):][:4*box.Dx()]
		for i := 0; i < len(line); i++ {
			switch m := uint32(line[i]); {
			case m == 0:
				for i+8 < len(line) && binary.LittleEndian.Uint64(line[i+1:]) == 0 { // most of the box of a line is empty
					i += 8
				}
			case m == 255 && ca == 0xffff:
				copy(to[4*i:][:4], full[:])
			default:
				m *= 0x101
				rest := 0xffff - ca*m/0xffff
				p := to[4*i:][:4]
				for k, c := range [4]uint32{cr, cg, cb, ca} {
					p[k] = uint8((uint32(p[k])*0x101*rest/0xffff + c*m/0xffff) >> 8)
				}
			}
		}
	}
}

// flat returns the lines of a path in pixels, with short segments in place of curves.
func (r *raster) flat(path vg.Path) (lines [][]pixel) {
	var line []pixel
	var start, pen vg.Point
	add := func(p vg.Point) {
		pen = p
		if q := r.at(p); len(line) == 0 || q != line[len(line)-1] {
			line = append(line, q)
		}
	}
	flush := func() {
		if len(line) > 1 {
			lines = append(lines, line)
		}
		line = nil
	}
	for _, c := range path {
		switch c.Type {
		case vg.MoveComp:
			flush()
			start = c.Pos
			add(start)
		case vg.LineComp:
			add(c.Pos)
		case vg.CloseComp:
			add(start)
		case vg.ArcComp:
			steps := int(math.Abs(c.Angle)*math.Sqrt(max(float64(c.Radius)*r.scale, 1))) + 4
			for i := range steps + 1 {
				sin, cos := math.Sincos(c.Start + c.Angle*float64(i)/float64(steps))
				add(c.Pos.Add(vg.Point{X: c.Radius * vg.Length(cos), Y: c.Radius * vg.Length(sin)}))
			}
		case vg.CurveComp:
			const steps = 24
			bend := append(append([]vg.Point{pen}, c.Control...), c.Pos)
			for i := range steps {
				add(bezier(bend, vg.Length(i+1)/steps))
			}
		}
	}
	flush()
	return lines
}

// bezier returns the point at t from 0 to 1 of a Bézier curve, by de Casteljau's algorithm.
func bezier(points []vg.Point, t vg.Length) vg.Point {
	if len(points) == 1 {
		return points[0]
	}
	next := make([]vg.Point, len(points)-1)
	for i := range next {
		next[i] = vg.Point{X: points[i].X*(1-t) + points[i+1].X*t, Y: points[i].Y*(1-t) + points[i+1].Y*t}
	}
	return bezier(next, t)
}

// dashed cuts lines by the dash pattern.
func (r *raster) dashed(lines [][]pixel) (dashes [][]pixel) {
	var pattern []float64
	whole := 0.
	for _, d := range r.state.dashes {
		pattern = append(pattern, float64(d)*r.scale)
		whole += float64(d) * r.scale
	}
	if len(pattern)%2 == 1 {
		pattern, whole = append(pattern, pattern...), 2*whole
	}
	if !(whole > 0) {
		return lines
	}
	for _, line := range lines {
		k, left := 0, math.Mod(float64(r.state.offset)*r.scale, whole) // the dash and its length before the start
		for left >= pattern[k] {
			left, k = left-pattern[k], (k+1)%len(pattern)
		}
		left = pattern[k] - left // its length from here on
		dash := []pixel{line[0]}
		for i, to := range line[1:] {
			from := line[i]
			dx, dy, length := from.to(to)
			done := 0.
			for length-done > left {
				done += left
				p := pixel{from.x + dx*done/length, from.y + dy*done/length}
				if k%2 == 0 {
					dashes = append(dashes, append(dash, p))
				}
				k = (k + 1) % len(pattern)
				left, dash = pattern[k], []pixel{p}
			}
			left -= length - done
			dash = append(dash, to)
		}
		if k%2 == 0 {
			dashes = append(dashes, dash)
		}
	}
	return dashes
}

// stroke appends the polygons of a line of a width: a rectangle for each segment, and a wedge on the outer side of
// each bend. All have the same orientation, so that they add up.
func stroke(parts [][]pixel, line []pixel, half float64) [][]pixel {
	const near = 1. / 16 // shorter segments have no direction
	var before pixel     // direction of the segment before
	from := line[0]
	for i, to := range line[1:] {
		dx, dy, length := from.to(to)
		if length < near && (i > 0 || len(line) > 2) || length == 0 {
			continue
		}
		u := pixel{dx / length, dy / length}
		n := pixel{-u.y * half, u.x * half}
		if turn := math.Atan2(before.x*u.y-before.y*u.x, before.x*u.x+before.y*u.y); before != (pixel{}) && math.Abs(turn) > .01 {
			side := 1.
			if turn > 0 {
				side = -1
			}
			steps := 1 + int(math.Abs(turn)*math.Sqrt(half))
			wedge := []pixel{from}
			for k := range steps + 1 {
				share := float64(k) / float64(steps)
				if turn > 0 {
					share = 1 - share
				}
				sin, cos := math.Sincos(turn * share)
				x, y := -before.y*half*side, before.x*half*side
				wedge = append(wedge, pixel{from.x + x*cos - y*sin, from.y + x*sin + y*cos})
			}
			parts = append(parts, wedge)
		}
		parts = append(parts, []pixel{{from.x + n.x, from.y + n.y}, {to.x + n.x, to.y + n.y}, {to.x - n.x, to.y - n.y}, {from.x - n.x, from.y - n.y}})
		before, from = u, to
	}
	return parts
}

// FillString writes upright text.
func (r *raster) FillString(f font.Face, at vg.Point, text string) {
	size := f.Font.Size
	if size == 0 {
		return
	}
	face := r.faces[size]
	if face == nil {
		face = f.FontFace(72 * r.scale)
		r.faces[size] = face
	}
	p := r.at(at)
	if m := r.state.matrix; m[3] != 0 {
		r.fillTurned(face, p, text)
		return
	}
	d := xfont.Drawer{Dst: r.pixels, Src: image.NewUniform(r.state.color), Face: face, Dot: fixed.Point26_6{X: fixed.Int26_6(p.x * 64), Y: fixed.Int26_6(p.y * 64)}}
	d.DrawString(text)
}

// DrawImage draws an upright image, scaled to fit a rectangle.
// fillTurned writes a text at an angle: level on a separate picture, which is then turned.
func (r *raster) fillTurned(face xfont.Face, at pixel, text string) {
	m, size := r.state.matrix, face.Metrics()
	const edge = 2
	level := image.NewRGBA(image.Rect(0, 0, xfont.MeasureString(face, text).Ceil()+2*edge, (size.Ascent+size.Descent).Ceil()+2*edge))
	origin := pixel{edge, float64(size.Ascent.Ceil() + edge)}
	d := xfont.Drawer{Dst: level, Src: image.NewUniform(r.state.color), Face: face, Dot: fixed.Point26_6{X: fixed.Int26_6(origin.x * 64), Y: fixed.Int26_6(origin.y * 64)}}
	d.DrawString(text)
	right, down := pixel{m[0] / r.scale, m[3] / r.scale}, pixel{-m[1] / r.scale, -m[4] / r.scale} // of a pixel of the picture
	xdraw.BiLinear.Transform(r.pixels, f64.Aff3{
		right.x, down.x, at.x - right.x*origin.x - down.x*origin.y,
		right.y, down.y, at.y - right.y*origin.x - down.y*origin.y,
	}, level, level.Bounds(), xdraw.Over, nil)
}

func (r *raster) DrawImage(to vg.Rectangle, img image.Image) {
	from := img.Bounds()
	a, b := r.at(vg.Point{X: to.Min.X, Y: to.Max.Y}), r.at(vg.Point{X: to.Max.X, Y: to.Min.Y})
	sx, sy := (b.x-a.x)/float64(from.Dx()), (b.y-a.y)/float64(from.Dy())
	xdraw.ApproxBiLinear.Transform(r.pixels, f64.Aff3{sx, 0, a.x - sx*float64(from.Min.X), 0, sy, a.y - sy*float64(from.Min.Y)}, img, from, xdraw.Over, nil)
}

// png returns the pixels as a file. Rows are stored as they are: charts are of few colours, and the filters that
// image/png tries for each row take most of its time and do not make the file smaller.
func (r *raster) png() []byte {
	size := r.pixels.Rect.Size()
	var body bytes.Buffer
	z, _ := zlib.NewWriterLevel(&body, zlib.BestSpeed) // the level exists
	row := make([]byte, 1+3*size.X)                    // its first byte, 0, means that it has no filter
	for y := range size.Y {
		pixels := r.pixels.Pix[y*r.pixels.Stride:][:4*size.X]
		for x := range size.X {
			to, from := row[1+3*x:][:3], pixels[4*x:][:3]
			to[0], to[1], to[2] = from[0], from[1], from[2]
		}
		z.Write(row) // a bytes.Buffer returns no error
	}
	z.Close()
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	header = append(header, 8, 2, 0, 0, 0) // bits of a channel, channels without alpha, methods
	file := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range []struct {
		name string
		data []byte
	}{{"IHDR", header}, {"IDAT", body.Bytes()}, {"IEND", nil}} {
		file = binary.BigEndian.AppendUint32(file, uint32(len(chunk.data)))
		start := len(file)
		file = append(append(file, chunk.name...), chunk.data...)
		file = binary.BigEndian.AppendUint32(file, crc32.ChecksumIEEE(file[start:]))
	}
	return file
}
