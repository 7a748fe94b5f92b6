package chart

import (
	"image/color"
	"math"
)

// formatBands returns float16's ranges, from lo to hi on the y axis of an axis of exponents of two: lost, subnormal, normal,
// infinite.
func formatBands(lo, hi float64) layer {
	over := math.Log2(65520)
	bands := layer{mark: rects{top: true}, small: true}
	for _, b := range []struct {
		from, to float64
		name     string
		fill     role
	}{
		{gradLo, -25, words.bandLost, func(t Theme) color.NRGBA { return t.Lost }},
		{-25, -14, words.bandSubnormal, func(t Theme) color.NRGBA { return t.Subnormal }},
		{-14, over, words.bandNormal, func(t Theme) color.NRGBA { return t.Normal }},
		{over, gradHi + 1, words.bandInfinite, func(t Theme) color.NRGBA { return t.Infinite }},
	} {
		bands.rows = append(bands.rows, row{x: b.from, x2: b.to, y: lo, y2: hi, color: b.fill, text: b.name})
	}
	return bands
}
