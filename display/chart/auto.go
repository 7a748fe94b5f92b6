package chart

import (
	"bytes"
	"fmt"
	"html"
)

// InTheme implements display.Themed. "auto" returns a figure that holds both themes: browsers
// follow the reader's system setting, all other front ends show Light.
func (f *Figure) InTheme(name string) any {
	if f.chosen {
		return f
	}
	g := *f
	g.theme, g.auto, g.pinned = Light, name == "auto", name != "auto"
	if name == "dark" {
		g.theme = Dark
	}
	return &g
}

// both returns an SVG file with the figure in two themes. The browser selects one by
// prefers-color-scheme (CSS Media Queries Level 5); on paper it is the light one.
func (f *Figure) both() []byte {
	w, h := f.Size()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg width="%d" height="%d" viewBox="0 0 %d %d" xmlns="http://www.w3.org/2000/svg" role="img"><title>%s</title>`,
		w, h, w, h, html.EscapeString(f.String()))
	b.WriteString(`<style>.halfnote-dark{display:none}@media screen and (prefers-color-scheme:dark){.halfnote-dark{display:inline}.halfnote-light{display:none}}</style>`)
	for _, t := range []struct {
		class string
		theme Theme
	}{{"halfnote-light", Light}, {"halfnote-dark", Dark}} {
		svg := f.With(t.theme).SVG()
		svg = svg[bytes.Index(svg, []byte("<svg")):] // without the XML declaration
		fmt.Fprintf(&b, `<g class="%s">%s</g>`, t.class, svg)
	}
	b.WriteString("</svg>")
	return b.Bytes()
}
