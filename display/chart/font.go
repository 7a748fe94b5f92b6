package chart

import (
	"sort"
	"strings"
	"unicode"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// face replaces plot's default, Liberation, which lacks superscript minus, 0 and 9. Neither font
// has Hangul or Chinese: a PNG shows boxes for them, an SVG uses the browser's fonts.
var face = font.Font{Typeface: "DejaVu", Variant: "Sans"}

// glyphs are those of the embedded font.
var glyphs = func() *opentype.Font {
	f, err := opentype.Parse(dejavusans.TTF)
	if err != nil {
		panic("chart: the embedded font: " + err.Error())
	}
	return f
}()

func init() { font.DefaultCache.Add(font.Collection{{Font: face, Face: glyphs}}) }

// drawable reports whether the embedded font has all characters of a text.
func drawable(text string) bool {
	var b sfnt.Buffer
	for _, r := range text {
		if r > unicode.MaxASCII {
			if i, err := glyphs.GlyphIndex(&b, r); err != nil || i == 0 {
				return false
			}
		}
	}
	return true
}

// fit returns s, cut with an ellipsis if it is wider than width.
func fit(s text.Style, txt string, width vg.Length) string {
	if s.Width(txt) <= width {
		return txt
	}
	r := []rune(txt)
	n := sort.Search(len(r), func(n int) bool { return s.Width(string(r[:n+1])+"…") > width })
	return string(r[:n]) + "…"
}

// wrap breaks txt at spaces into lines no wider than width.
func wrap(s text.Style, txt string, width vg.Length) (lines []string) {
	line := ""
	for word, rest := "", txt; rest != ""; {
		word, rest = cutWord(rest)
		switch {
		case line == "":
			line = word
		case s.Width(line+" "+word) <= width:
			line += " " + word
		default:
			lines = append(lines, fit(s, line, width))
			line = word
		}
	}
	return append(lines, fit(s, line, width))
}

// cutWord splits txt after its first word; a percent sign stays with its number.
func cutWord(txt string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(txt), " ")
	if strings.HasPrefix(rest, "%") {
		sign, after, _ := strings.Cut(rest, " ")
		return word + " " + sign, after
	}
	return word, rest
}

// printable returns s on one line, without characters that XML forbids.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
