package chart

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestBundleOfOtherScripts checks that a figure has a PNG only if the embedded font has its characters, wherever they stand, and that the SVG
// has the text in any case.
func TestBundleOfOtherScripts(t *testing.T) {
	for _, c := range []struct {
		title, label string
		png          bool
	}{
		{"Loss ≤ 2⁻¹⁴ × žluť, Ω", "step", true},
		{"손실", "step", false},
		{"Loss", "损失", false},
	} {
		b := Plot([]float64{1, 2, 3}).Title(c.title).YLabel(c.label).Picture().Bundle()
		if _, has := b.Data["image/png"]; has != c.png || (b.Metadata["image/png"] != nil) != c.png {
			t.Errorf("%s, %s: got a PNG: %t, want %t", c.title, c.label, has, c.png)
		}
		page, _ := b.Data["text/html"].(string)
		_, rest, _ := strings.Cut(page, "svg+xml;base64,")
		data, _, _ := strings.Cut(rest, `"`)
		svg, err := base64.StdEncoding.DecodeString(data)
		if err != nil || !strings.Contains(string(svg), c.title) || !strings.Contains(string(svg), c.label) {
			t.Errorf("%s, %s: the SVG lacks a text (%v)", c.title, c.label, err)
		}
	}
}
