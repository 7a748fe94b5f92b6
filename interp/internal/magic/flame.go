package magic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"halfnote/internal/text"
)

// flame is a line or function in a flame graph, with what it called.
type flame struct {
	name  string
	cell  bool // a line of a cell
	took  time.Duration
	calls []*flame
}

// child returns the call of a name, with the time added to it.
func (f *flame) child(name string, cell bool, took time.Duration) *flame {
	i := slices.IndexFunc(f.calls, func(c *flame) bool { return c.name == name })
	if i < 0 {
		i = len(f.calls)
		f.calls = append(f.calls, &flame{name: name, cell: cell})
	}
	f.calls[i].took += took
	return f.calls[i]
}

// Sizes of a flame graph in CSS pixels.
const (
	flameWidth  = 900
	flameRow    = 20
	flameLetter = 6.7 // width of a letter
	flameLeast  = 1.5 // width of the narrowest box
)

// flameSVG draws a flame graph: a row for each depth of calls, callers above, and boxes as wide as
// their share of the time. All text stands in boxes, so the picture suits light and dark pages.
func flameSVG(f *flame, title string) string {
	var boxes strings.Builder
	deepest := 0
	scale := flameWidth / float64(max(1, f.took))
	var box func(f *flame, x float64, depth int)
	box = func(f *flame, x float64, depth int) {
		width := float64(f.took) * scale
		if width < flameLeast {
			return
		}
		deepest = max(deepest, depth)
		fill := "#9ecae1" // compiled
		if f.cell || depth == 0 {
			fill = "#fdbe6f"
		}
		y := depth * flameRow
		fmt.Fprintf(&boxes, `<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="2" fill="%s"/>`, x, y, max(1, width-1), flameRow-1, fill)
		if letters := int((width - 8) / flameLetter); letters >= 3 {
			fmt.Fprintf(&boxes, `<text x="%.1f" y="%d">%s</text>`, x+4, y+14, template.HTMLEscapeString(text.Cut(f.name, letters)))
		}
		slices.SortStableFunc(f.calls, func(a, b *flame) int { return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name)) })
		for _, c := range f.calls {
			box(c, x, depth+1)
			x += float64(c.took) * scale
		}
	}
	box(f, 0, 0)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"><title>%[3]s</title>`+
		`<g font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="11" fill="#111111">%[4]s</g></svg>`,
		flameWidth, (deepest+1)*flameRow, template.HTMLEscapeString(title), boxes.String())
}
