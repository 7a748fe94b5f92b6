package chart

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"

	"gonum.org/v1/plot/vg"
)

// images are pictures from (x, y) to (x2, y2); a row without one is a pixel of its colour.
type images struct{}

func (images) traits(layer) traits {
	return traits{name: "image", extends: true, counted: true, legend: squareSwatch}
}

// of returns the picture of a row.
func (images) of(u view, r row, t Theme) image.Image {
	if r.image != nil {
		return r.image(t)
	}
	one := image.NewNRGBA(image.Rect(0, 0, 1, 1))
	one.SetNRGBA(0, 0, u.ink(r)(t))
	return one
}

func (m images) drawRows(d drawing) {
	for _, r := range d.rows {
		if !finite(r.x) || !finite(r.y) || !finite(r.x2) || !finite(r.y2) {
			continue
		}
		a, b := vg.Point{X: d.x(r.x), Y: d.y(r.y)}, vg.Point{X: d.x(r.x2), Y: d.y(r.y2)}
		d.c.DrawImage(vg.Rectangle{Min: vg.Point{X: a.X, Y: min(a.Y, b.Y)}, Max: vg.Point{X: b.X, Y: max(a.Y, b.Y)}}, m.of(d.view, r, d.theme))
	}
}

func (m images) spec(u *unit) []object {
	list := u.table("x2", "y2", "url")
	for _, i := range u.kept {
		r := u.rows[i]
		if !finite(r.x) || !finite(r.y) || !finite(r.x2) || !finite(r.y2) {
			continue
		}
		var b bytes.Buffer
		png.Encode(&b, m.of(u.view, r, Light)) // a bytes.Buffer returns no error
		u.row(list, r, r.x, r.y)
		list.number(r.x2)
		list.number(r.y2)
		list.string("data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes()))
	}
	e := u.encoding("x2", object{"field": "x2"}, "y2", object{"field": "y2"}, "url", object{"field": "url", "type": "nominal"})
	return []object{u.marks(list, object{"type": "image", "aspect": true, "align": "left", "baseline": "top"}, e)}
}
