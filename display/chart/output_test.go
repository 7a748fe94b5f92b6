package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/display"
)

func TestBundle(t *testing.T) {
	for _, s := range someSamples(t, 4) {
		b := display.Of(s.fig)
		w, h := s.fig.Size()
		meta := b.Metadata["image/png"].(map[string]any)
		if meta["width"] != w || meta["height"] != h || meta["alt"] != s.fig.Alt() {
			t.Errorf("%s: got metadata %v", s.name, meta)
		}
		raw, err := base64.StdEncoding.DecodeString(b.Data["image/png"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(t, raw).Bounds(); got.Dx() != 2*w || got.Dy() != 2*h {
			t.Errorf("%s: got a PNG with bounds %v, want %d × %d", s.name, got, w, h)
		}
		if text := b.String(); !strings.HasPrefix(text, s.fig.String()) {
			t.Errorf("%s: got the text %q", s.name, text)
		}
		if rows, err := csv.NewReader(strings.NewReader(s.fig.Data())).ReadAll(); s.fig.head != nil && (err != nil || len(rows) < 2) {
			t.Errorf("%s: got a CSV with %d rows and error %v", s.name, len(rows), err)
		}
	}
	if got, want := LossScale([]ScaleStep{{Scale: 2, Skipped: true, Why: "a, b", After: 1}}).Data(), "step,scale,after,✗ skipped,why\n0,2,1,true,\"a, b\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSurvivesSanitizer checks that charts use only HTML that JupyterLab keeps in untrusted notebooks:
// JupyterLab drops <style>, <svg>, <script> and CSS variables, and renames id.
func TestSurvivesSanitizer(t *testing.T) {
	allowed := map[string][]string{
		"body": nil, "figure": {"style"}, "div": {"style"}, "img": {"alt", "width", "src"}, "details": nil, "summary": nil,
		"table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"style"}, "td": {"style"},
	}
	style := regexp.MustCompile(`^(margin:0|overflow-x:auto|text-align:(left|right);padding:2px 8px(;white-space:nowrap)?(;min-width:\d+ch)?)$`)
	for _, s := range samples() {
		for d := xml.NewDecoder(strings.NewReader("<body>" + s.fig.HTML() + "</body>")); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			attrs, ok := allowed[e.Name.Local]
			if !ok {
				t.Errorf("%s: <%s>", s.name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if !slices.Contains(attrs, a.Name.Local) || a.Name.Local == "style" && !style.MatchString(a.Value) {
					t.Errorf("%s: <%s %s=%q>", s.name, e.Name.Local, a.Name.Local, a.Value)
				}
				if a.Name.Local == "alt" && a.Value != s.fig.Alt() {
					t.Errorf("%s: alt %q", s.name, a.Value)
				}
			}
		}
	}
}

// word is a <text> element of an SVG and its position.
type word struct {
	x0, y0, x1, y1 float64
	text           string
	angle          float64    // of the text, in degrees
	level          [4]float64 // position before it is turned
}

// turned returns a word that is turned by an angle around the lower left corner of a picture of a height.
func turned(w word, angle, height float64) word {
	w.angle, w.level = angle, [4]float64{w.x0, w.y0, w.x1, w.y1}
	if angle == 0 {
		return w
	}
	sin, cos := math.Sincos(angle * math.Pi / 180)
	out := word{x0: math.Inf(1), y0: math.Inf(1), x1: math.Inf(-1), y1: math.Inf(-1), text: w.text, angle: angle, level: w.level}
	for _, x := range []float64{w.x0, w.x1} {
		for _, y := range []float64{height - w.y0, height - w.y1} {
			h, v := x*cos-y*sin, height-(x*sin+y*cos)
			out.x0, out.x1, out.y0, out.y1 = min(out.x0, h), max(out.x1, h), min(out.y0, v), max(out.y1, v)
		}
	}
	return out
}

// readSVG checks the structure of an SVG and returns its words and size.
func readSVG(t *testing.T, name string, svg []byte) (words []word, w, h float64) {
	t.Helper()
	if n := strings.Count(string(svg), "font-family:DejaVu Sans,Verdana,sans-serif"); n != strings.Count(string(svg), "<text") {
		t.Errorf("%s: got %d fonts with a fallback for %d texts", name, n, strings.Count(string(svg), "<text"))
	}
	title := ""
	angle := []float64{0} // of the open groups
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.EndElement); ok && e.Name.Local == "g" {
			angle = angle[:len(angle)-1]
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		number := func(s string) float64 {
			v, err := strconv.ParseFloat(strings.TrimSuffix(s, "px"), 64)
			if err != nil || !finite(v) {
				t.Fatalf("%s: <%s> with %q", name, e.Name.Local, s)
			}
			return v
		}
		switch e.Name.Local {
		case "svg":
			w, h = number(attr["width"]), number(attr["height"])
			if attr["viewBox"] != fmt.Sprintf("0 0 %v %v", w, h) || attr["role"] != "img" {
				t.Errorf("%s: %v", name, attr)
			}
		case "g":
			by := 0.
			if turn, ok := strings.CutPrefix(attr["transform"], "rotate("); ok {
				by = number(strings.TrimSuffix(turn, ")"))
			}
			angle = append(angle, angle[len(angle)-1]+by)
		case "title":
			if err := d.DecodeElement(&title, &e); err != nil {
				t.Fatal(err)
			}
		case "path":
			if strings.Contains(attr["d"], "NaN") || strings.Contains(attr["d"], "Inf") {
				t.Errorf("%s: path %s", name, attr["d"])
			}
		case "text":
			var s string
			if err := d.DecodeElement(&s, &e); err != nil {
				t.Fatal(err)
			}
			_, size, _ := strings.Cut(attr["style"], "font-size:")
			size, _, _ = strings.Cut(size, ";")
			px := number(size)
			x, y := number(attr["x"]), number(attr["y"])+h // the group flips the y axis
			width := float64(Light.style(10, Light.Text).Width(s)) * px / 10
			words = append(words, turned(word{x0: x, y0: y - .75*px, x1: x + width, y1: y, text: s}, angle[len(angle)-1], h))
		}
	}
	if title == "" {
		t.Errorf("%s: <title> is missing", name)
	}
	return words, w, h
}

// TestLayout checks that every text is inside the picture and does not overlap other texts.
func TestLayout(t *testing.T) {
	for theme, th := range themes {
		for _, s := range samples() {
			checkTexts(t, s.name+", "+theme, s.fig.With(th))
		}
	}
}

func checkTexts(t *testing.T, name string, f *Figure) {
	t.Helper()
	texts, w, h := readSVG(t, name, f.SVG())
	for i, a := range texts {
		if a.x0 < 0 || a.x1 > w || a.y0 < 0 || a.y1 > h {
			t.Errorf("%s: %q at %.0f,%.0f to %.0f,%.0f is not inside %v × %v", name, a.text, a.x0, a.y0, a.x1, a.y1, w, h)
		}
		for _, b := range texts[:i] {
			if a.angle != b.angle && math.Mod(a.angle+b.angle, 90) != 0 {
				continue
			}
			if a.angle == b.angle {
				a.x0, a.y0, a.x1, a.y1 = a.level[0], a.level[1], a.level[2], a.level[3]
				b.x0, b.y0, b.x1, b.y1 = b.level[0], b.level[1], b.level[2], b.level[3]
			}
			if min(a.x1, b.x1)-max(a.x0, b.x0) > 1 && min(a.y1, b.y1)-max(a.y0, b.y0) > 1 {
				t.Errorf("%s: %q and %q overlap", name, a.text, b.text)
			}
		}
	}
}

// TestBothThemes checks that the SVG file of a figure in both themes contains the same drawings as the
// figures in each theme.
func TestBothThemes(t *testing.T) {
	for _, s := range someSamples(t, 8) {
		both := s.fig.InTheme("auto").(*Figure)
		svg := string(both.SVG())
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
		}
		for class, theme := range map[string]Theme{"halfnote-light": Light, "halfnote-dark": Dark} {
			alone := string(s.fig.With(theme).SVG())
			alone = alone[strings.Index(alone, "<svg"):]
			if !strings.Contains(svg, `<g class="`+class+`">`+alone+"</g>") {
				t.Errorf("%s: the figure in %s is missing", s.name, class)
			}
		}
		if !bytes.Equal(both.PNG(), s.fig.With(Light).PNG()) {
			t.Errorf("%s: the PNG is not in the light theme", s.name)
		}
		if chosen := s.fig.With(Dark); chosen.InTheme("light") != any(chosen) {
			t.Errorf("%s: the figure does not have the chosen theme", s.name)
		}
	}
}
