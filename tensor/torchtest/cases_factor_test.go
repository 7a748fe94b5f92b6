package torchtest

import (
	"fmt"
	"slices"
	"strings"

	"halfnote/tensor"
)

var _ = family("factor", factors())

func factors() cases {
	c := cases{}
	dims := map[string]int{"nearest": 1, "nearest-exact": 1, "linear": 1, "area": 1, "bilinear": 2, "bicubic": 2, "bilinear antialias": 2, "bicubic antialias": 2,
		"nearest 2": 2, "nearest-exact 2": 2, "trilinear": 3, "nearest 3": 3}
	sizes := [][]int{{4}, {4, 5}, {2, 3, 4}}
	for name, n := range dims {
		mode, more, _ := strings.Cut(name, " ")
		resized := func(o tensor.InterpolateOptions, factors ...float64) func(in []T) T {
			o.ScaleFactor, o.Mode, o.Antialias = factors, mode, more == "antialias"
			return func(in []T) T { return in[0].Interpolate(o) }
		}
		for _, factor := range []float64{.45, .9, 1, 1.1, 1.24, 1.5, 2, 2.1, 2.3, 2.45, 3} {
			list := []float64{factor}
			if n > 1 {
				list = []float64{2, factor, 1.1}[:n]
				if factor > 1.5 {
					list[0] = 1
				}
			}
			if empty := func(d int) bool { return float64(sizes[n-1][d])*list[d] < 1 }; slices.ContainsFunc([]int{0, 1, 2}[:n], empty) {
				continue
			}
			c[fmt.Sprintf("interpolate %s %g", name, factor)] = resized(tensor.InterpolateOptions{}, list...)
		}
		for _, factor := range []float64{1.24, 2.3} {
			c[fmt.Sprintf("interpolate %s all %g", name, factor)] = resized(tensor.InterpolateOptions{}, factor)
			c[fmt.Sprintf("interpolate %s recomputed %g", name, factor)] = resized(tensor.InterpolateOptions{Recompute: true}, factor)
		}
	}
	return c
}
