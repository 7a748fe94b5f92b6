package display

import (
	"errors"
	"fmt"
	"image"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type (
	point    struct{ X, Y int }
	secret   struct{ x any }
	page     struct{ html string }
	rude     struct{}
	rudeText struct{}
	chart    struct{}
	own      struct{}
	mime     struct{}
	renders  struct{}
	simply   struct{}
)

func (p page) HTML() string     { return p.html }
func (p page) Markdown() string { return "*" + p.html + "*" }
func (p page) String() string   { return "page " + p.html }

func (rude) HTML() string  { panic("no page") }
func (rude) LaTeX() string { return "x" }

func (rudeText) String() string { panic("no text") }

func (chart) SVG() []byte    { return []byte("<svg/>") }
func (chart) PNG() []byte    { return []byte("no png") }
func (chart) String() string { return `it "rises"` }

func (own) Bundle() Bundle { return Bundle{Data: map[string]any{"text/html": "<b>x</b>"}} }

func (mime) MimeBundle() (data, metadata map[string]any) {
	return map[string]any{"image/png": []byte{1, 2}, "text/html": []byte("<p>")},
		map[string]any{"image/png": map[string]any{"width": 3}}
}

func (renders) Render() Data {
	return Data{Data: MIMEMap{MIMETypeLatex: "$x$"}, Metadata: MIMEMap{MIMETypeLatex: MIMEMap{"a": 1}}}
}

func (simply) SimpleRender() MIMEMap { return MIMEMap{MIMETypeJPEG: []byte{1, 2}} }

func TestOf(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["self"] = cyclic
	for _, tt := range []struct {
		name string
		v    any
		want map[string]string // expected prefix of each type's content
	}{
		{"nil", nil, map[string]string{"text/plain": "<nil>"}},
		{"nil pointer with methods", (*page)(nil), map[string]string{"text/plain": "<nil>"}},
		{"number", 1.5, map[string]string{"text/plain": "1.5"}},
		{"string", "a\nb", map[string]string{"text/plain": "a\nb"}},
		{"long string", strings.Repeat("x", maxString+5), map[string]string{"text/plain": strings.Repeat("x", maxString) + " … 5 more bytes"}},
		{"struct", point{1, 2}, map[string]string{"text/plain": "{X:1 Y:2}"}},
		{"pointer", &point{1, 2}, map[string]string{"text/plain": "&{X:1 Y:2}"}},
		{"error", errors.New("boom"), map[string]string{"text/plain": "boom"}},
		{"duration", time.Second, map[string]string{"text/plain": "1s"}},
		{"unexported", secret{time.Second}, map[string]string{"text/plain": "{x:1000000000}"}},
		{"slice", []any{1, nil, "x"}, map[string]string{"text/plain": "[1 <nil> x]"}},
		{"image", image.NewGray(image.Rect(0, 0, 3, 2)), map[string]string{"text/plain": "PNG picture, 3 × 2", "image/png": "iVBOR"}},
		{"own words", page{"p"}, map[string]string{"text/html": "p", "text/markdown": "*p*", "text/plain": "page p"}},
		{"panicking method", rude{}, map[string]string{"text/latex": "x", "text/plain": "{}\n(method HTML panicked: no page)"}},
		{"panicking String", rudeText{}, map[string]string{"text/plain": "display.rudeText (method String panicked: no text)"}},
		{"picture, not a PNG", chart{}, map[string]string{
			"text/html":  `<figure style="margin:0"><img alt="it &#34;rises&#34;" src="data:image/svg+xml;base64,PHN2Zy8+" /></figure>`,
			"text/plain": `display: PNG: 6 bytes`}},
		{"bundle method", own{}, map[string]string{"text/html": "<b>x</b>", "text/plain": "{}"}},
		{"mime bundle", mime{}, map[string]string{"text/html": "<p>", "image/png": "AQI=", "text/plain": "{}"}},
		{"method Render", renders{}, map[string]string{"text/latex": "$x$", "text/plain": "{}"}},
		{"method SimpleRender", simply{}, map[string]string{"image/jpeg": "AQI=", "text/plain": "{}"}},
		{"bundle", HTML("<b>x</b>"), map[string]string{"text/html": "<b>x</b>", "text/plain": "x"}},
		{"empty bundle", Bundle{}, map[string]string{"text/plain": ""}},
		{"records", []point{{1, 2}, {3, 4}}, map[string]string{
			"text/plain": "[{X:1 Y:2} {X:3 Y:4}]",
			"text/html":  `<div style="overflow-x:auto"><table><thead><tr><th style="text-align:right;padding:2px 8px;white-space:nowrap"></th><th style="text-align:right;padding:2px 8px;white-space:nowrap">X</th>`}},
		{"records by pointer", []*point{{1, 2}, nil}, map[string]string{"text/plain": "[0x", "text/html": `<div style="overflow-x:auto"><table>`}},
		{"map", map[float64]string{10: "b", 9: "a", math.NaN(): "<c>"}, map[string]string{
			"text/plain": "map[NaN:<c> 9:a 10:b]",
			"text/html":  `<div style="overflow-x:auto"><table><thead><tr><th style="text-align:right;padding:2px 8px;white-space:nowrap">key</th>`}},
		{"map of structs", map[string]*point{"b": {3, 4}, "a": nil}, map[string]string{
			"text/plain": "map[a:<nil> b:0x",
			"text/html":  `<div style="overflow-x:auto"><table><thead><tr><th style="text-align:left;padding:2px 8px;white-space:nowrap">key</th><th style="text-align:right;padding:2px 8px;white-space:nowrap">X</th>`}},
		{"cyclic map", cyclic, map[string]string{"text/plain": "map[self:map[self:", "text/html": `<div style="overflow-x:auto"><table>`}},
		{"no records", []page{{"p"}}, map[string]string{"text/plain": "[page p]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Of(tt.v)
			if have, want := slices.Sorted(maps.Keys(got.Data)), slices.Sorted(maps.Keys(tt.want)); !slices.Equal(have, want) {
				t.Errorf("got types %v, want %v", have, want)
			}
			for mime, want := range tt.want {
				if s, ok := got.Data[mime].(string); !ok || !strings.HasPrefix(s, want) || want == "" && s != "" {
					t.Errorf("%s: got %q, want %q", mime, got.Data[mime], want)
				}
			}
		})
	}
}

// TestPlainIsFmt checks that text within the limits equals that of %+v.
func TestPlainIsFmt(t *testing.T) {
	x := 1
	for _, v := range []any{
		true, -3, uint8(4), 1e21, float32(.1), 1 + 2i, "s", []byte("ab"), [2]string{"a", "b"}, []int(nil), map[string]int(nil),
		map[string]int{"b": 1, "a": 2}, map[int]point{2: {}, -1: {}}, &[]int{1}, &map[string]int{"a": 1}, struct {
			A *int
			B any
			c []string
			D time.Duration
			E error
		}{&x, nil, []string{"u"}, time.Second, errors.New("e")}, make(chan int), reflect.TypeFor[int](),
	} {
		if got, want := plain(v), fmt.Sprintf("%+v", v); got != want {
			t.Errorf("%T: got %q, want %q", v, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	long := make([]int, 5000)
	if s := plain(long); !strings.HasSuffix(s, "0 … 4000 more]") {
		t.Errorf("long slice: got a text that ends with %q, want the number of omitted elements", s[len(s)-20:])
	}
	wide := make([]string, 500)
	for i := range wide {
		wide[i] = strings.Repeat("x", 1000)
	}
	if n := len(plain(wide)); n > 2*maxText {
		t.Errorf("wide slice: got %d bytes of text, want at most %d", n, 2*maxText)
	}
	many := make([]point, 200)
	html := Of(many).Data["text/html"].(string)
	if n := strings.Count(html, "<tr>"); n != maxRecords+3 || // with a line of omitted rows, and a header before and after the fold
		!strings.Contains(html, "… 150 more") {
		t.Errorf("long table: got %d rows, want %d and the number of omitted rows", n, maxRecords+3)
	}
}

// TestOfCopies checks that later changes do not affect earlier output.
func TestOfCopies(t *testing.T) {
	b := Text("a")
	got := Of(b)
	b.Data["text/plain"] = "b"
	if got.String() != "a" {
		t.Errorf("got %q", got)
	}
}
