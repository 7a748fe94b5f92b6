package display

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

func TestHTMLText(t *testing.T) {
	for html, want := range map[string]string{
		"<b>x</b>":         "x",
		"a &lt; b &amp; c": "a < b & c",
		"1 < 2 and 3 > 2":  "1 < 2 and 3 > 2",
		"<p>a</p><p>b</p>": "a\nb",
		"<style>p{}</style>x<script>y()</script><!-- z -->":                         "x",
		"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>": "a  b\n1  2",
		`<img src="x" alt="a &gt; b" />`:                                            "a > b",
		"<scripted>x</scripted>":                                                    "x",
		"":                                                                          "",
	} {
		if got := HTML(html).String(); got != want {
			t.Errorf("%s: got %q, want %q", html, got, want)
		}
	}
}

func TestParts(t *testing.T) {
	var file, photograph bytes.Buffer
	if err := errors.Join(png.Encode(&file, image.NewGray(image.Rect(0, 0, 7, 5))), jpeg.Encode(&photograph, image.NewGray(image.Rect(0, 0, 6, 4)), nil)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, mime, want, text string
		b                      Bundle
	}{
		{"markdown", "text/markdown", "*a*", "*a*", Markdown("*a*")},
		{"bare LaTeX", "text/latex", "$$x^2$$", "x^2", LaTeX("x^2")},
		{"LaTeX", "text/latex", "$x$", "$x$", LaTeX("$x$")},
		{"png", "image/png", "iVBORw0KGgo", "PNG picture, 7 × 5", PNG(file.Bytes())},
		{"not a PNG", "text/plain", "display: PNG: 1 bytes", "display: PNG: 1 bytes: unexpected EOF", PNG([]byte("x"))},
		{"jpeg", "image/jpeg", "/9j/", "JPEG picture, 6 × 4", JPEG(photograph.Bytes())},
		{"not a JPEG", "text/plain", "display: JPEG: 1 bytes", "display: JPEG: 1 bytes: unexpected EOF", JPEG([]byte("x"))},
		{"svg", "text/html", `<figure style="margin:0"><img alt="A &amp; B" src="data:image/svg+xml;base64,`, "A & B", SVG("<svg><title> A &amp; B</title></svg>")},
		{"svg without a title", "text/html", `<figure style="margin:0">`, "SVG picture", SVG("<svg/>")},
	} {
		if got, _ := tt.b.Data[tt.mime].(string); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if got := tt.b.String(); got != tt.text {
			t.Errorf("%s: got text %q, want %q", tt.name, got, tt.text)
		}
	}
	if meta := PNG(file.Bytes()).Metadata["image/png"].(map[string]any); meta["width"] != 7 || meta["height"] != 5 {
		t.Errorf("png: metadata %v", meta)
	}
	raw, err := json.Marshal(JSON(map[string]int{"a": 1}).Data)
	if want := `{"application/json":{"a":1},"text/plain":"{\n  \"a\": 1\n}"}`; err != nil || string(raw) != want {
		t.Errorf("JSON: got %s, %v, want %s", raw, err, want)
	}
	if got := JSON(math.NaN()).String(); got != "display: JSON: json: unsupported value: NaN; value: NaN" {
		t.Errorf("JSON: got %q", got)
	}
}

func TestTable(t *testing.T) {
	b := Table([]string{"run", "time", "×"}, [][]any{
		{"float32", 1500 * time.Millisecond, 1},
		{"float16 <amp>", 620 * time.Millisecond, 2.4193548387},
		{"Σ", nil, math.Inf(1), "more"},
	})
	want := strings.TrimPrefix(`
run              time        ×
float32         1.5 s        1
float16 <amp>  620 ms  2.41935
Σ                         +Inf  more`, "\n")
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	html := b.Data["text/html"].(string)
	for _, want := range []string{`<th style="text-align:left;padding:2px 8px;white-space:nowrap">run</th>`, `<td style="text-align:right;padding:2px 8px;white-space:nowrap">2.41935</td>`, "float16 &lt;amp&gt;"} {
		if !strings.Contains(html, want) {
			t.Errorf("%s is missing in %s", want, html)
		}
	}
	for _, empty := range []Bundle{Table(nil, nil), Table([]string{"a"}, nil), Table(nil, [][]any{nil})} {
		if _, ok := empty.Data["text/html"].(string); !ok {
			t.Errorf("got %v", empty.Data)
		}
	}
}

// TestLongTable checks that a long table folds after 20 rows, with all rows in it.
func TestLongTable(t *testing.T) {
	for rows, folded := range map[int]bool{1: false, 20: false, 21: false, 22: true, 112: true} {
		var list [][]any
		for i := range rows {
			list = append(list, []any{i, strings.Repeat("word ", 20), "In[1], line 10"})
		}
		page := Table([]string{"#", "why", "line"}, list).Data["text/html"].(string)
		before, after, found := strings.Cut(page, "<details><summary>"+fmt.Sprint(rows-20)+" more rows</summary>")
		if found != folded || strings.Count(page, "<td") != 3*rows || folded && (strings.Count(before, "<td") != 60 || !strings.HasSuffix(after, "</details>")) {
			t.Errorf("%d rows: got folded %v, want %v, %s", rows, found, folded, page)
		}
		for part, want := range map[string]bool{"nowrap\">In[1], line 10": true, "nowrap\">word": false, `<div style="overflow-x:auto"><table>`: true} {
			if strings.Contains(page, part) != want {
				t.Errorf("%d rows: contains %q: want %v", rows, part, want)
			}
		}
	}
}

// TestSurvivesSanitizer checks that outputs use only what JupyterLab keeps in untrusted
// notebooks. It drops <style>, <svg>, <script> and CSS variables, and renames id.
func TestSurvivesSanitizer(t *testing.T) {
	allowed := map[string]string{
		"body": "", "figure": " style", "img": " alt src", "div": " style", "details": "", "summary": "", "span": "", "progress": " max value",
		"table": "", "thead": "", "tbody": "", "tr": "", "th": " style", "td": " style",
	}
	for name, b := range map[string]Bundle{
		"table": Table([]string{"<a>"}, [][]any{{`"b" & c`}, {1}}), "map": Of(map[string]int{"<script>": 1}), "records": Of([]point{{}}),
		"svg": SVG("<svg><title>a</title><style>b</style></svg>"), "svg method": Of(chart{}),
		"progress": (&Progress{label: "<b>", total: 3, done: 1}).bundle(),
	} {
		for d := xml.NewDecoder(strings.NewReader("<body>" + b.Data["text/html"].(string) + "</body>")); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			attrs, ok := allowed[e.Name.Local]
			for _, a := range e.Attr {
				ok = ok && strings.Contains(attrs+" ", " "+a.Name.Local+" ") && !strings.Contains(a.Value, "var(")
			}
			if !ok {
				t.Errorf("%s: <%s %v>", name, e.Name.Local, e.Attr)
			}
		}
	}
}
