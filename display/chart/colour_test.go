package chart

import (
	"image/color"
	"reflect"
	"testing"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/sfnt"
)

// TestGlyphs checks that the font has every sign that charts use.
func TestGlyphs(t *testing.T) {
	f, err := sfnt.Parse(dejavusans.TTF)
	if err != nil {
		t.Fatal(err)
	}
	signs := "⁰¹²³⁴⁵⁶⁷⁸⁹⁻−×·∞…–%"
	for v, i := reflect.ValueOf(words), 0; i < v.NumField(); i++ {
		if v.Field(i).String() == "" {
			t.Errorf("the text %s is empty", v.Type().Field(i).Name)
		}
		signs += v.Field(i).String()
	}
	for _, d := range dtypes {
		signs += d.name + d.letter
	}
	var b sfnt.Buffer
	for _, r := range signs {
		if g, err := f.GlyphIndex(&b, r); err != nil || g == 0 {
			t.Errorf("the font lacks a glyph for %c", r)
		}
	}
}

func TestContrast(t *testing.T) {
	for name, th := range themes {
		for what, c := range map[string]color.NRGBA{"text": th.Text, "neutral": th.Neutral, "promote": th.Promote, "skip": th.Skip} {
			if r := contrast(c, th.Background); r < 4.5 {
				t.Errorf("%s, %s: %.2f:1", name, what, r)
			}
		}
		for _, d := range dtypes { // applies to the letter in the box too
			if r := contrast(d.color(th), th.Background); r < 4.5 {
				t.Errorf("%s, %s: %.2f:1", name, d.name, r)
			}
		}
		for what, c := range map[string]color.NRGBA{"lost": th.Lost, "subnormal": th.Subnormal, "normal": th.Normal, "infinite": th.Infinite} {
			if r := contrast(th.Text, over(c, th.Background)); r < 4.5 {
				t.Errorf("%s, text on %s: %.2f:1", name, what, r)
			}
			if r := contrast(th.Float32, over(c, th.Background)); r < 3 { // graphics, WCAG 1.4.11
				t.Errorf("%s, bars on %s: %.2f:1", name, what, r)
			}
		}
	}
	for name, th := range themes {
		for _, s := range []span{{-1, 1}, {0, 1}, {-1, 0}} { // numbers in the cells of a matrix
			for v := s.lo; v <= s.hi; v += 1. / 64 {
				fill := s.shade(th, v)
				if r := contrast(fill, ink(fill)); r < 4.5 {
					t.Errorf("%s: %v in %v: %.2f:1", name, v, s, r)
				}
			}
		}
	}
	if r := contrast(hex(0), hex(0xffffff)); r != 21 {
		t.Errorf("black on white: %v:1", r)
	}
}

// over blends a translucent colour with a background.
func over(c, bg color.NRGBA) color.NRGBA {
	mix := func(a, b uint8) uint8 { return uint8((int(a)*int(c.A) + int(b)*(255-int(c.A))) / 255) }
	return color.NRGBA{mix(c.R, bg.R), mix(c.G, bg.G), mix(c.B, bg.B), 255}
}

// TestColours checks that dtypes of similar colour differ in letter or dashes.
func TestColours(t *testing.T) {
	for _, th := range themes {
		for i, a := range dtypes[:4] {
			for _, b := range dtypes[:i] {
				if a.letter == b.letter || a.color(th) == b.color(th) {
					t.Errorf("%s and %s look alike", a.name, b.name)
				}
			}
		}
	}
}
